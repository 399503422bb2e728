"""What a file or a rater says is text wherever it is opened: in a spreadsheet, on a page, in a terminal."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from ground.errors import InputError
from ground.markdown import harmless
from ground.spreadsheet import fill_in, guarded, read_sheet, text_mark, workbook, write_cells, write_csv


def test_no_cell_is_a_formula_and_numbers_stay_numbers(tmp_path: Path) -> None:
    risky = ["=1+1", " =HYPERLINK(1)", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1"]
    plain = ["-3.5", "+4", "-1,434", "-2e-5", "N/A", "a = b", ""]
    write_csv(pl.DataFrame({"said": risky + plain, "n": range(13)}), tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="") as lines:
        said = [row["said"] for row in csv.DictReader(lines)]
    assert said == [f"'{cell}" for cell in risky] + plain


@pytest.mark.parametrize(
    "said",
    [
        "<script>alert(1)</script>", "</td><img src=x onerror=1>", "[x](javascript:alert(1))",
        "[x](< data:text/html,1>)",
        "[x]( VBScript:1)", "\n[x]: javascript:alert(1)\n", "<!-- hidden", "red \x1b[31m and \u202egnp.exe",
    ],
)  # fmt: skip
def test_nothing_on_a_page_runs(said: str) -> None:
    page = harmless(f"| a |\n| {said} |\n")
    assert "\x1b" not in page and "\u202e" not in page and "\n" in page
    assert not any(one in page for one in ("<script", "</", "<img", "<!", "](javascript", "](<", "]( VBS", "\n[x]:"))


def test_our_own_links_and_signs_stay() -> None:
    page = "![Accuracy](board.png) [paper](https://arxiv.org/abs/1) 3 < 4, p<0.05, a\xa0b"
    assert harmless(page) == page


# What notes hold: form feeds, separators and ends of lines, signs of formulas, markup of Excel.
TEXTS = [
    "a\x0cb",
    "a\u2028b",
    "a\x85b",
    "x\x0b y",
    "one\r\ntwo, three",
    "a\tb",
    "'quoted'",
    "=1+1",
    "_x000C_",
    "\x1b[31m",
]


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_sheet_comes_back_row_by_row_whatever_its_texts_hold(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"sheet{suffix}"
    rows = [{"item": f"i{number}", "text": text} for number, text in enumerate(TEXTS)]
    if suffix == ".csv":
        write_cells(file, ("item", "text"), ({"item": row["item"], "text": guarded(row["text"])} for row in rows))
    else:
        with workbook(file) as book:
            fill_in(book, "Page", rows, {"item": 10, "text": 40}, ())
    names, read = read_sheet(file, "Page", ("item", "text"))
    assert names == ["item", "text"]
    assert [(number, row["item"]) for number, row in read] == [(at + 2, row["item"]) for at, row in enumerate(rows)]
    assert [text_mark([row["text"]]) for _, row in read] == [text_mark([text]) for text in TEXTS]


def test_a_sheet_without_its_page_says_what_to_do(tmp_path: Path) -> None:
    with workbook(tmp_path / "sheet.xlsx") as book:
        fill_in(book, "Other", [], {"item": 10}, ())
    with pytest.raises(InputError, match="no page to read") as caught:
        read_sheet(tmp_path / "sheet.xlsx", "Page", ("item",), do="put it back")
    assert (caught.value.found, caught.value.expected, caught.value.do) == ("Other", "a page Page", "put it back")
