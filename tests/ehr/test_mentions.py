"""Notes that are read together: each is read as it is alone, whatever stands at its ends."""

from __future__ import annotations

from itertools import chain
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ehr import mentions, notes
from ehr.characters import codes_of
from ehr.matching import may_be_tested
from ehr.reading import TextReader
from ground.settings import NoteSettings
from ground.storage.own_rules import NO_RULES
from tests.ehr.test_lexicon import fill

# What a note may end or begin with in the middle of: names, headers, lists, parentheses, definitions, scopes.
PIECES = (
    "aortic", "valve stenosis", "valve stenosis (AS)", "AS", "pneumnia", "COPD'", "chronic obstructive",
    "pulmonary disease", "metoprolol", "XL", "No", "but", "mother", "(", ")", ",", ".", ":", "\n", "\n\n",
    "# Pneumonia:", "Allergies:\n", "Brief Hospital Course:\n", "PHYSICAL EXAM:\n", "\U0001f600", "’s",
)  # fmt: skip
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join), min_size=2, max_size=7)
# What results of cultures are written with, some of it as words that are none.
SIGNS = (
    "sensitive to", "Resistant:", "susceptible to", "intermediate", "R to", "S:", "I =", "R-", "S", "I", "R", "<=4",
    "> 32", "8/2", "1.5", "a culture", "pip/tazo", "and", ", and", " or ", "/", ",", ";", ":", "-", "=", "(", ")", ".",
    "\n", " ", "to", "MRSI", "y" * 70,
)  # fmt: skip
PARTS = st.lists(st.sampled_from(SIGNS), max_size=6)


@pytest.fixture
def reader(warehouse: duckdb.DuckDBPyConnection) -> TextReader:
    fill(warehouse)
    return TextReader.open(warehouse, NoteSettings(fuzzy=True))


def read(reader: TextReader, texts: list[str], together: int) -> list[list[dict[str, Any]]]:
    """Return the rows of clear and of unclear mentions, so many notes at a time."""
    ids = [f"{number}-DS-1" for number in range(len(texts))]
    held = pa.table({"note_id": ids, "hadm_id": list(range(len(texts))), "text": texts})
    shard = notes._MentionShard(held, *notes._section_shard(NO_RULES, held).rows)
    with patch.object(notes, "_READ_TOGETHER", together):
        return [table.to_pylist() for table in notes._mention_shard(reader, shard).rows]


@example(
    texts=["aortic", "valve stenosis (AS)", "AS, metoprolol XL", "chronic obstructive'", "pulmonary disease", "",
           "He denies any of:", "COPD", "metoprolol XL"],
    some=4,
)  # fmt: skip
@example(texts=["# Pneumonia:", "No"], some=2)
@example(texts=["Asthma: No", "Pneumonia: Yes"], some=2)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(texts=TEXTS, some=st.integers(2, 6))
def test_notes_that_are_read_together_are_read_as_each_alone(reader: TextReader, texts: list[str], some: int) -> None:
    alone = read(reader, texts, 1)
    assert read(reader, texts, 64) == alone
    assert read(reader, texts, some) == alone
    for row in chain(*alone):
        assert texts[row["hadm_id"]][row["begin_offset"] : row["end_offset"]] == row["text"]


@example(before=["sensitive to", "pip/tazo", "and"], after=[], joint=" ")
@example(before=["y" * 70, "S:"], after=[], joint=" ")
@example(before=[], after=["<=4", "S"], joint=" ")
@settings(deadline=None)
@given(before=PARTS, after=PARTS, joint=st.sampled_from(["", " "]))
def test_the_kernel_passes_by_no_drug_that_a_culture_was_tested_against(
    before: list[str], after: list[str], joint: str
) -> None:
    head = joint.join([*before, ""])
    text = head + "cefepime" + joint.join(["", *after])
    begin, end = (np.array([place], np.int32) for place in (len(head), len(head) + len("cefepime")))
    may = bool(may_be_tested(codes_of(text), begin, end, mentions._NEAR)[0])
    assert may or not mentions._is_tested(text, len(head), len(head) + len("cefepime"))
    assert not may_be_tested(codes_of("on cefepime at home"), np.array([3], np.int32), np.array([11], np.int32), 80)[0]
