"""A study's report at any moment: the paper-shaped tables of what is done, and the cells that are missing, by name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.markdown import UNDEFINED, estimate_cell, percent_cell
from evaluation.paper import PAPER_COLUMNS
from ground.errors import InputError
from ground.markdown import harmless, markdown_table
from ground.storage.files import private_directory, write_text
from ontoground.cli.runs import short_name
from ontoground.studies.plan import AskBlock, Block, Cell, EvaluateBlock, Study, reported
from ontoground.studies.work import record_of, run_verb, state_of

__all__ = ["write_report"]

DETECTION = {"non_factual_precision": "P", "non_factual_recall": "R", "non_factual_f1": "F1"}
EXPLANATION = {"bleu": "BLEU", "rouge1": "R1", "rouge2": "R2", "n": "N"}
SAFETY = {
    "unsafe_sensitivity": "Sensitivity",
    "unsafe_specificity": "Specificity",
    "unsafe_f1": "F1 unsafe",
    "safety_accuracy": "Accuracy",
}
OF_TASKS = {
    "all": "Mean over tasks",
    "in_distribution": "Tasks of training",
    "held_out": "Other tasks",
    "macro_f1": "Overall",
    "kappa_linear": "Linear kappa",
}
PICTURES = ("lambda.png", "f1_by_quadrant.png", "overall.png", "f1_by_task.png", "scores.png")
"""Of an evaluation's report, those that the study's shows, too."""

Estimate = Mapping[str, Any]
Numbers = Mapping[str, Estimate]


def write_report(
    study: Study, cells: Sequence[Cell], workspace: Path, root: Path, *, hub: bool, say: Callable[[str], None]
) -> Path:
    """Write ``report/report.md`` of a study and a report of each evaluation below it; returns the file.

    Predictions are those that the cells made: nothing is asked of a model again.
    """
    folder = private_directory(root / "report")
    parts = [f"# {study.title}\n", _states(cells)]
    blocks: dict[str, Block] = {**study.train, **study.evaluate, **study.ask}
    for name, block in blocks.items():
        own = [cell for cell in cells if cell.block == name]
        finished = [cell for cell in own if state_of(cell) == "done"]
        out = folder / name
        body: Iterable[str] = ()
        if isinstance(block, EvaluateBlock):
            say(f"report {name}: {len(finished)} of {len(own)} cells")
            found = _evaluated(study, name, finished, workspace, out, hub=hub) if finished else {}
            made = _quadrants if block.verb == "quadrants" else _texts
            body = [*made(block, own, found), *_changes(own, found, block)]
        elif isinstance(block, AskBlock):
            body = _asked(block, own, workspace, out, hub=hub)
        elif own[0].arguments[1] == "grpo":
            body = _arms(own, block, folder)
        else:
            continue
        parts += [f"\n## {name}\n", *body, *_missing(own), *_pictures(out, folder)]
    file = folder / "report.md"
    write_text(file, harmless("\n".join(parts)))
    return file


def _states(cells: Sequence[Cell]) -> str:
    done = [record for cell in cells if state_of(cell) == "done" and (record := record_of(cell))]
    hours = sum(record["seconds"] for record in done) / 3600
    return f"{len(done)} of {len(cells)} cells are done, {hours:.2f} hours of work. Numbers are in percent.\n"


def _missing(cells: Sequence[Cell]) -> Iterator[str]:
    missing = [(cell.name, _why(cell)) for cell in cells if state_of(cell) != "done"]
    if missing:
        yield "\n" + markdown_table(["missing", "why"], missing, 2)


def _why(cell: Cell) -> str:
    record = record_of(cell)
    if record is None:
        return {"claimed": "being done", "waiting": "what it needs is not done"}.get(state_of(cell), "not yet done")
    error = record["error"]
    return f"failed: {error['what']}" if isinstance(error, dict) else f"failed with exit code {record['exit_code']}"


def _pictures(out: Path, folder: Path) -> Iterator[str]:
    for name in PICTURES:
        if (out / "figures" / name).is_file():
            yield f"\n![{name}]({os.path.relpath(out / 'figures' / name, folder)})"
    if (out / "report.md").is_file():
        yield f"\nAll numbers, tests and pictures: [{out.name}]({out.name}/report.md).\n"


def _verb(arguments: Sequence[str], *, hub: bool) -> dict[str, Any]:
    ended = run_verb([*arguments, "--json"], hub=hub)
    answer = json.loads(ended.stdout or b"{}")
    if ended.returncode:
        raise InputError("a report of the study could not be made", found=answer.get("error", {}).get("what"))
    return dict(answer)


def _evaluated(
    study: Study, name: str, cells: Sequence[Cell], workspace: Path, out: Path, *, hub: bool
) -> dict[str, Any]:
    """Return one report on all of these cells; models that were asked come in by the answers that their cells kept."""
    sources: list[str] = []
    for cell in cells:
        if cell.option("--endpoint-model"):
            files = (record_of(cell) or {})["files"]
            sources += [word for file in files for word in ("--predictions", file)]
        else:
            sources += ["--model", cell.model]
    shared = ["evaluate", study.evaluate[name].verb, *reported(study, name, workspace)]
    _verb([*shared, *sources, "--out", str(out)], hub=hub)
    return dict(json.loads((out / "report.json").read_text(encoding="utf-8")))


def _quadrants(_block: EvaluateBlock, _cells: Sequence[Cell], report: Estimate) -> Iterator[str]:
    rows: list[list[str]] = []
    # The paper's own lambda is not in a name.
    swept = {point["model"]: f"{point['lambda']:g}" for point in report.get("lambda", ())}
    for model in report.get("models", ()):
        base, weight = model["name"].partition(", lambda")[0], swept.get(model["name"])
        name = f"{base}, lambda {weight}" if weight else model["name"]
        rows.append([name, *(percent_cell(model["metrics"][column]) for column in PAPER_COLUMNS)])
        if paper := model.get("paper"):
            own = (percent_cell(paper["metrics"][name]) for name in PAPER_COLUMNS)
            rows.append([f"the paper's ({paper['source']})", *own])
    if rows:
        yield markdown_table(["", *PAPER_COLUMNS.values()], rows, 1)


def _numbers(report: Estimate) -> dict[str, Numbers]:
    """Return all numbers of a report's runs by run: over all rows, of explanations, of each task."""
    return {
        run["name"]: {
            **{task: scores[report["rows"]["headline"]] for task, scores in run["by_task"].items()},
            **run["overall"],
            **run.get("explanation", {}),
            **run.get("over_tasks", {}),
        }
        for run in report.get("runs", ())
    }


