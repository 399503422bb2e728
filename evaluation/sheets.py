"""Sheets for experts: outputs to be graded, without labels and in an order that tells nothing; and filled, read back.

MedVAL, supplement S1.2 and appendix A of its first version: the expert sees input and output, grades the risk and names
the errors. A key file, kept away from the experts, says which row of the dataset an item is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evaluation.datasets import TextDataset
from evaluation.predictions import ANSWER_SCHEMA, PREDICTION_SCHEMA
from ground.contracts.rows_text import RISK_LEVELS
from ground.contracts.splits import Split
from ground.contracts.taxonomy import category_of, error_categories, risk_levels
from ground.errors import InputError, UsageError
from ground.spreadsheet import MOST_CHARACTERS, Sheet, read_sheet, text_mark, write_cells, write_sheet
from ground.stable import stable_hash
from ground.storage.files import private_directory

__all__ = ["SheetsRead", "read_sheets", "write_sheets"]

RATINGS = "Ratings"
INSTRUCTIONS = Path(__file__).parent / "templates" / "sheet.txt"
KEY_SUFFIX = ".key.csv"
KEY = ("item", "id", "text")
ERRORS = 6
"""How many errors of an output have columns of their own; more go into the comment."""
ITEM_COLUMNS = ("item", "instruction", "input", "output")
FILLED = (
    "risk_level",
    *(f"error_{number}_{part}" for number in range(1, ERRORS + 1) for part in ("category", "words")),
    "comment",
)
COLUMNS = (*ITEM_COLUMNS, *FILLED)
WIDTHS = {"item": 12, "instruction": 28, "input": 70, "output": 60, "risk_level": 10, "comment": 30}
PER_TASK = 15
RATING_SCHEMA: Mapping[str, Any] = {
    name: (PREDICTION_SCHEMA | ANSWER_SCHEMA | {"label": pl.Int64()})[name]
    for name in ("id", "label", "errors", "explanation", "outcome", "model", "seed")
}
"""Columns of ratings: those of a predictions file, the rater in ``model``, the comment in ``explanation``."""
FILLED_SCHEMA: Mapping[str, Any] = {"file": pl.String, "number": pl.Int64, "slips": pl.List(pl.String)}
LEVEL = re.compile(r"(?:level\s*)?([1-4])(?:\.0+)?", re.IGNORECASE)
MOST_NAMED = 12


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
        raise UsageError("the sheet is not an Excel file", file=file, expected="a name that ends in .xlsx")
    for item in files.values():
        if item.exists():
            raise UsageError("a file of this name is there already", file=item, do="name another sheet")
    items, too_long = _items(dataset, split, per_task, seed)
    if not items:
        raise InputError(f"the {split} split has no row that a sheet can hold", file=dataset.folder)
    # Not digits alone: a spreadsheet would take it for a number.
    names = [f"i{stable_hash(seed, 'sheet item', row['id']):016x}"[:12] for row in items]
    rows = [{**row, "item": name} for row, name in zip(items, names, strict=True)]
    private_directory(file.parent)
    write_sheet(file, _sheet(rows))
    key = ({"item": row["item"], "id": row["id"], "text": _mark(row)} for row in rows)
    write_cells(files["key"], KEY, key)
    by_task = Counter(row["task"] for row in items)
    paths = {name: str(path) for name, path in files.items()}
    return {"items": len(items), "by_task": dict(sorted(by_task.items())), "too_long": too_long, **paths}


def _mark(row: Mapping[str, str]) -> str:
    return text_mark([row["input"]]) + text_mark([row["output"]])


def _items(dataset: TextDataset, split: Split, per_task: int, seed: int) -> tuple[list[dict[str, Any]], int]:
    """Draw the items: by task, from the levels in turn, each by the lowest hash of an input that has none yet."""
    piles: dict[str, dict[int, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    too_long = 0
    for row in dataset.rows(split):
        # A line end and an apostrophe in front may be added.
        if max(len(row[name]) for name in ITEM_COLUMNS[1:]) >= MOST_CHARACTERS:
            too_long += 1
        else:
            piles[row["task"]][row["risk_level"]].append(row)
    chosen = [row for levels in piles.values() for row in _drawn(levels, per_task, seed)]
    return sorted(chosen, key=lambda row: stable_hash(seed, "sheet order", row["id"])), too_long


def _drawn(levels: Mapping[int, list[dict[str, Any]]], per_task: int, seed: int) -> list[dict[str, Any]]:
    def order(row: Mapping[str, Any]) -> tuple[int, str]:
        return stable_hash(seed, "sheet", row["id"]), row["id"]

    piles = {level: iter(sorted(rows, key=order)) for level, rows in sorted(levels.items())}
    chosen: dict[str, dict[str, Any]] = {}
    while piles and len(chosen) < per_task:
        for level, pile in list(piles.items()):
            row = next((row for row in pile if row["triple_id"] not in chosen), None)
            if row is None:
                del piles[level]
            elif len(chosen) < per_task:
                chosen[row["triple_id"]] = row
    return list(chosen.values())


def _sheet(rows: Sequence[Mapping[str, str]]) -> Sheet:
    names = [category["name"] for category in error_categories()]
    levels = [(f"{row['level']} ({row['risk']}): {row['action']}", row["means"]) for row in risk_levels()]
    errors = [(f"{row['name']} ({row['group']})", row["means"]) for row in error_categories()]
    paragraphs = INSTRUCTIONS.read_text(encoding="utf-8").format(errors=ERRORS).splitlines()
    choices = {
        "risk_level": (list(map(str, RISK_LEVELS)), "1, 2, 3 or 4"),
        "category": (f"=Lists!$A$1:$A${len(names)}", "One of the list; see the page Instructions"),
    }
    checks = []
    for column in FILLED:
        source, refusal = choices.get("category" if column.endswith("_category") else column, (None, None))
        if source:
            check = {"validate": "list", "source": source, "error_message": refusal}
            checks.append((column, 1, len(rows), check))
    return Sheet(
        page=RATINGS,
        widths={name: WIDTHS.get(name, 24) for name in COLUMNS},
        filled=FILLED,
        rows=[{name: row[name] for name in ITEM_COLUMNS} for row in rows],
        frozen=1,
        checks=checks,
        choices=names,
        guide=("Instructions", "How to grade", paragraphs, [(("Risk level",), levels), (("Error category",), errors)]),
        guide_first=True,
    )


@dataclass(frozen=True)
class SheetsRead:
    """What experts filled in.

    Attributes:
        ratings: columns of `RATING_SCHEMA`, one row for each rater and item of the sheet.
        notes: what a person should know, by file and row: items without a level, items that the sheet lacks, grades
            that contradict the errors named.
    """

    ratings: pl.DataFrame
    notes: tuple[str, ...]


def read_sheets(sheets: Sequence[Path], key: Path | None = None) -> SheetsRead:
    """Read filled sheets (.xlsx or .csv), one for each rater, whose name is the file's.

    Args:
        sheets: the files.
        key: their key; where left out, the only one in their folder.

    Raises:
        UsageError: the key is not known.
        InputError: a file is no sheet, or holds unknown or repeated items, texts of other items, levels that are none
            of 1 to 4, or categories outside the taxonomy; all are named by file and row.
    """
    known = _key_of(sheets, key)
    raters = Counter(sheet.stem for sheet in sheets)
    rows: list[dict[str, Any]] = []
    for sheet in sheets:
        if raters[sheet.stem] > 1:
            raise InputError("two sheets of one rater", file=sheet, expected="a different file name for each rater")
        filled = read_sheet(sheet, RATINGS, COLUMNS)[1]
        items = Counter(row["item"] for _, row in filled if row["item"])
        rows += [
            {"file": sheet.name, "number": number, **_rated(row, sheet.stem, known, items[row["item"]] > 1)}
            for number, row in filled
        ]
    rated = pl.DataFrame(rows, schema={**RATING_SCHEMA, **FILLED_SCHEMA})
    place = pl.format("{}, row {}: {}", "file", "number", "slips")
    slips = rated.explode("slips").drop_nulls("slips").select(place).to_series().to_list()
    if slips:
        more = f"; and {len(slips) - MOST_NAMED:,} more" if len(slips) > MOST_NAMED else ""
        raise InputError(
            f"{len(slips):,} {'slips' if len(slips) > 1 else 'slip'} in the experts' sheets",
            file=sheets[0].parent,
            found="; ".join(slips[:MOST_NAMED]) + more,
            do="mend the cells, with the rater where it is about a grade, and run again",
        )
    wanted = {row_id for row_id, _ in known.values()}
    notes = [note for sheet in sheets for note in _notes(rated.filter(file=sheet.name), sheet.name, wanted)]
    return SheetsRead(rated.select(*RATING_SCHEMA), tuple(notes))


def _key_of(sheets: Sequence[Path], key: Path | None) -> dict[str, tuple[str, str]]:
    """Read the key of filled sheets: by item the row's id and the mark of its texts.

    Raises:
        UsageError: the key is not named and not found, or there are several.
        InputError: it is no key.
    """
    if key is None:
        results = sorted({path for sheet in sheets for path in sheet.parent.glob(f"*{KEY_SUFFIX}")})
        if len(results) != 1:
            raise UsageError(
                "the key of the sheets is not known",
                found=f"{len(results)} files *{KEY_SUFFIX} beside the sheets",
                expected="one",
                do="name it: --sheet-key FILE",
            )
        key = results[0]
    try:
        return {row["item"]: (row["id"], row["text"]) for _, row in read_sheet(key, "", KEY)[1]}
    except (InputError, UsageError, OSError) as error:
        expected = "a CSV file with item, id and text"
        raise InputError("the key of the sheets cannot be read", file=key, expected=expected) from error


def _rated(row: Mapping[str, str], rater: str, known: Mapping[str, tuple[str, str]], twice: bool) -> dict[str, Any]:
    """Return the rating that a row of a filled sheet holds, and its ``slips``, which quote no text."""
    slips = ["an item that stands twice"] if twice else []
    row_id, mark = known.get(row["item"], ("", ""))
    if not row_id:
        slips.append("an item that is not in the key")
    elif _mark(row) != mark:
        slips.append("the texts are not those of the item")
    level = LEVEL.fullmatch(row["risk_level"])
    if row["risk_level"] and level is None:
        slips.append("a risk level that is none of 1, 2, 3 and 4")
    return {
        "id": row_id,
        "label": int(level[1]) if level else None,
        "errors": list(_errors(row, slips)),
        "explanation": row["comment"] or None,
        "outcome": "rated" if level else "not_rated",
        "model": rater,
        "slips": slips,
    }


def _errors(row: Mapping[str, str], slips: list[str]) -> Iterator[dict[str, str]]:
    for number in range(1, ERRORS + 1):
        name, words = row[f"error_{number}_category"], row[f"error_{number}_words"]
        category = category_of(name) if name else None
        if name and category is None:
            slips.append(f"the category of error {number} is outside the taxonomy")
        elif words and not name:
            slips.append(f"error {number} has words and no category")
        elif category is not None:
            yield {"category": category, "text": words}


def _notes(rated: pl.DataFrame, file: str, wanted: set[str]) -> Iterator[str]:
    level, named = pl.col("label"), pl.col("errors").list.len() > 0
    doubtful = {
        "no risk level": level.is_null(),
        "level 1 with an error named": (level == 1) & named,
        "level 3 or 4 without an error named": (level > 2) & ~named,
    }
    for what, which in doubtful.items():
        if numbers := rated.filter(which)["number"].to_list():
            display = ", ".join(map(str, numbers[:MOST_NAMED])) + (", ..." if len(numbers) > MOST_NAMED else "")
            yield f"{file}, row{'s' if len(numbers) > 1 else ''} {display}: {what}"
    if lacking := len(wanted - set(rated["id"])):
        yield f"{file}: {lacking:,} items of the key are not in the sheet"
