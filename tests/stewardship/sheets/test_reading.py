"""Filled sheets read back: each cell that cannot be taken is named, and nothing is lost."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ground.contracts.labels import LabelValue
from ground.errors import InputError, UsageError
from stewardship.benchmark.folder import Benchmark
from stewardship.sheets.batch import read_batches
from stewardship.sheets.reading import SheetsRead, read_sheets, write_refused
from stewardship.sheets.writing import Written
from tests.stewardship.sheets.filling import fill, save, sheet_rows
from tests.stewardship.sheets.world import scores, written

ROWS = 24


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return scores(tmp_path / "work")


@pytest.fixture
def given(benchmark: Benchmark) -> Written:
    return written(benchmark, [(f"row-{number}", "ann") for number in range(ROWS)])


def right(given: Written) -> dict[str, dict[str, Any]]:
    """An answer for every item, as it belongs there."""
    answers = {"number": 7, "date": "03/21/2006", "weeks": "14 weeks 1 day"}
    return {item.item: {"answer": answers[item.expects], "comment": "fine"} for item in given.batch.items}


def answered(given: Written) -> list[dict[str, Any]]:
    """Return the rows of ann's sheet with these answers."""
    answers = right(given)
    return [{**row, **answers[row["item"]]} for row in sheet_rows(given.sheets["ann"][1])]


def items_of(given: Written, kind: str) -> list[str]:
    return [item.item for item in given.batch.items if item.expects == kind]


def read(benchmark: Benchmark, *files: Path) -> SheetsRead:
    questions = dict(benchmark.items.select("uid", "question").iter_rows())
    return read_sheets(files, read_batches(benchmark.folder), questions)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.xlsx", {}),
        ("a.csv", {}),
        ("a.csv", {"separator": ";"}),
        ("a.csv", {"separator": "\t", "encoding": "utf-8-sig"}),
        ("a.csv", {"separator": ";", "encoding": "cp1252"}),
        ("a.csv", {"separator": "\t", "encoding": "utf-16"}),
    ],
    ids=["excel", "csv", "semicolons", "tabs", "windows", "unicode text"],
)
def test_sheets_come_back_whole_as_excel_and_as_csv(
    benchmark: Benchmark, given: Written, tmp_path: Path, name: str, options: dict[str, str]
) -> None:
    result = read(benchmark, fill(given.sheets["ann"][1], tmp_path / name, right(given), **options))
    assert not result.refused and not result.missing and not result.empty and result.given == {"ann": ROWS}
    assert {rating.rater for rating in result.ratings} == {"ann"} and {rating.comment for rating in result.ratings} == {
        "fine"
    }
    values = {rating.uid: rating.value for rating in result.ratings}
    assert len(values) == ROWS
    assert {values[f"row-{number}"].text() for number in range(4)} == {"7", "03/21/2006", "99"}


def test_every_bad_cell_is_named_with_file_row_column_and_what_to_do(
    benchmark: Benchmark, given: Written, tmp_path: Path
) -> None:
    cells = right(given)
    numbers, dates, weeks = (items_of(given, kind) for kind in ("number", "date", "weeks"))
    bad: dict[str, Any] = {
        numbers[0]: "4,4",
        numbers[1]: datetime(2006, 3, 21),
        numbers[2]: "5 or 6",
        numbers[3]: "#DIV/0!",
        dates[0]: 12.5,
        dates[1]: "21/03/2006",
        weeks[0]: 99,
    }
    noted = {numbers[4]: "n/a", numbers[5]: "multiple", dates[2]: "Unknown"}
    for item, answer in {**bad, **noted}.items():
        cells[item] = {"answer": answer, "comment": "why"}
    result = read(benchmark, fill(given.sheets["ann"][1], tmp_path / "ann.xlsx", cells))
    rows = {row["item"]: line for line, row in enumerate(sheet_rows(given.sheets["ann"][1]), start=2)}
    assert {(entry.line, entry.item) for entry in result.refused} == {(rows[item], item) for item in bad}
    answers = {entry.item: entry for entry in result.refused}
    assert all(
        entry.file == "ann.xlsx" and entry.column == "answer" and entry.expected and entry.do
        for entry in result.refused
    )
    assert answers[numbers[0]].found == "4,4" and "4.4" in answers[numbers[0]].do
    assert answers[numbers[1]].problem == "a date where a number belongs"
    assert answers[numbers[3]].problem.startswith("an error of the spreadsheet")
    assert answers[dates[0]].problem == "a number where a date belongs"
    assert answers[weeks[0]].problem == "a number without its unit"
    # The good answers and the abstentions are all there.
    assert {rating.item for rating in result.ratings} == set(cells) - set(bad)
    assert {rating.item for rating in result.ratings if rating.value.kind.value == "na"} == set(noted)
    assert sorted(result.notes) == sorted(
        f"ann.xlsx row {rows[item]}: {text} is read as N/A: not computable" for item, text in noted.items()
    )