def _texts(block: EvaluateBlock, cells: Sequence[Cell], report: Estimate) -> Iterator[str]:
    """Yield the tables of a report on texts: a row for each cell that is done, and below each the paper's."""
    found, named = _numbers(report), {_run_name(cell): cell.name for cell in cells}
    # Texts without levels are judged as a detector's; without a cell that is done the verb decides.
    tasks = {task: task for task in report["rows"]["by_task"]} if report else {}
    detectors = report.get("kind", block.verb) == "medhal"
    for columns in [DETECTION | EXPLANATION] if detectors else [tasks | OF_TASKS, SAFETY]:
        rows = []
        for cell in cells:
            if own := found.get(_run_name(cell)):
                rows.append([cell.name, *(_cell(name, own) for name in columns)])
            if paper := block.paper.get(cell.plain_name):
                rows.append([f"the paper's: {cell.plain_name}", *_of_paper(paper, columns)])
        others = [name for name in found if name not in named]
        rows += [[name, *(_cell(column, found[name]) for column in columns)] for name in others]
        if rows:
            yield markdown_table(["", *columns.values()], rows, 1)


def _run_name(cell: Cell) -> str:
    return cell.model if cell.option("--endpoint-model") else short_name(cell.model)


def _cell(name: str, numbers: Numbers) -> str:
    value = numbers.get(name)
    if name == "n":
        return f"{value:,}"
    if value is None:
        return UNDEFINED
    return estimate_cell(value) if name in EXPLANATION or name == "kappa_linear" else percent_cell(value)


def _of_paper(paper: Mapping[str, float], columns: Iterable[str]) -> Iterator[str]:
    for name in columns:
        plain = name in EXPLANATION or name == "kappa_linear"
        value = paper.get(name)
        yield UNDEFINED if value is None else f"{value:g}" if plain else f"{100 * value:.1f}"


def _changes(cells: Sequence[Cell], report: Estimate, block: EvaluateBlock) -> Iterator[str]:
    """Yield what training changed of F1, where the untrained model of a run is in the same report (MedHal, Table 7)."""
    found, rows = _numbers(report), []
    values = {
        cell: number["value"]
        for cell in cells
        if (own := found.get(_run_name(cell)))
        for number in [own["non_factual_f1"] if "non_factual_f1" in own else own["macro_f1"]]
        if number["value"] is not None
    }
    before = {cell.base_model: (cell, value) for cell, value in values.items() if not cell.needs}
    for cell, after in values.items():
        if cell.needs and cell.base_model in before:
            base, value = before[cell.base_model]
            old, new = (block.paper.get(own.plain_name, {}).get("non_factual_f1") for own in (base, cell))
            paper = UNDEFINED if old is None or new is None else f"{100 * (new - old):+.0f}"
            row = [cell.name, f"{100 * value:.1f}", f"{100 * after:.1f}", f"{100 * (after - value):+.1f}", paper]
            rows.append(row)
    if rows:
        heads = ["what training changed", "F1 before", "F1 after", "delta F1", "the paper's delta F1"]
        yield "\n" + markdown_table(heads, rows, 1)


