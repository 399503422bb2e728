"""Sheets for experts: outputs to be graded, as Excel and CSV files, without labels and in an order that tells nothing.

MedVAL, supplement S1.2 and appendix A of its first version: the expert sees input and output, grades the risk and names
the errors. A key file, kept away from the experts, says which row of the dataset an item is.
"""

from __future__ import annotations

import csv
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from evaluation.text.dataset import Split, TextDataset
from ground.contracts.rows_text import RISK_LEVELS
from ground.contracts.taxonomy import error_categories, risk_levels
from ground.errors import InputError, UsageError
from ground.stable import stable_hash
from ground.storage.files import atomic_path, private_directory

__all__ = ["COLUMNS", "ERRORS", "KEY_SUFFIX", "RATINGS", "key_of", "text_mark", "write_sheets"]

RATINGS = "Ratings"
INSTRUCTIONS = Path(__file__).parents[1] / "templates" / "sheet.txt"
KEY_SUFFIX = ".key.csv"
ERRORS = 6
"""How many errors of an output have columns of their own; more go into the comment."""
SHOWN = ("item", "instruction", "input", "output")
FILLED = (
    "risk_level",
    *(f"error_{number}_{part}" for number in range(1, ERRORS + 1) for part in ("category", "words")),
    "comment",
)
COLUMNS = (*SHOWN, *FILLED)
# Excel's limit of a cell.
MOST_CHARACTERS = 32_767
# A cell that begins so is a formula to Excel, also where it is a list item of a note.
FORMULA = ("=", "+", "-", "@")
WIDTHS = {"item": 12, "instruction": 28, "input": 70, "output": 60, "risk_level": 10, "comment": 30}
PER_TASK = 15
FIXED_DATE = datetime(2000, 1, 1)


def write_sheets(
    dataset: TextDataset, file: Path, *, split: Split = "test", per_task: int = PER_TASK, seed: int = 42
) -> dict[str, Any]:
    """Write ``file`` (.xlsx), the same as ``.csv``, and the key ``{stem}.key.csv``.

    Items are drawn by stable hash, ``per_task`` of each task, evenly over the four levels as far as there are rows; of
    the outputs of one input at most one, since two of them would tell on each other. The order is by stable hash too.

    Args:
        dataset: a MedVAL dataset.
        file: of the Excel sheet.
        split: which rows.
        per_task: items of a task, at most (the paper's experts shared 15).
        seed: of the draw, of the order and of the items' names.

    Returns:
        ``items``, ``by_task``, ``too_long`` (rows that no cell can hold), and the files ``sheet``, ``csv``, ``key``.

    Raises:
        UsageError: the file is no .xlsx, or one of the files is there already.
        InputError: the split has no row.
    """
    files = {"sheet": file, "csv": file.with_suffix(".csv"), "key": file.with_name(file.stem + KEY_SUFFIX)}
    if file.suffix != ".xlsx":
        raise UsageError("the sheet is no Excel file", file=file, expected="a name that ends in .xlsx")
    for one in files.values():
        if one.exists():
            raise UsageError("a file of this name is there already", file=one, do="name another sheet")
    items, too_long = _items(dataset, split, per_task, seed)
    if not items:
        raise InputError(f"the {split} split has no row that a sheet can hold", file=dataset.folder)
    rows = [{"item": item_name(seed, row["id"]), **{name: row[name] for name in SHOWN[1:]}} for row in items]
    private_directory(file.parent)
    _write_excel(files["sheet"], rows)
    _write_csv(files["csv"], COLUMNS, [{name: _plain(text) for name, text in row.items()} for row in rows])
    key = [
        {"item": shown["item"], "id": row["id"], "text": text_mark(row["input"], row["output"])}
        for shown, row in zip(rows, items, strict=True)
    ]
    _write_csv(files["key"], ("item", "id", "text"), key)
    by_task: dict[str, int] = defaultdict(int)
    for row in items:
        by_task[row["task"]] += 1
    return {
        "items": len(items),
        "by_task": dict(sorted(by_task.items())),
        "too_long": too_long,
        **{name: str(path) for name, path in files.items()},
    }


def item_name(seed: int, row_id: str) -> str:
    """Return an item's name: it depends on the row's, and tells nothing of it."""
    # Not digits alone: a spreadsheet would take it for a number.
    return f"i{stable_hash(seed, 'sheet item', row_id):016x}"[:12]


def text_mark(text_in: str, text_out: str) -> str:
    """Return a mark of an item's texts, by which a sheet whose columns were sorted apart is found out.

    White space does not count: spreadsheets change it.
    """
    together = "\x1f".join(" ".join(text.split()) for text in (text_in, text_out))
    return hashlib.sha256(together.encode()).hexdigest()[:16]


def key_of(sheets: Sequence[Path], key: Path | None = None) -> dict[str, tuple[str, str]]:
    """Read the key of filled sheets: by item the row's id and the mark of its texts.

    Args:
        sheets: the filled sheets.
        key: the key's file; where left out, the only one in the folder of the sheets.

    Raises:
        UsageError: the key is not named and not found, or there are several.
        InputError: it is no key.
    """
    if key is None:
        found = sorted({path for sheet in sheets for path in sheet.parent.glob(f"*{KEY_SUFFIX}")})
        if len(found) != 1:
            raise UsageError(
                "the key of the sheets is not known",
                found=f"{len(found)} files *{KEY_SUFFIX} beside the sheets",
                expected="one",
                do="name it: --sheet-key FILE",
            )
        key = found[0]
    try:
        with key.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        return {row["item"]: (row["id"], row["text"]) for row in rows}
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as error:
        raise InputError(
            "the key of the sheets cannot be read", file=key, expected="a CSV file with item, id and text"
        ) from error


