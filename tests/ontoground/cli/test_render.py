"""Tables that fit the terminal: long texts are wrapped before the words of headers are cut."""

from __future__ import annotations

import pytest

from ontoground.cli.render import beginning, console, dataset_in_words, listing, paint, table, unfolded


@pytest.mark.parametrize("text", ["no physician reviewed the row", "no physician reviewed the row at all"])
def test_a_long_text_is_wrapped_before_a_header_is_cut(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    console().print(table(["events", "why"], [[8, text]]))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "events  why" and lines[1].startswith("     8  no physician reviewed the row")
    assert " ".join(line.strip() for line in lines[1:]) == f"8  {text}" and max(map(len, lines)) <= 40


def test_a_listing_names_its_columns_by_keys_or_by_headers(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"file": "a.csv", "rows_read": 1200, "seconds": 3}]
    console().print(listing(rows, "file, rows_read: check: rows that offend"))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "file   check: rows that offend" and lines[1].split() == ["a.csv", "1,200"]


def test_numbers_that_name_something_have_no_commas(capsys: pytest.CaptureFixture[str]) -> None:
    console().print(table(["hadm_id", "rows"], [[21027282, 21027282]]))
    assert capsys.readouterr().out.splitlines()[1].split() == ["21027282", "21,027,282"]


def test_blocks_are_set_off_and_a_command_stays_on_its_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    command = "  ontoground validate work/datasets/medieval"
    paint(console(), ["counts", *beginning(["n"], [[1], [2], [3]], most=2), None, unfolded(command)])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:5] == ["counts", "", "n", "1", "2"]
    assert " ".join(lines[5:-1]) == " and 1 more; --json lists all" and lines[-1] == command


def test_an_empty_split_is_said() -> None:
    dataset = {"rows": 3, "splits": {"train": 3, "validation": 0, "test": 0}, "folder": "work"}
    assert (
        dataset_in_words(dataset) == "3 rows (train 3, validation 0, test 0) in work; no rows for validation and test"
    )