def _arms(cells: Sequence[Cell], block: Block, folder: Path) -> Iterator[str]:
    """Yield right answers of GRPO's arms by set of labels, at the end and over the last evaluations of training."""
    rows: list[list[str]] = []
    pictures = []
    for cell in cells:
        found: dict[str, Any] = {"sets": {}}
        if state_of(cell) == "done":
            found = json.loads((cell.run / "comparison.json").read_text(encoding="utf-8"))
        paper = block.paper.get(cell.plain_name, {})
        for name, results in found["sets"].items():
            for policy, share in results["accuracy"].items():
                last = found["curves"].get(name, {}).get(policy)
                known = paper.get(f"{name} {policy}")
                own = [percent_cell(share), percent_cell(last["last"]) if last else UNDEFINED]
                rows.append([cell.name, name, policy, *own, UNDEFINED if known is None else f"{100 * known:.1f}"])
        if not found["sets"]:
            rows += [[f"the paper's: {cell.plain_name}", key, *[""] * 3, f"{100 * x:.1f}"] for key, x in paper.items()]
        if (cell.run / "curve.png").is_file():
            pictures.append(f"\n![{cell.name}]({os.path.relpath(cell.run / 'curve.png', folder)})")
    if rows:
        yield markdown_table(["", "labels", "policy", "right", "mean of the last evaluations", "the paper's"], rows, 3)
    yield from pictures


def _asked(block: AskBlock, cells: Sequence[Cell], workspace: Path, out: Path, *, hub: bool) -> Iterator[str]:
    """Yield a board of each benchmark under two sets of labels, or policies compared by a regression under one."""
    finished = [cell for cell in cells if state_of(cell) == "done"]
    place = ["--workspace", str(workspace)]
    if len(block.labels) == 2:
        yield from _boards(finished, block.labels, place, out, hub=hub)
        return
    answered: dict[str, set[str]] = {}
    for cell in finished:
        answered.setdefault(cell.option("--name") or "", set()).add(cell.option("--benchmark") or "")
    # At any moment: what all that have answered at all have answered.
    policies, benchmarks = list(answered), sorted(set.intersection(*answered.values())) if answered else []
    if len(policies) > 1 and benchmarks:
        named = [word for policy in policies for word in ("--policy", policy)]
        of = [word for name in benchmarks for word in ("--benchmark", f"{name}:{block.labels[0]}")]
        files = [word for cell in finished for word in ("--file", str(cell.run))]
        found = _verb(["steward", "effect", *place, *named, *of, *files], hub=hub)
        yield from _effect(found, policies, block.paper)


def _boards(
    finished: Sequence[Cell], labels: Sequence[str], place: Sequence[str], out: Path, *, hub: bool
) -> Iterator[str]:
    before, after = labels
    sides = ["--before", before, "--after", after, "--missing", "leave_out", "--answers", "tagged"]
    for benchmark in dict.fromkeys(cell.option("--benchmark") or "" for cell in finished):
        files = [str(cell.run) for cell in finished if (cell.option("--benchmark") or "") == benchmark]
        of = ["--benchmark", benchmark] if benchmark else []
        folder = private_directory(out / (benchmark or "board"))
        _verb(["steward", "board", *files, *place, *of, *sides, "--out", str(folder)], hub=hub)
        yield _without_title((folder / "board.md").read_text(encoding="utf-8"), os.path.relpath(folder, out.parent))


def _without_title(page: str, where: str) -> str:
    return page.partition("\n")[2].replace("](board.png)", f"]({where}/board.png)")


def _effect(found: Estimate, policies: Sequence[str], paper: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    shares = {(cell["benchmark"], cell["temperature"], cell["policy"]): cell["accuracy"] for cell in found["cells"]}
    rows = [
        [benchmark, heat, *(percent_cell({"value": shares.get((benchmark, heat, name))}) for name in policies)]
        for benchmark, heat in dict.fromkeys((cell["benchmark"], cell["temperature"]) for cell in found["cells"])
    ]
    yield markdown_table(["benchmark", "temperature", *policies], rows, 2)
    effects = [(own["policy"], percent_cell(own), f"{own['p']:.2g}", f"{own['n']:,}") for own in found["effects"]]
    heads = ["policy", f"less {policies[0]}, points (95%)", "p", "responses"]
    yield "\n" + markdown_table(heads, effects, 1)
    known = [(name, key, f"{100 * value:.1f}") for name, row in paper.items() for key, value in row.items()]
    if known:
        yield "\n" + markdown_table(["the paper's", "benchmark", "right"], known, 2)
