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
            parts += [
                *_table(block.verb, report),
                *_changes(block.verb, finished),
                f"\nAll numbers, tests and pictures: [{name}]({name}/report.md).\n",
            ]
    for name, trained in study.train.items():
        arms = [cell for cell in cells if cell.group == "train" and cell.block == name and trained.verb == "grpo"]
        parts += [f"\n## {name}\n", *_missing(arms), *_arms(arms)] if arms else []
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


def _changes(verb: str, cells: Sequence[Cell]) -> Iterator[str]:
    """Yield what training changed of F1, where the untrained model of a run is in the same report (MedHal, Table 7)."""
    if verb == "quadrants":
        return
    metric = "non_factual_f1" if verb == "medhal" else "macro_f1"
    values = {}
    for cell in cells:
        report = json.loads((cell.run / "report.json").read_text(encoding="utf-8"))
        # Texts without levels are judged as a detector's.
        own = report["runs"][0]["overall"]
        values[cell.name] = (cell.base_model, own.get(metric, own.get("non_factual_f1"))["value"], bool(cell.needs))
    before = {model: value for model, value, trained in values.values() if not trained}
    rows = [
        (name, percent_cell(before[model]), percent_cell(value), f"{100 * (value - before[model]):+.1f}")
        for name, (model, value, trained) in values.items()
        if trained and value is not None and before.get(model) is not None
    ]
    if rows:
        yield "\n" + markdown_table(["what training changed", "F1 before", "F1 after", "delta F1"], rows, 1)


def _arms(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield right answers of GRPO's arms by set of labels, at the end and over the last evaluations of training."""
    rows: list[list[str]] = []
    for cell in cells:
        file = cell.run / "comparison.json"
        if state_of(cell) != "done" or not file.is_file():
            continue
        found = json.loads(file.read_text(encoding="utf-8"))
        for name, results in found["sets"].items():
            for policy, share in results["accuracy"].items():
                last = found["curves"].get(name, {}).get(policy)
                rows.append([cell.name, name, policy, percent_cell(share), percent_cell(last["last"]) if last else "–"])
    if rows:
        heads = ["in percent", "labels", "policy", "right", "mean of the last evaluations"]
        yield markdown_table(heads, rows, 3)
        pictures = [cell.run / "curve.png" for cell in cells if (cell.run / "curve.png").is_file()]
        yield "\n".join(f"\n![{file.parent.parent.name}](../{file.relative_to(file.parents[3])})" for file in pictures)


def _table(verb: str, report: Mapping[str, Any]) -> Iterator[str]:
    # Texts of other people without levels are judged as a detector's.
    columns = COLUMNS[report.get("kind", verb)]
    rows: list[list[str]] = []
    for model in report["models"] if verb == "quadrants" else report["runs"]:
        numbers = model["metrics"] if verb == "quadrants" else model["overall"]
        rows.append([model["name"], *(percent_cell(numbers[name]) if name in numbers else "–" for name in columns)])
        if paper := model.get("paper"):
            rows.append([f"the paper's ({paper['source']})", *(percent_cell(paper["metrics"][n]) for n in columns)])
    yield markdown_table(["in percent", *columns.values()], rows, 1)
