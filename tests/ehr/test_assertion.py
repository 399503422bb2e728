"""Assertion of mentions: a table of cases for each category, scopes, lists, sections, and the gold notes."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehr import context_rules
from ehr.assertion import assert_arrays
from ehr.certainty import ASSERTIONS
from ehr.characters import codes_of
from ehr.context_rules import load_rules
from ehr.sections import split_sections
from ehr.segments import segment_arrays
from ehr.spans import KINDS, Assertion, Kind, Section
from ground.errors import InputError
from ground.storage.tables import Row, read_table

COURSE = "brief_hospital_course"
LETTERS: dict[str, Kind] = {"D": "disorder", "F": "finding", "M": "drug", "P": "procedure"}
MARK = re.compile(r"\{([DFMP]):([^}]*)\}")

# What was given is known from lists and orders (sql/ehr/given.sql), not from words.
BY_WORDS = frozenset(Assertion) - {Assertion.GIVEN}
CASES = read_table(Path(__file__).parents[1] / "data" / "assertion_cases.tsv", ("section", "text", "expected"))


class Span(NamedTuple):
    """A stretch of a text that is a mention."""

    begin: int
    end: int
    kind: Kind


def asserted(text: str, sections: Sequence[Section], spans: Sequence[Span]) -> list[Assertion]:
    """Return what a note of some sections asserts of each span."""
    codes = codes_of(text)
    places = np.array([(span.begin, span.end, KINDS.index(span.kind)) for span in spans], dtype=np.int32)
    found, _ = assert_arrays(
        codes,
        [section.begin for section in sections],
        [section.section for section in sections],
        [bool(section.header) for section in sections],
        segment_arrays(codes, sections),
        *places.reshape(-1, 3).T,
    )
    return [ASSERTIONS[number] for number in found.tolist()]


def read(section: str, marked: str) -> list[str]:
    """What is asserted of the marked mentions of a one-section note."""
    text, spans = "", []
    position = 0
    for match in MARK.finditer(marked):
        text += marked[position : match.start()]
        spans.append(Span(len(text), len(text) + len(match[2]), LETTERS[match[1]]))
        text += match[2]
        position = match.end()
    text += marked[position:]
    sections = [Section(section, "", 0, len(text))]
    return [a.value for a in asserted(text, sections, spans)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:60])
def test_written_cases(case: dict[str, str]) -> None:
    assert read(case["section"], case["text"].replace("\\n", "\n")) == case["expected"].split()


def test_the_cases_cover_every_assertion() -> None:
    seen = {assertion for case in CASES for assertion in case["expected"].split()}
    assert seen == {assertion.value for assertion in BY_WORDS}


def test_every_assertion_has_a_rule() -> None:
    assert {rule.assertion for rules in load_rules().values() for rule in rules if rule.assertion} == BY_WORDS


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("category", "denied"),
        ("kinds", "allergen"),
        ("scope", "page"),
        ("rank", "high"),
        ("sections", "!allergies,page"),
        ("direction", "up"),
        ("trigger", " "),
    ],
)
def test_a_damaged_rule_is_named(column: str, value: str) -> None:
    row = {"trigger": "no", "category": "absent", "direction": "forward", "scope": "list", "rank": "5"}
    row |= {"kinds": "*", "sections": "*", "source": "", column: value}
    with pytest.raises(InputError, match="rule") as error:
        context_rules._rule(Row(row, Path("rules.tsv"), 7), 0, frozenset({"drug"}), frozenset({"allergies"}))
    assert (error.value.file, error.value.line) == ("rules.tsv", 7)


def test_a_trigger_stands_for_each_choice() -> None:
    assert list(context_rules._phrases("(was|were|) held")) == ["was held", "were held", "held"]
    assert list(context_rules._phrases("( - )")) == ["( - )"]


def test_rules_name_sections_that_the_splitter_knows() -> None:
    rules = [rule for rules in load_rules().values() for rule in rules]
    rows = (Path(context_rules.__file__).parent / "data" / "sections.tsv").read_text(encoding="utf-8").splitlines()
    known = {cell for row in rows for cell in row.split("\t")}
    assert {section for rule in rules for section in rule.sections} <= known


def test_order_of_spans_does_not_matter() -> None:
    text = "No fever, cough. Metformin was held."
    sections = [Section(COURSE, "", 0, len(text))]
    spans = [Span(3, 8, "finding"), Span(10, 15, "finding"), Span(17, 26, "drug")]
    forward = asserted(text, sections, spans)
    assert asserted(text, sections, spans[::-1]) == forward[::-1]


def test_letters_that_grow_in_lower_case_move_no_offset() -> None:
    text = "İİİİİİİİ no fever. Now İ cough."
    sections = [Section(COURSE, "", 0, len(text))]
    begin, cough = text.index("fever"), text.index("cough")
    spans = [Span(begin, begin + 5, "finding"), Span(cough, cough + 5, "finding")]
    found = asserted(text, sections, spans)
    assert found == [Assertion.ABSENT, Assertion.PRESENT]


@given(st.text(alphabet="no fever,.;:()\n-held?", max_size=80), st.data())
def test_any_span_of_any_text_gets_an_assertion(text: str, data: st.DataObject) -> None:
    size = len(text)
    sections = [Section(COURSE, "", 0, size)] if data.draw(st.booleans()) else []
    pairs = data.draw(st.lists(st.tuples(st.integers(0, size), st.integers(0, size)), max_size=5))
    spans = [Span(min(pair), max(pair), "drug") for pair in pairs]
    found = asserted(text, sections, spans)
    assert len(found) == len(spans)


@pytest.mark.real
def test_accuracy_on_the_written_notes(real_data: Path) -> None:
    """Over the gold spans of 40 notes; "present" everywhere gets 0.72. Absent and family count as one (README)."""
    folder = real_data / "mimic_iv_demo"
    csv.field_size_limit(10**9)
    with gzip.open(folder / "note/discharge.csv.gz", "rt", newline="", encoding="utf-8") as file:
        notes = {row["note_id"]: row["text"] for row in csv.DictReader(file)}
    right = total = 0
    with gzip.open(folder / "note_gold.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            gold = json.loads(line)
            text, mentions = notes[gold["note_id"]], gold["mentions"]
            sections = split_sections(text)
            spans = [Span(m["start"], m["end"], m["type"]) for m in mentions]
            found = asserted(text, sections, spans)
            for mention, assertion in zip(mentions, found, strict=True):
                pair = {assertion.value, mention["assertion"]}
                right += len(pair) == 1 or pair == {"absent", "family"}
                total += 1
    assert total > 5000
    assert right / total >= 0.96
