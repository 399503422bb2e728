"""What a row's text alone tells: words that give a label away are found, and what says nothing is held."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from builders.texts import shortcuts
from builders.texts.shortcuts import Told, shortcut_table, shortcuts_of

NAMES = ("gout", "asthma", "anemia", "migraine", "eczema", "sepsis", "angina")


def told(n: int, wrong_word: str = "") -> Iterator[Told]:
    for place in range(n):
        name, other = NAMES[place % 7], NAMES[place * place % 7]
        yield Told("notes", f"document {place}", f"The patient has {name}.", False)
        yield Told("notes", f"document {place}", f"The patient {wrong_word}has {other}.", True)


def test_a_word_that_only_wrong_rows_have_is_told() -> None:
    found = {one.reader: one for one in shortcuts_of(told(520, "rarely "))}
    assert {one.verdict for one in found.values()} == {"told"}
    assert found["words"].low > 0.9
    assert "**Warning: the text alone tells the label in notes.**" in shortcut_table(list(found.values()))


def test_names_drawn_alike_are_held() -> None:
    found = shortcuts_of(
        Told("notes", f"{n}", f"The patient has {NAMES[n * 5 % 7]}.", n // 7 % 2 == 0) for n in range(1400)
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