def test_refused_cells_are_corrected_in_their_own_table_and_none_is_taken_unseen(
    benchmark: Benchmark, given: Written, tmp_path: Path
) -> None:
    cells = right(given)
    number, date = items_of(given, "number")[0], items_of(given, "date")[0]
    cells[number] = {"answer": "4,4", "comment": "=cmd"}
    cells[date] = {"answer": "12", "comment": "why"}
    sheet = fill(given.sheets["ann"][1], tmp_path / "ann.xlsx", cells)
    questions = dict(benchmark.items.select("uid", "question").iter_rows())
    (table,) = write_refused(read(benchmark, sheet), [sheet], questions)
    assert table.name == "ann.refused.csv"
    rows = {row["item"]: row for row in sheet_rows(table)}
    assert set(rows) == {number, date} and rows[number]["found"] == "4,4"
    assert rows[number]["comment"] == "'=cmd" and rows[number]["row"]
    # Not corrected is not reviewed: a spreadsheet that makes 44 of 4,4 does no harm.
    assert not read(benchmark, table).ratings and not read(benchmark, table).refused
    corrected = fill(table, table, {number: {"answer": "4.4"}, date: {"answer": "12 May"}})
    again = read(benchmark, corrected)
    assert [(rating.value, rating.comment) for rating in again.ratings] == [(LabelValue.of(4.4), "=cmd")]
    assert [item.item for item in again.refused] == [date]
    assert write_refused(again, [corrected], questions) == [table]
    assert [row["found"] for row in sheet_rows(table)] == ["12 May"]


def test_an_empty_answer_is_not_reviewed_and_a_row_that_is_gone_is_missing(
    benchmark: Benchmark, given: Written, tmp_path: Path
) -> None:
    rows = answered(given)
    rows[0]["answer"], rows[1]["answer"], rows[1]["comment"] = "", " ", ""
    result = read(benchmark, save(tmp_path / "ann.csv", rows[:-3]))
    assert (result.empty, result.missing, result.given) == ({"ann": 2}, {"ann": 3}, {"ann": ROWS})
    assert len(result.ratings) == ROWS - 5 and not result.refused
    assert "row 2" in result.notes[0] and "comment without an answer" in result.notes[0]


@pytest.mark.parametrize("column", ["question", "context"])
def test_texts_that_are_another_items_are_refused_without_being_shown(
    benchmark: Benchmark, given: Written, tmp_path: Path, column: str
) -> None:
    rows = answered(given)
    other = next(row for row in rows if row[column] != rows[0][column])
    rows[0][column], other[column] = other[column], rows[0][column]
    result = read(benchmark, save(tmp_path / "ann.csv", rows))
    assert {(item.item, item.column) for item in result.refused} == {(rows[0]["item"], column), (other["item"], column)}
    assert {item.found for item in result.refused} == {None}
    assert len(result.ratings) == ROWS - 2


def test_white_space_and_line_ends_that_a_spreadsheet_changes_are_no_change(
    benchmark: Benchmark, given: Written, tmp_path: Path
) -> None:
    rows = answered(given)
    for row in rows:
        row["context"] = row["context"].replace("'- A patient", "- A  patient").replace(" came", "\r\ncame ")
        row["item"] = f" {row['item']} "
    assert len(read(benchmark, save(tmp_path / "ann.csv", rows)).ratings) == ROWS


def test_an_item_twice_is_refused_where_the_answers_differ(
    benchmark: Benchmark, given: Written, tmp_path: Path
) -> None:
    number, other = items_of(given, "number")[:2]
    rows = answered(given)
    unlike = {**next(row for row in rows if row["item"] == number), "answer": 8}
    alike = dict(next(row for row in rows if row["item"] == other))
    result = read(benchmark, save(tmp_path / "ann.csv", [*rows, unlike, alike]))
    assert [item.item for item in result.refused] == [number, number]
    assert f"ann.csv row {ROWS + 2}" in result.refused[0].do
    assert len(result.ratings) == ROWS - 1
    # The same across two files of one rater.
    first, second = save(tmp_path / "one.csv", rows), save(tmp_path / "two.csv", [unlike])
    assert {item.file for item in read(benchmark, first, second).refused} == {"one.csv", "two.csv"}


