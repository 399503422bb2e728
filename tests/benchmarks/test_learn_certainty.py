"""Probes: what is marked in them is what is learned from and scored, and an answer is worth what the README says."""

from __future__ import annotations

import pytest

from benchmarks.learn_certainty import GOLD, answer, unmarked
from ehr.certainty import ASSERTIONS
from ground.storage.tables import read_table

VALUES = {*map(str, ASSERTIONS), "none"}


def test_marks_become_mentions_of_the_text_without_them() -> None:
    text, mentions = unmarked(r"No [[DM|absent|present]], [ ] [[CVA|none,absent|present,historical]]\nHTN")
    assert text == "No DM, [ ] CVA\nHTN"
    assert [text[mention["start"] : mention["end"]] for mention in mentions] == ["DM", "CVA"]
    assert [mention["right"] for mention in mentions] == [["absent"], ["none", "absent"]]
    assert mentions[1]["never"] == ["present", "historical"]


@pytest.mark.parametrize("name", ["probes", "probes_kept"])
def test_every_mark_of_the_probes_is_read(name: str) -> None:
    rows = read_table(GOLD / f"{name}.tsv", ("writer", "kind", "text"))
    assert len(rows) > 300
    for row in rows:
        text, mentions = unmarked(row["text"])
        assert mentions and len(mentions) == row["text"].count("[["), row["text"]
        assert "[[" not in text and "]]" not in text, text
        for mention in mentions:
            assert VALUES.issuperset(mention["right"]), row["text"]
            assert VALUES.issuperset({*mention["never"]} - {"", "given"}), row["text"]


@pytest.mark.parametrize(
    ("mention", "right", "worth"),
    [
        (None, ["none"], "right"),
        (None, ["present"], "not read"),
        (("present", True), ["present"], "right"),
        (("absent", False), ["present"], "silent"),
        (("absent", True), ["present"], "serious"),
        (("historical", True), ["present"], "wrong"),
        (("present", True), ["none"], "serious"),
    ],
)
def test_an_answer_is_worth_what_a_reader_would_lose(
    mention: tuple[str, bool] | None, right: list[str], worth: str
) -> None:
    assert answer(mention, {"right": right, "never": ["absent"]}) == worth
