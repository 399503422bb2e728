"""Whether a text has one of many expressions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.texts.any_of import any_of
from ground import ROOT
from ground.storage.tables import read_table

SLIPS = [row["pattern"] for row in read_table(ROOT / "builders" / "data" / "slips.tsv", ("kind", "pattern", "source"))]
QUESTIONS = [
    row["pattern"]
    for row in read_table(ROOT / "builders" / "data" / "question_patterns.tsv", ("name", "pattern", "source"))
    if row["name"] in {"needs_image", "still_asks", "not_exclusive", "verdict", "two_questions", "of_a_case"}
]
WORDS = sorted({word for one in SLIPS + QUESTIONS for word in re.findall(r"[A-Za-z]{2,}", one)})
MARKS = ["a", "i", "I", "The", "(", ")", "[", "]", ",", ".", "..", "%", "=", "<", ">", "5", "5%", "-x"]
TEXTS = st.lists(st.sampled_from(WORDS) | st.sampled_from(MARKS), max_size=9)


@pytest.mark.parametrize("expressions", [SLIPS, QUESTIONS])
@given(words=TEXTS, big=st.integers(0, 8), between=st.sampled_from([" ", "", ", "]))
def test_many_expressions_are_found_where_one_of_them_is(
    expressions: list[str], words: list[str], big: int, between: str
) -> None:
    text = between.join(word.upper() if place == big else word for place, word in enumerate(words))
    expected = any(re.search(one, text, re.IGNORECASE) for one in expressions)
    assert any_of(expressions)(text) == expected
