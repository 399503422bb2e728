"""Labels that are names are found by looking, shown, and taken only where somebody says so."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ground.errors import UsageError
from stewardship.benchmark.categories import chosen_categories, possible_codes
from stewardship.benchmark.tables import LabelTable


def table(*labels: str | None, **more: list[str | None]) -> LabelTable:
    frame = pl.DataFrame({"uid": [str(row) for row in range(len(labels))], "label": labels, **more})
    return LabelTable(frame, "named", Path("labels.csv"), "0" * 64)


def test_numbers_dates_and_abstentions_need_no_names() -> None:
    assert chosen_categories([table("1.5", "20", "03/21/2006", "N/A", None, "14 weeks, 1 day")], None) == ()
    # One that cannot be read is named by the verb and stays; the others count.
    assert chosen_categories([table("1.5", "20", "4,4")], None) == ()
    assert chosen_categories([table("N/A", None)], None) == ()


@pytest.mark.parametrize(
    "labels", [("A", "B", "A", "c", "B", "C"), ("yes", "No", "no", "Yes"), ("Q1", "Q2", "Q1", "Q2")]
)
def test_names_are_shown_and_not_taken_unasked(labels: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="labels are names") as error:
        chosen_categories([table(*labels, "N/A")], None)
    assert f"{labels[0]} (2)" in str(error.value.found) and "--categories" in str(error.value.expected)


def test_names_are_taken_as_given_or_as_found() -> None:
    labels = table("A", "B", "b", "A", "N/A", None)
    assert chosen_categories([labels], "A, B,C") == ("A", "B", "C")
    assert chosen_categories([labels], "found") == ("A", "B")


def test_only_the_original_labels_say_which_names_there_are() -> None:
    assert chosen_categories([table("A", "B", "A", physician=["A", "Oops", None])], "found") == ("A", "B")


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ("1,2", "most labels cannot be read"),
        ("A,,B", "cannot be read"),
        ("A,a", "cannot be read"),
        ("A,unknown", "an abstention"),
    ],
)
def test_names_that_cannot_be_are_refused(given: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        chosen_categories([table("A", "B", "A", "B")], given)


def test_text_is_no_name_and_is_not_shown() -> None:
    notes = [f"patient {row} was well" for row in "abcdefgh"]
    with pytest.raises(UsageError, match="most labels cannot be read") as error:
        chosen_categories([table(*notes)], None)
    assert "patient" not in str(error.value)
    with pytest.raises(UsageError, match="too many names") as error:
        chosen_categories([table(*(f"finding {'x' * row}" for row in range(1, 60)))], "found")
    assert "finding" not in str(error.value)
    with pytest.raises(UsageError, match="no names"):
        chosen_categories([table("1", "2")], "found")


def test_a_few_whole_numbers_may_be_codes() -> None:
    assert possible_codes([table(*"0123" * 5)]) == ("0", "1", "2", "3")
    assert possible_codes([table(*"0123")]) == ()  # each is there once
    assert possible_codes([table(*("0.5", "1") * 10)]) == ()
    assert possible_codes([table(*"0123" * 5, output_type=["integer"] * 20)]) == ()
    assert chosen_categories([table(*"0123" * 5)], "0,1,2,3") == ("0", "1", "2", "3")
