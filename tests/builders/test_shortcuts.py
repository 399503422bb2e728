"""What a row's text alone tells: words that give a label away are found, and what says nothing is held."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import pytest

from builders.texts import shortcuts
from builders.texts.shortcuts import LabelledText, shortcut_table, shortcuts_of

NAMES = ("gout", "asthma", "anemia", "migraine", "eczema", "sepsis", "angina")


def told(n: int, wrong_word: str = "") -> Iterator[LabelledText]:
    for place in range(n):
        name, other = NAMES[place % 7], NAMES[place * place % 7]
        yield LabelledText("notes", f"document {place}", f"The patient has {name}.", False)
        yield LabelledText("notes", f"document {place}", f"The patient {wrong_word}has {other}.", True)


def test_a_word_that_only_wrong_rows_have_is_told() -> None:
    found = {one.reader: one for one in shortcuts_of(told(520, "rarely "))}
    assert {one.verdict for one in found.values()} == {"told"}
    assert found["words"].low > 0.9
    assert "**Warning: the text alone tells the label in notes.**" in shortcut_table(list(found.values()))


def test_names_drawn_alike_are_held() -> None:
    draw = random.Random(20261211)
    found = shortcuts_of(
        LabelledText("notes", f"{n}", f"The patient has {draw.choice(NAMES)}.", draw.random() < 0.5)
        for n in range(1400)
    )
    assert {one.verdict for one in found} == {"held"}
    assert "Warning" not in shortcut_table(found)


def test_few_rows_tell_nothing_and_one_label_is_not_measured() -> None:
    assert {one.verdict for one in shortcuts_of(told(30, "rarely "))} == {"too few"}
    assert shortcuts_of(row for row in told(30) if row.wrong) == []


def test_what_is_measured_depends_on_neither_order_nor_how_many_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcuts, "MOST", 40)
    rows = list(told(200))
    found = shortcuts_of(rows)
    assert {one.right for one in found} == {40}
    assert shortcuts_of(rows[::-1]) == found


def test_intervals_hold_a_half_where_chance_gives_the_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcuts, "READERS", ("words",))
    draw = random.Random(20261211)
    said = [f"word{n}" for n in range(300)]
    rows = []
    for trial, document in product(range(40), range(60)):
        wrong = draw.random() < 0.5
        texts = [" ".join(draw.choices(said, k=6)) for _ in "ab"]
        rows += [
            LabelledText(f"{trial}", f"{document}", text, wrong is bool(place)) for place, text in enumerate(texts)
        ]
    found = shortcuts_of(rows)
    assert len(found) == 40
    # Without `WIDER` nine of them do not.
    assert sum(one.low <= 0.5 <= one.high for one in found) >= 36


def test_words_that_stand_with_the_other_label_elsewhere_are_told() -> None:
    """Each document's right name is wrong in another one: what is learnt from the others is never so."""
    rows = []
    for n in range(520):
        names = f"name{n // 2}", f"other{n // 2}"
        right, wrong = names if n % 2 else names[::-1]
        rows += [LabelledText("notes", f"{n}", right, False), LabelledText("notes", f"{n}", wrong, True)]
    found = {one.reader: one for one in shortcuts_of(rows)}
    assert found["words"].high < 0.5 and found["words"].verdict == "told"