def test_an_item_that_no_key_has_is_refused_and_a_foreign_sheet_is_no_sheet(
    benchmark: Benchmark, given: Written, tmp_path: Path
) -> None:
    rows = answered(given)
    rows[3]["item"] = "i00000000000"
    result = read(benchmark, save(tmp_path / "ann.csv", rows))
    assert [(item.column, item.line, item.found) for item in result.refused] == [("item", 5, "i00000000000")]
    assert result.missing == {"ann": 1}
    other = scores(tmp_path / "elsewhere", 8)
    foreign = fill(written(other, [("row-0", "bob")], name="other").sheets["bob"][1], tmp_path / "bob.csv", {})
    with pytest.raises(InputError, match="no item of this sheet"):
        read(benchmark, foreign)


def test_what_is_no_sheet_is_refused_as_a_whole(benchmark: Benchmark, given: Written, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [dict(row) for row in sheet_rows(given.sheets["ann"][1])]
    lacking = save(tmp_path / "lacking.csv", [{"item": row["item"], "answer": ""} for row in rows])
    twice = tmp_path / "twice.csv"
    twice.write_text("item,answer,comment,answer\ni1,2,,3\n")
    (tmp_path / "broken.xlsx").write_bytes(b"PK not an Excel file")
    (tmp_path / "empty.csv").write_bytes(b"")
    for file in (lacking, twice, tmp_path / "broken.xlsx", tmp_path / "empty.csv", tmp_path / "none.csv"):
        with pytest.raises(InputError):
            read(benchmark, file)
    with pytest.raises(UsageError):
        (tmp_path / "sheet.ods").write_bytes(b"x")
        read(benchmark, tmp_path / "sheet.ods")


def test_a_note_in_a_cell_of_an_answer_or_an_item_is_not_shown(
    benchmark: Benchmark, given: Written, tmp_path: Path
) -> None:
    rows = answered(given)
    note = "A woman of 71 years came with pain in her chest. " * 4
    rows[0]["answer"], rows[1]["item"] = note, note
    result = read(benchmark, save(tmp_path / "ann.csv", rows)).refused
    assert {item.column: item.found for item in result} == dict.fromkeys(
        ("answer", "item"), f"(text of {len(note.strip())} characters)"
    )


def test_a_sheet_without_its_head_shows_nothing_of_its_first_row(
    benchmark: Benchmark, given: Written, tmp_path: Path
) -> None:
    lines = given.sheets["ann"][1].read_text(encoding="utf-8-sig").splitlines(keepends=True)
    for rest in (lines[1:], ["comment,answer,a note,a note\n", *lines[1:]]):
        (tmp_path / "ann.csv").write_text("".join(rest), encoding="utf-8")
        with pytest.raises(InputError, match="column is missing") as result:
            read(benchmark, tmp_path / "ann.csv")
        assert result.value.found is not None and result.value.found.endswith("others")
        first = sheet_rows(given.sheets["ann"][1])[0]
        assert "a note" not in result.value.found and not any(
            value in result.value.found for value in first.values() if value
        )


def test_thousands_marks_are_refused_on_a_sheet_that_has_decimal_commas(
    benchmark: Benchmark, given: Written, tmp_path: Path
) -> None:
    cells = right(given)
    first, second = items_of(given, "number")[:2]
    cells[first] = {"answer": "1,434", "comment": ""}
    alone = read(benchmark, fill(given.sheets["ann"][1], tmp_path / "a.csv", cells))
    assert not alone.refused and "thousands" in alone.notes[0]
    cells[second] = {"answer": "4,4", "comment": ""}
    both = read(benchmark, fill(given.sheets["ann"][1], tmp_path / "b.csv", cells))
    assert {item.item for item in both.refused} == {first, second}


def test_sheets_of_long_contexts_come_back_with_columns_in_any_order_and_a_raters_own(tmp_path: Path) -> None:
    bench = scores(tmp_path / "long", 8, long=200)
    given = written(bench, [(f"row-{number}", "ann") for number in range(8)])
    rows = answered(given)
    turned = [{name: row[name] for name in reversed(list(row))} for row in rows]
    assert len(read(bench, save(tmp_path / "ann.xlsx", turned)).ratings) == 8
    own = [{**row, "context of mine": "seen"} for row in rows]
    assert len(read(bench, save(tmp_path / "ann.csv", own)).ratings) == 8
