"""Benchmarks that the tests of sheets share: scores (numbers, dates, weeks), and statements with quadrants."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from stewardship.adjudication.triage import triage
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import LabelTable
from stewardship.sheets.display import answer_kinds, displays_of
from stewardship.sheets.writing import Written, write_batch

QUADRANTS = ("Q1", "Q2", "Q3", "Q4")
CALCULATORS = (
    ("Maintenance Fluids", "dosage", "decimal", "What is the patient's maintenance fluid in mL/hr?"),
    ("Sleepiness Score", "risk", "integer", "What is the patient's sleepiness score?"),
    ("Due Date", "date", "date", "What is the due date? M/D/Y"),
    ("Gestational Age", "date", "integer", "What is the gestational age? Say the number of weeks and days."),
)


def label_of(number: int) -> str:
    """A published label that stands nowhere in the notes."""
    return (
        f"{8100 + number}.25",
        str(70100 + number),
        f"07/{1 + number % 28:02d}/1999",
        f"('{40 + number} weeks', '3 days')",
    )[number % 4]


def scores(workspace: Path, rows: int = 40, *, long: int = 0) -> Benchmark:
    """Numbers, dates, and weeks; of each calculator every tenth label abstains. ``long`` repeats the notes."""
    results = []
    for number in range(rows):
        name, category, kind, question = CALCULATORS[number % 4]
        note = f"- A patient of age {number} came with a cough. " + "He felt well, and slept at night. " * long
        results.append(
            {
                "uid": f"row-{number}",
                "stratum": name,
                "stratum_id": str(number % 4),
                "category": category,
                "output_type": kind,
                "context": note,
                "question": question,
                "features": "{'weight': 'FEATURE'}",
                "derivation": "DERIVATION",
                "original": "N/A" if number % 10 == 9 else label_of(number),
                "recomputed": "N/A" if number % 10 == 8 else label_of(number + 4),
            }
        )
    frame = pl.DataFrame(results, schema=dict.fromkeys(results[0], pl.String))
    table = LabelTable(frame, "named", workspace / "labels.csv", "0" * 64)
    return Benchmark.adopt(workspace, "scores", [table], open_because="invented")


def statements(workspace: Path, rows: int = 80) -> Benchmark:
    """Statements with quadrants: two rows of each context, five relations."""
    results = [
        {
            "uid": f"s{number:03d}",
            "stratum": f"relation-{number * 7 % 5}",
            "category": None,
            "context": f"A note about patient {number // 2}, who was seen.",
            "question": f"Statement: drug {number} treats illness {number % 9}. Which quadrant?",
            "original": QUADRANTS[number % 4],
        }
        for number in range(rows)
    ]
    frame = pl.DataFrame(results, schema=dict.fromkeys(results[0], pl.String))
    table = LabelTable(frame, "named", workspace / "rows.parquet", "1" * 64)
    return Benchmark.adopt(workspace, "statements", [table], open_because="invented", categories=QUADRANTS)


def ranked(benchmark: Benchmark) -> pl.DataFrame:
    """The list that triage makes of a benchmark."""
    history = benchmark.history
    return triage(history.labels("original"), history.labels("recomputed"))


def written(benchmark: Benchmark, pairs: list[tuple[str, str]], name: str = "sheets-1", **changed: object) -> Written:
    """Sheets of some rows, blind where nothing else is said."""
    kinds = answer_kinds(benchmark, benchmark.history.labels("original"))
    options = {"kind": "blind", "drawn": "sampled", "blind": True, "seed": 42, **changed}
    display = displays_of(benchmark, [uid for uid, _ in pairs])
    return write_batch(benchmark, pairs, display, kinds, name=name, **options)  # type: ignore[arg-type]
