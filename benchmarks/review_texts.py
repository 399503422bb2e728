"""Draw samples of MedHal or MedVAL rows for readers: a sheet, and the text that each row is to be read against.

The draw depends on the seed and the rows' ids only. MedHal: rows of each source and label; MedVAL: rows of each task
and risk level. What is written may hold note text: the repository is refused.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any, Literal

from benchmarks.command import parser, run
from benchmarks.review_sample import check_place, draw, write_sheet
from ontoground.cli.render import console

__all__ = ["SHEETS", "draw_texts", "main", "write_texts"]

Kind = Literal["medhal", "medval"]
# Of each kind: what a stratum is, what stands in the sheet, and what is written to a file of its own.
STRATA: dict[Kind, tuple[str, str]] = {"medhal": ("source", "label"), "medval": ("task", "risk_level")}
READ: dict[Kind, tuple[str, ...]] = {
    "medhal": ("id", "source", "task", "label", "statement", "explanation", "context"),
    "medval": (
        "id",
        "source",
        "task",
        "risk_level",
        "instruction",
        "output",
        "errors",
        "reasoning",
        "variant",
        "input",
    ),
}
TEXTS: dict[Kind, str] = {"medhal": "context", "medval": "input"}
SHEETS: dict[Kind, tuple[str, ...]] = {
    kind: (*(name for name in READ[kind] if name != TEXTS[kind]), TEXTS[kind], "verdict", "reason", "reader")
    for kind in READ
}


def draw_texts(dataset: Path, kind: Kind, seed: int, per_stratum: int) -> list[dict[str, Any]]:
    """Return rows of each stratum, as `draw` does."""
    return draw(dataset, seed, per_stratum, READ[kind], STRATA[kind])


def _errors(errors: list[dict[str, Any]]) -> str:
    return "; ".join(f"{error['category']}: {error['text']}" for error in errors) or "None"


def write_texts(dataset: Path, kind: Kind, output: Path, seed: int, per_stratum: int) -> Counter[str]:
    """Write ``review.csv`` and one text file a row, into a folder of mode 0700; return rows by stratum.

    Raises:
        RefusedError: the output lies in the repository.
        UsageError: the output folder holds something.
        InputError: there is no dataset.
    """
    check_place(output)
    rows = draw_texts(dataset, kind, seed, per_stratum)
    lines, texts = [], {}
    for number, row in enumerate(rows):
        name = f"{number:04d}.txt" if row[TEXTS[kind]] else ""
        if name:
            texts[name] = row[TEXTS[kind]]
        errors = {"errors": _errors(row["errors"])} if kind == "medval" else {}
        line = {column: row.get(column) for column in SHEETS[kind]}
        lines.append(line | errors | {TEXTS[kind]: name})
    write_sheet(output, SHEETS[kind], lines, texts)
    return Counter(" ".join(str(row[name]) for name in STRATA[kind]) for row in rows)


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser(
        "review_texts", __doc__ or "", "python -m benchmarks.review_texts medhal work/datasets/medhal ~/review --seed 3"
    )
    options.add_argument("kind", choices=tuple(READ), help="what the dataset holds")
    options.add_argument("dataset", type=Path, help="the dataset folder")
    options.add_argument("output", type=Path, help="a new folder; it is made readable by you only")
    options.add_argument("--seed", type=int, required=True, help="seed of the draw; keep it with the verdicts")
    options.add_argument("--rows", type=int, default=15, help="rows of each stratum (default 15)")
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Draw, write, and say how many rows of each stratum there are."""
    arguments = _arguments(values)
    drawn = write_texts(arguments.dataset, arguments.kind, arguments.output, arguments.seed, arguments.rows)
    counts = ", ".join(f"{stratum} {n}" for stratum, n in sorted(drawn.items()))
    console().print(f"seed {arguments.seed}: {counts}; sheet: {arguments.output / 'review.csv'}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    run(main)
