"""What is in a sheet's files, byte for byte, and what is not."""

from __future__ import annotations

import csv
import re
import stat
import zipfile
from pathlib import Path

import fastexcel
import pytest

from ground.errors import UsageError
from ground.spreadsheet import MOST_CHARACTERS, guarded, text_mark
from stewardship.benchmark.folder import Benchmark
from stewardship.sheets.batch import read_batches
from stewardship.sheets.display import Display, answer_kinds
from stewardship.sheets.layout import MOST_LINES, layout_of, lines_of
from tests.stewardship.sheets.filling import sheet_rows
from tests.stewardship.sheets.world import CALCULATORS, label_of, scores, statements, written

PAIRS = [(f"row-{number}", "ann" if number % 2 else "bob") for number in range(20)]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return scores(tmp_path)


def parts(file: Path) -> dict[str, str]:
    """Every file inside an Excel file, as text."""
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name).decode("utf-8") for name in archive.namelist()}


def test_no_part_of_a_file_holds_a_label_or_what_it_was_computed_from(benchmark: Benchmark) -> None:
    sheets = written(benchmark, PAIRS).sheets
    secret = [label_of(number) for number in range(44)]
    secret += [part.strip("('") for label in secret if "weeks" in label for part in label.split(" weeks")[:1]]
    secret = [*(label for label in secret if len(label) > 2), "FEATURE", "DERIVATION", "row-", "labels.csv"]
    for excel, text in sheets.values():
        inside = parts(excel)
        everything = "\n".join([*inside, *inside.values(), text.read_text("utf-8")])
        assert not [item for item in secret if item in everything]
        assert "flag" not in everything and "abstain" not in everything


def test_nothing_is_hidden_in_an_excel_file(benchmark: Benchmark) -> None:
    for excel, _ in written(benchmark, PAIRS).sheets.values():
        inside = parts(excel)
        assert set(inside) == {
            "[Content_Types].xml",
            "_rels/.rels",
            "docProps/app.xml",
            "docProps/core.xml",
            "xl/_rels/workbook.xml.rels",
            "xl/sharedStrings.xml",
            "xl/styles.xml",
            "xl/theme/theme1.xml",
            "xl/workbook.xml",
            "xl/worksheets/sheet1.xml",
            "xl/worksheets/sheet2.xml",
        }
        assert "definedName" not in inside["xl/workbook.xml"] and "hidden" not in "".join(inside.values())
        assert re.findall(r'<sheet name="(.*?)"', inside["xl/workbook.xml"]) == ["Answers", "How to answer"]
        assert (
            "<dc:creator></dc:creator>" in inside["docProps/core.xml"]
            and "<f>" not in inside["xl/worksheets/sheet1.xml"]
        )


def test_an_abstaining_label_asks_for_what_the_other_rows_of_its_calculator_ask_for(benchmark: Benchmark) -> None:
    labels = benchmark.history.labels("original")
    kinds = answer_kinds(benchmark, labels)
    assert {row["stratum"]: kinds[row["uid"]] for row in benchmark.items.to_dicts()} == {
        "Maintenance Fluids": "number",
        "Sleepiness Score": "number",
        "Due Date": "date",
        "Gestational Age": "weeks",
    }
    by_stratum = {(row["stratum"], kinds[row["uid"]]) for row in benchmark.items.to_dicts()}
    assert len(by_stratum) == len(CALCULATORS)


def test_the_same_sheet_has_the_same_bytes_and_another_batch_other_names(tmp_path: Path) -> None:
    first, second = (written(scores(tmp_path / name), PAIRS) for name in "ab")
    for rater in ("ann", "bob"):
        for sheet, other in zip(first.sheets[rater], second.sheets[rater], strict=True):
            assert sheet.read_bytes() == other.read_bytes()
    third = written(scores(tmp_path / "c"), PAIRS, name="sheets-2")
    names = [{item.item for item in entry.batch.items} for entry in (first, third)]
    assert names[0].isdisjoint(names[1]) and len(names[0]) == len(PAIRS)


def test_each_rater_has_own_names_and_an_own_order_for_the_same_rows(benchmark: Benchmark) -> None:
    uids = [f"row-{number}" for number in range(20)]
    batch = written(benchmark, [(uid, rater) for uid in uids for rater in ("ann", "bob")]).batch
    orders = {rater: [item.uid for item in batch.items if item.rater == rater] for rater in batch.raters}
    assert sorted(orders["ann"]) == sorted(orders["bob"]) == sorted(uids)
    assert orders["ann"] != orders["bob"] and orders["ann"] != uids
    assert len({item.item for item in batch.items}) == 40
    # A number to a spreadsheet would lose its leading zeros, or become 1E+67.
    assert all(re.fullmatch(r"i[0-9a-f]{11}", item.item) for item in batch.items)


def test_the_key_is_kept_apart_and_says_which_row_an_item_is(benchmark: Benchmark) -> None:
    result = written(benchmark, PAIRS)
    folders = {file.parent for pair in result.sheets.values() for file in pair}
    assert result.key.parent not in folders and stat.S_IMODE(result.key.stat().st_mode) == 0o600
    assert read_batches(benchmark.folder) == [result.batch]
    assert {(item.uid, item.rater) for item in result.batch.items} == set(PAIRS)
    with pytest.raises(UsageError, match="is there already"):
        written(benchmark, PAIRS)


