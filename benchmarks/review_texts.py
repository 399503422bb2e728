"""Draw samples of MedHal or MedVAL rows for readers: a sheet, and the text that each row is to be read against.

The draw depends on the seed and the rows' ids only. MedHal: rows of each source and label; MedVAL: rows of each task
and risk level. What is written may hold note text: the repository is refused.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import pyarrow.dataset as ds

from benchmarks.command import parser, run
from benchmarks.review_sample import check_place
from ground.errors import InputError
from ground.stable import stable_hash
from ground.storage.files import atomic_directory
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
    """Return rows of each stratum, those with the lowest ``stable_hash(seed, 'review', id)`` first.

    Raises:
        InputError: the folder holds no dataset.
    """
    files = sorted((dataset / "data").glob("*.parquet"))
    if not files:
        raise InputError("there is no dataset here", file=dataset, expected="data/*.parquet")
    source = ds.dataset([str(file) for file in files])
    keys = source.to_table(columns=["id", *STRATA[kind]]).to_pylist()
    ranked: dict[tuple[Any, ...], list[tuple[int, str]]] = {}
    for key in keys:
        stratum = tuple(key[name] for name in STRATA[kind])
        ranked.setdefault(stratum, []).append((stable_hash(seed, "review", key["id"]), key["id"]))
    chosen = {row_id: rank for found in ranked.values() for rank, row_id in sorted(found)[:per_stratum]}
    rows = source.to_table(columns=list(READ[kind]), filter=ds.field("id").isin(sorted(chosen))).to_pylist()
    return sorted(rows, key=lambda row: (*(row[name] for name in STRATA[kind]), chosen[row["id"]], row["id"]))


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
    with atomic_directory(output) as folder:
        with (folder / "review.csv").open("w", encoding="utf-8", newline="") as file:
            sheet = csv.DictWriter(file, SHEETS[kind])
            sheet.writeheader()
            for number, row in enumerate(rows):
                text = row[TEXTS[kind]]
                name = f"{number:04d}.txt" if text else ""
                if name:
                    (folder / name).write_text(text, encoding="utf-8", newline="")
                errors = {"errors": _errors(row["errors"])} if kind == "medval" else {}
                line = {column: row.get(column) for column in SHEETS[kind]}
                sheet.writerow(line | errors | {TEXTS[kind]: name})
        for path in folder.iterdir():
            path.chmod(0o600)
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
