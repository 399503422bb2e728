"""Sheets written for raters, as Excel and CSV: single-blind, in an order that tells nothing, the same bytes each time.

What the sheets do not show is not in them: no hidden page, column, name, comment or property holds a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.errors import UsageError
from ground.spreadsheet import Sheet, text_mark, write_sheet
from ground.stable import stable_hash
from ground.storage.files import private_directory
from stewardship.benchmark.folder import Benchmark
from stewardship.sheets.batch import NAME, SHEETS, AnswerKind, BatchKind, Item, SheetBatch, item_name, keys_of
from stewardship.sheets.cells import VERDICTS
from stewardship.sheets.display import Display
from stewardship.sheets.guidance import HINTS, guidance
from stewardship.sheets.layout import FILLED, Layout, holds, layout_of, lines_of

__all__ = ["ANSWERS", "Written", "free_name", "write_batch"]


@dataclass(frozen=True)
class Written:
    """Sheets that were written.

    Attributes:
        too_long: rows whose question no cell can hold: on no sheet.
        continued: rows whose context goes on in further cells.
    """

    batch: SheetBatch
    key: Path
    sheets: Mapping[str, tuple[Path, Path]]
    too_long: int
    continued: int


def free_name(benchmark: Path, kind: str) -> str:
    """Return the next name of a batch of a kind, as ``sheets-2``."""
    taken = {file.stem for file in keys_of(benchmark)}
    stem = {"blind": "sheets", "sample": "sample", "adjudication": "adjudicate", "spot_check": "spot-check"}[kind]
    return next(name for number in range(1, len(taken) + 2) if (name := f"{stem}-{number}") not in taken)


def write_batch(
    benchmark: Benchmark,
    pairs: Sequence[tuple[str, str]],
    displays: Mapping[str, Display],
    expects: Mapping[str, AnswerKind],
    *,
    name: str,
    kind: BatchKind,
    drawn: str,
    blind: bool,
    seed: int,
    out: Path | None = None,
) -> Written:
    """Write a sheet for each rater, and the key into the benchmark's folder.

    Args:
        pairs: (uid, rater).
        expects: what belongs into each row's answer cell.
        drawn: how the rows were drawn.
        blind: whether neither a label nor what it rests on is shown.
        out: folder of the sheets; ``{benchmark}/sheets/{name}`` where left out.

    Raises:
        UsageError: a batch of this name was written before, it is no name, or a file that would be written is there.
    """
    if any(file.stem == name for file in keys_of(benchmark.folder)):
        raise UsageError("a batch of sheets of this name is there already", found=name, do="name another with --name")
    if not NAME.fullmatch(name):
        raise UsageError("this cannot be the name of sheets", found=name, expected="1 to 40 letters, digits, - and _")
    kept = [pair for pair in pairs if holds(displays[pair[0]])]
    too_long = {uid for uid, _ in pairs} - {uid for uid, _ in kept}
    if not kept:
        raise UsageError("no row for a sheet", found=f"{len(too_long)} with a question that no cell can hold")
    items = _items(benchmark, kept, displays, expects, name, seed)
    batch = SheetBatch(name=name, kind=kind, drawn=drawn, blind=blind, seed=seed, items=tuple(items))
    folder = out or benchmark.folder / SHEETS / name
    files = {rater: (folder / f"{name}-{rater}.xlsx", folder / f"{name}-{rater}.csv") for rater in batch.raters}
    if out is not None and (there := [file for pair in files.values() for file in pair if file.exists()]):
        raise UsageError("a file of this name is there already", file=there[0], do="name another folder with --out")
    private_directory(folder)
    # One layout for all raters: a sheet's columns tell nothing of its rows.
    layout = layout_of([displays[item.uid] for item in items], kind)
    for rater, (excel, _) in files.items():
        own = [item for item in items if item.rater == rater]
        rows = [layout.row(item.item, displays[item.uid]) for item in own]
        expected = [item.expects for item in own]
        write_sheet(excel, _sheet(layout, rows, expected, kind, blind=blind, names=benchmark.categories))
    # Last: sheets without a key count as never written.
    key = batch.save(benchmark.folder)
    continued = {item.uid for item in items if layout.pieces(displays[item.uid].context, "context") > 1}
    return Written(batch, key, files, len(too_long), len(continued))


def _items(
    benchmark: Benchmark,
    pairs: Sequence[tuple[str, str]],
    displays: Mapping[str, Display],
    expects: Mapping[str, AnswerKind],
    name: str,
    seed: int,
) -> list[Item]:
    items = [
        Item(
            item=item_name(seed, benchmark.name, name, rater, uid),
            uid=uid,
            rater=rater,
            expects=expects[uid],
            question=text_mark([displays[uid].question]),
            context=text_mark([displays[uid].context]),
        )
        for uid, rater in pairs
    ]
    # Each rater's sheet in an order of its own: what comes late is read with less care, and not the same by all.
    return sorted(items, key=lambda item: (item.rater, stable_hash(seed, "sheet order", name, item.rater, item.uid)))


ANSWERS = "Answers"
POINTS_A_LINE = 13.5
MOST_POINTS = 409.0
LEAST_LINES = 5


def _sheet(
    layout: Layout,
    rows: Sequence[Mapping[str, str]],
    expects: Sequence[AnswerKind],
    kind: BatchKind,
    *,
    blind: bool,
    names: Sequence[str],
) -> Sheet:
    widths = {name: layout.width(name) for name in layout.columns}
    lines = [max((lines_of(text, widths[name]) for name, text in row.items()), default=1) for row in rows]
    paragraphs, table = guidance(kind, blind=blind, expects=expects, categories=names)
    head = ("Answer", "Means" if names or kind == "spot_check" else "Is written")
    return Sheet(
        page=ANSWERS,
        widths=widths,
        filled=FILLED,
        rows=rows,
        frozen=len(layout.left),
        heights=[min(MOST_POINTS, POINTS_A_LINE * max(count, LEAST_LINES) + 4) for count in lines],
        checks=[("answer", row, row, _check(expected, names)) for row, expected in enumerate(expects, start=1)],
        text="answer",
        guide=("How to answer", "How to answer", paragraphs, [(head, table)]),
    )


def _check(expected: AnswerKind, names: Sequence[str]) -> dict[str, Any]:
    hint = {"input_title": "Answer", "input_message": f"{HINTS[expected]} Empty: not reviewed."}
    if expected not in ("category", "verdict"):
        return {"validate": "any", **hint}
    source = [*names, "N/A"] if expected == "category" else list(VERDICTS)
    refusal = {"error_title": "Answer", "error_message": f"One of {', '.join(source)}"[:255]}
    return {"validate": "list", "source": source, **hint, **refusal}
