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
from ehr.matching import build_trie, tokenise
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


@pytest.fixture
def reader(warehouse: duckdb.DuckDBPyConnection) -> TextReader:
    fill(warehouse)
    return TextReader.open(warehouse, NoteSettings(fuzzy=True))


def read(reader: TextReader, texts: list[str], together: int) -> list[list[dict[str, Any]]]:
    """Return the rows of clear and of unclear mentions, so many notes at a time."""
    ids = [f"{number}-DS-1" for number in range(len(texts))]
    held = pa.table({"note_id": ids, "hadm_id": list(range(len(texts))), "text": texts})
    shard = (held, *notes._section_shard(NO_RULES, held).rows)
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


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("non-asthmatic, pre-asthmatic", []),
        ("non-asthmatic bronchitis", ["bronchitis"]),
        ("steroid-sparing; steroid-naive", []),
        ("hepatitis B-immune", []),
        ("hepatitis B-positive; asthma-free", ["hepatitis B", "asthma"]),
        ("asthma-bronchitis", ["asthma", "bronchitis"]),
        ("Asthma-Mild", ["Asthma"]),
        ("5-steroid", ["steroid"]),
        ("at the asthma clinic, an asthma educator", []),
        ("asthma\nClinic: Monday", ["asthma"]),
        ("steroid level", []),
        ("hepatitis B vaccine", []),
        ("steroid shot", ["steroid"]),
    ],
)
def test_a_name_in_a_compound_or_before_a_head_is_a_part_of_something_else(text: str, names: list[str]) -> None:
    known = ["asthmatic", "asthma", "bronchitis", "hepatitis B", "typhoid", "steroid"]
    trie, entry = build_trie([known], np.zeros(len(known), dtype=np.uint8))
    is_drug = np.arange(len(known)) == entry[-1]
    tokens = tokenise(codes_of(text))
    matches = trie.find(tokens)
    part = mentions._in_compounds(tokens, matches, is_drug[trie.entry[matches.node]])
    outside = zip(matches.first[~part], matches.last[~part], strict=True)
    assert [text[tokens.begin[a] : tokens.end[b]] for a, b in outside] == names