def _items(dataset: TextDataset, split: Split, per_task: int, seed: int) -> tuple[list[dict[str, Any]], int]:
    """Draw the items: by task, from the levels in turn, each by the lowest hash of an input that has none yet."""
    piles: dict[str, dict[int, list[tuple[int, dict[str, Any]]]]] = defaultdict(lambda: defaultdict(list))
    too_long = 0
    for row in dataset.rows(split):
        # A line end and a space in front may be added.
        if max(len(row[name]) for name in SHOWN[1:]) >= MOST_CHARACTERS:
            too_long += 1
            continue
        piles[row["task"]][row["risk_level"]].append((stable_hash(seed, "sheet", row["id"]), row))
    chosen = [row for levels in piles.values() for row in _drawn(levels, per_task)]
    return sorted(chosen, key=lambda row: stable_hash(seed, "sheet order", row["id"])), too_long


def _drawn(levels: Mapping[int, list[tuple[int, dict[str, Any]]]], per_task: int) -> list[dict[str, Any]]:
    piles = {level: iter(sorted(rows, key=lambda pair: (pair[0], pair[1]["id"]))) for level, rows in levels.items()}
    inputs: set[str] = set()
    chosen: list[dict[str, Any]] = []
    while piles and len(chosen) < per_task:
        for level in sorted(piles):
            row = next((row for _, row in piles[level] if row["triple_id"] not in inputs), None)
            if row is None:
                del piles[level]
            elif len(chosen) < per_task:
                inputs.add(row["triple_id"])
                chosen.append(row)
    return chosen


def _plain(text: str) -> str:
    return f" {text}" if text.startswith(FORMULA) else text


def _write_csv(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    # With a byte order mark: without it Excel takes UTF-8 for something else.
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    path.chmod(0o600)


def _write_excel(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    import xlsxwriter  # type: ignore[import-untyped]

    with atomic_path(path) as temporary:
        book = xlsxwriter.Workbook(str(temporary), {"strings_to_formulas": False, "strings_to_urls": False})
        book.set_properties({"created": FIXED_DATE})
        bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bg_color": "#e8eef4", "border": 1})
        shown = book.add_format({"text_wrap": True, "valign": "top", "border": 1})
        filled = book.add_format({"text_wrap": True, "valign": "top", "border": 1, "locked": False})
        _write_instructions(book.add_worksheet("Instructions"), book)
        _write_ratings(book.add_worksheet(RATINGS), rows, bold, shown, filled)
        _write_lists(book.add_worksheet("Lists"))
        book.close()
    path.chmod(0o600)


def _write_ratings(page: Any, rows: Sequence[Mapping[str, str]], bold: Any, shown: Any, filled: Any) -> None:
    for column, name in enumerate(COLUMNS):
        page.write_string(0, column, name, bold)
        page.set_column(column, column, WIDTHS.get(name, 24))
    for number, row in enumerate(rows, 1):
        for column, name in enumerate(COLUMNS):
            if name in row:
                page.write_string(number, column, row[name], shown)
            else:
                page.write_blank(number, column, None, filled)
    levels = {"source": list(map(str, RISK_LEVELS)), "error_title": "Risk level", "error_message": "1, 2, 3 or 4"}
    categories = {
        "source": f"=Lists!$A$1:$A${len(error_categories())}",
        "error_title": "Category",
        "error_message": "One of the list; see the page Instructions",
    }
    choices = {"risk_level": levels} | {f"error_{number}_category": categories for number in range(1, ERRORS + 1)}
    for name, choice in choices.items():
        column = COLUMNS.index(name)
        page.data_validation(1, column, len(rows), column, {"validate": "list", **choice})
    page.freeze_panes(1, 1)
    # Without a password: it guards against slips, not against people.
    page.protect("", {"format_columns": True, "format_rows": True})


def _write_lists(page: Any) -> None:
    for number, category in enumerate(error_categories()):
        page.write_string(number, 0, category["name"])
    page.hide()


def _write_instructions(page: Any, book: Any) -> None:
    title, plain = book.add_format({"bold": True, "font_size": 14}), book.add_format({"text_wrap": True})
    head = book.add_format({"bold": True, "text_wrap": True})
    page.set_column(0, 0, 28)
    page.set_column(1, 1, 110)
    page.write_string(0, 0, "How to grade", title)
    lines = INSTRUCTIONS.read_text(encoding="utf-8").format(errors=ERRORS).splitlines()
    for number, line in enumerate(lines, 2):
        page.merge_range(number, 0, number, 1, line, plain)
        page.set_row(number, 32)
    levels = [(f"{row['level']} ({row['risk']}): {row['action']}", row["means"]) for row in risk_levels()]
    categories = [(f"{row['name']} ({row['group']})", row["means"]) for row in error_categories()]
    number = len(lines) + 3
    for heading, table in (("Risk level", levels), ("Error category", categories)):
        page.write_string(number, 0, heading, head)
        for at, cells in enumerate(table, number + 1):
            for column, text in enumerate(cells):
                page.write_string(at, column, text, plain)
        number += len(table) + 2