def test_columns_are_those_to_read_and_those_to_fill_in(benchmark: Benchmark) -> None:
    excel, text = written(benchmark, PAIRS).sheets["ann"]
    rows = sheet_rows(text)
    assert list(rows[0]) == ["item", "question", "answer", "comment", "context"]
    assert {row["answer"] + row["comment"] for row in rows} == {""}
    page = fastexcel.read_excel(excel).load_sheet("Answers", dtypes="string").to_polars()
    assert page.columns == list(rows[0])
    assert page["item"].to_list() == [row["item"] for row in rows]
    xml = parts(excel)["xl/worksheets/sheet1.xml"]
    assert 'state="frozen"' in xml and 'topLeftCell="E2"' in xml and "sheetProtection" in xml
    assert xml.count("<dataValidation ") == 10
    # Dates, weeks and numbers each have a hint of their own.
    assert {hint[:9] for hint in re.findall(r'prompt="(.*?)"', xml)} == {"One numbe", "Weeks and"}


def test_names_are_chosen_from_a_list_and_explained(tmp_path: Path) -> None:
    bench = statements(tmp_path)
    excel, _ = written(bench, [(f"s{number:03d}", "ann") for number in range(8)]).sheets["ann"]
    inside = parts(excel)
    assert inside["xl/worksheets/sheet1.xml"].count('<formula1>"Q1,Q2,Q3,Q4,N/A"</formula1>') == 8
    assert "True and unsupported" in inside["xl/sharedStrings.xml"]


def test_cells_that_a_spreadsheet_would_compute_are_text(tmp_path: Path) -> None:
    bench = scores(tmp_path)
    excel, text = written(bench, PAIRS).sheets["ann"]
    with text.open(encoding="utf-8-sig", newline="") as lines:
        cells = [cell for row in csv.reader(lines) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))]
    assert any(cell.startswith("'- A patient") for cell in cells)
    # In Excel's own file text is text: no guard is needed and none is shown.
    assert "'- A patient" not in parts(excel)["xl/sharedStrings.xml"]
    assert [guarded(cell) for cell in ("=1", " @x", "|x", "1-2", "a=1", "")] == [
        "'=1",
        "' @x",
        "'|x",
        "1-2",
        "a=1",
        "",
    ]


def test_a_long_context_goes_on_in_further_cells_that_a_row_can_show(tmp_path: Path) -> None:
    bench = scores(tmp_path, 8, long=200)
    result = written(bench, [(f"row-{number}", "ann") for number in range(8)])
    row = sheet_rows(result.sheets["ann"][1])[0]
    names = [name for name in row if name.startswith("context")]
    assert len(names) == 3 and result.continued == 8
    layout = layout_of([Display("", "")], "blind")
    assert all(lines_of(row[name], layout.width(name)) <= MOST_LINES for name in names)
    uid = next(item.uid for item in result.batch.items if item.item == row["item"])
    context = dict(bench.items.select("uid", "context").iter_rows())[uid]
    assert text_mark(row[name] for name in names) == text_mark([context])
    heights = re.findall(r' ht="([\d.]+)"', parts(result.sheets["ann"][0])["xl/worksheets/sheet1.xml"])
    assert len(heights) == 8 and all(300 < float(height) <= 409 for height in heights)


@pytest.mark.parametrize(
    "text",
    ["x" * 40_000, "word " * 8_000, "line\n" * 900, "", "a. " * 5_000, "\n\n" * 400, " " * 40_000 + "end", "x " * 46],
    ids=["one word", "words", "lines", "nothing", "sentences", "paragraphs", "blanks", "one line"],
)
def test_pieces_make_up_the_whole_text_whatever_it_is(text: str) -> None:
    layout = layout_of([Display("q", text)], "blind")
    cells = layout.row("i", Display("q", text))
    pieces = [cells[name] for name in layout.columns if name.startswith("context")]
    assert "".join(pieces) == text
    assert all(
        len(piece) < MOST_CHARACTERS and lines_of(piece, layout.width("context")) <= MOST_LINES for piece in pieces
    )


def test_a_question_that_no_cell_holds_is_counted_and_left_out(tmp_path: Path) -> None:
    from stewardship.sheets.writing import write_batch

    bench = scores(tmp_path, 4)
    displays = {"row-0": Display("q" * MOST_CHARACTERS, "c"), "row-1": Display("q" * 5_000, "c")}
    pairs = [("row-0", "ann"), ("row-1", "ann")]
    options = {"name": "s", "kind": "blind", "drawn": "any", "blind": True, "seed": 1}
    result = write_batch(bench, pairs, displays, dict.fromkeys(displays, "number"), **options)  # type: ignore[arg-type]
    assert result.too_long == 1 and [item.uid for item in result.batch.items] == ["row-1"]
    with pytest.raises(UsageError, match="no row for a sheet"):
        write_batch(bench, pairs[:1], displays, {"row-0": "number"}, **{**options, "name": "t"})  # type: ignore[arg-type]
