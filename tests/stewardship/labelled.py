"""An invented benchmark in the layout of MedCalc-Bench: nine rows, two of them reviewed, one deferred."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from stewardship.adjudication.finalise import final_events, finalise
from stewardship.adjudication.standing import standing
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import read_label_table

__all__ = ["GCS", "MME", "adopted", "finalised", "tables"]

GCS, MME = "Glasgow Coma Score (GCS)", "Morphine Milligram Equivalents (MME) Calculator"
EYES = "{'Best eye response': 'eyes open spontaneously', 'Best verbal response': 'confused', "
DOSE = "{'Methadone Dose': [40, 'mg'], 'Methadone Dose Per Day': [1, 'per day']}"
ROWS = [
    # uid, calculator, name, type, features, original, recomputed, physician
    ("1", "21", GCS, "integer", EYES + "'Best motor response': 'obeys commands'}", "17", "13", "13"),
    ("2", "21", GCS, "integer", EYES + "'Best motor response': 'localizes pain'}", "17", "12", None),
    ("3", "21", GCS, "integer", EYES + "'Best motor response': 'obeys commands'}", "18", None, None),
    ("4", "6", "Body Mass Index (BMI)", "decimal", "{}", "24.5", "24.5", None),
    ("5", "6", "Body Mass Index (BMI)", "decimal", "{}", "31", "N/A", None),
    ("6", "13", "Estimated Due Date", "date", "{}", "03/21/2006", "03/15/2006", None),
    ("7", "69", "Estimated Gestational Age", "integer", "{}", "('14 weeks', '1 days')", "99", None),
    ("8", "49", MME, "decimal", DOSE, "372", "504", None),
    ("9", "49", MME, "decimal", DOSE, "704", "1434", "704"),
]


def tables(folder: Path) -> tuple[Path, Path]:
    """Write the labels as published and the sheet of phase 3."""
    folder.mkdir(parents=True, exist_ok=True)
    published: list[dict[str, str | None]] = [
        {
            "Unique ID": uid,
            "Calculator ID": number,
            "Calculator Name": name,
            "Category": "any",
            "Output Type": kind,
            "Patient Note": f"SECRET note of {uid}",
            "Question": f"What is the {name}?",
            "Relevant Entities": features,
            "Ground Truth Answer": original,
            "Lower Limit": original,
            "Upper Limit": original,
            "Ground Truth Explanation": "SECRET steps",
        }
        for uid, number, name, kind, features, original, _, _ in ROWS
    ]
    sheet: list[dict[str, str | None]] = [
        {
            "uid": uid,
            "Calculator Name": name,
            "Patient Note": f"SECRET note of {uid}",
            "Question": f"What is the {name}?",
            "Relative Error (min)": None,
            "y_orig": original,
            "y_new": recomputed,
            "y* (Physician label)": physician,
            "Physician Note (Optional)": "SECRET comment" if physician else None,
        }
        for uid, _, name, _, _, original, recomputed, physician in ROWS
        if recomputed is not None
    ]
    files = folder / "labels.csv", folder / "sheet.csv"
    for file, rows in zip(files, (published, sheet), strict=True):
        pl.DataFrame(rows, infer_schema_length=None).write_csv(file)
    return files


def adopted(workspace: Path) -> Benchmark:
    """Take the benchmark up."""
    return Benchmark.adopt(
        workspace, "bench", [read_label_table(file) for file in tables(workspace / "given")], open_because="invented"
    )


def finalised(benchmark: Benchmark) -> str:
    """Add final labels, the physician's before the recomputed, and return the batch."""
    labels, history = standing(benchmark), benchmark.history
    result = finalise(labels.settled, labels.physician, policy="physician")
    return history.append(final_events(history, result, "physician"))
