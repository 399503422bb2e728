"""A study's report at any moment: the paper-shaped tables of what is done, and the cells that are missing, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.markdown import percent_cell
from evaluation.paper import PAPER_COLUMNS
from ground.errors import InputError
from ground.markdown import harmless, markdown_table
from ground.storage.files import private_directory, write_text
from ontoground.studies.plan import Cell, Study, evaluation
from ontoground.studies.work import record_of, run_verb, state_of

__all__ = ["COLUMNS", "write_report"]

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "quadrants": PAPER_COLUMNS,
    "medhal": {"non_factual_precision": "Prec.", "non_factual_recall": "Rec.", "non_factual_f1": "F1"},
    "medval": {
        "macro_f1": "macro-F1, all rows",
        "kappa": "kappa",
        "unsafe_sensitivity": "Sens.",
        "unsafe_specificity": "Spec.",
        "unsafe_f1": "F1 unsafe",
    },
}
"""Metric and head of each column, by verb: those of the papers' main tables (MediEval Table 1, MedHal Table 6, MedVAL
Table 3)."""


def write_report(
    study: Study, cells: Sequence[Cell], workspace: Path, root: Path, *, hub: bool, say: Callable[[str], None]
) -> Path:
    """Write ``report/report.md`` of a study and a report of each evaluation below it; returns the file.

    Predictions are those that the cells made: nothing is asked of a model again.
    """
    folder = private_directory(root / "report")
    parts = [f"# {study.title}\n", *_states(cells)]
    for name, block in study.evaluate.items():
        own = [cell for cell in cells if cell.group == "evaluate" and cell.block == name]
        finished = [cell for cell in own if state_of(cell) == "done"]
        parts += [f"\n## {name}\n", *(_missing(own))]
        if finished:
            models = [word for cell in finished for word in ("--model", cell.model)]
            say(f"report {name}: {len(finished)} of {len(own)} cells")
            report = _evaluate([*evaluation(study, name, workspace), *models], folder / name, hub=hub)
            parts += [*_table(block.verb, report), f"\nAll numbers, tests and pictures: [{name}]({name}/report.md).\n"]
    file = folder / "report.md"
    write_text(file, harmless("\n".join(parts)))
    return file


def _evaluate(arguments: Sequence[str], out: Path, *, hub: bool) -> dict[str, Any]:
    ended = run_verb([*arguments, "--out", str(out)], hub=hub)
    if ended.returncode:
        raise InputError("a report of the study could not be made", file=out, do="see what its verb says above")
    return dict(json.loads((out / "report.json").read_text(encoding="utf-8")))


def _states(cells: Sequence[Cell]) -> Iterator[str]:
    states = [state_of(cell) for cell in cells]
    hours = sum(record["seconds"] for cell in cells if (record := record_of(cell))) / 3600
    yield f"{states.count('done')} of {len(cells)} cells are done, {hours:.1f} hours of work.\n"


def _missing(cells: Sequence[Cell]) -> Iterator[str]:
    missing = [(cell.name, _why(cell)) for cell in cells if state_of(cell) != "done"]
    if missing:
        yield markdown_table(["missing", "why"], missing, 2)


def _why(cell: Cell) -> str:
    record = record_of(cell)
    if record is None:
        return {"claimed": "being done", "waiting": "what it needs is not done"}.get(state_of(cell), "not yet done")
    error = record["error"]
    return f"failed: {error['what']}" if isinstance(error, dict) else f"failed with exit code {record['exit_code']}"


def _table(verb: str, report: Mapping[str, Any]) -> Iterator[str]:
    columns = COLUMNS[verb]
    rows: list[list[str]] = []
    for model in report["models"] if verb == "quadrants" else report["runs"]:
        numbers = model["metrics"] if verb == "quadrants" else model["overall"]
        rows.append([model["name"], *(percent_cell(numbers[name]) if name in numbers else "–" for name in columns)])
        if paper := model.get("paper"):
            rows.append([f"the paper's ({paper['source']})", *(percent_cell(paper["metrics"][n]) for n in columns)])
    yield markdown_table(["in percent", *columns.values()], rows, 1)
