"""``ontoground study run|plan|report``: the cells of a paper's experiment, done one after another, and its tables."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ground.errors import InputError, OntogroundError, UsageError
from ontoground.cli.app import command_of, group_of
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import Blocks, note, relative, table, unfolded
from ontoground.cli.runs import run_settings

if TYPE_CHECKING:
    from ontoground.studies.plan import Cell, Study

__all__ = ["plan", "report", "run"]

group = group_of("study", ("run", "plan", "report"), usual="run")
StudyFile = Annotated[str, Argument(metavar="FILE", help="A study in TOML, or the name of one that ships")]


@dataclass(frozen=True)
class _Opened:
    study: Study
    root: Path
    cells: list[Cell]
    workspace: Path
    hub: bool


def _opened(file: str, options: InWorkspace) -> _Opened:
    """Read a study and its cells."""
    from ontoground.studies.plan import cells_of, file_of, read_study

    source = file_of(file)
    study = read_study(source)
    root = options.workspace / "studies" / source.stem
    cells = cells_of(study, options.workspace, root)
    hub = os.environ.get("HF_HUB_OFFLINE") == "0"
    return _Opened(study, root, cells, options.workspace, hub)


def _problems(opened: _Opened, card: float | None = None, but: Container[str] = frozenset()) -> list[OntogroundError]:
    """Return what one of a study's verbs would refuse, each once, ``but`` that some models are not here."""
    from ontoground.studies.work import state_of

    checks = [partial(_check_data, cell, opened.workspace) for cell in opened.cells]
    checks += [partial(_check_model, cell) for cell in opened.cells if cell.model not in but]
    open_cells = [cell for cell in opened.cells if state_of(cell) != "done"]
    found: dict[str, OntogroundError] = {}
    for check in (*checks, partial(_check_memory, open_cells, opened, card)):
        try:
            check()
        except OntogroundError as refusal:
            found.setdefault(str(refusal), refusal)
    return list(found.values())


def _of_hub(opened: _Opened) -> list[str]:
    """Return the models that are not here and can be fetched by their names."""
    names = []
    for cell in opened.cells:
        try:
            _check_model(cell)
        except InputError:
            if re.fullmatch(r"[\w-]+/[\w.-]+", cell.model) and not Path(cell.model).parent.exists():
                names.append(cell.model)
    return list(dict.fromkeys(names))


def _check_model(cell: Cell) -> None:
    from ground.lm.local import check_model
    from training.encoder.pretrained import resolve_model

    if not (cell.needs or cell.option("--endpoint")):
        check_model(resolve_model(cell.model))


def _check_data(cell: Cell, workspace: Path) -> None:
    """Parse a cell's arguments as its verb would, and look for the data that they name."""
    from evaluation.foreign import LAYOUTS
    from ground.storage.foreign import path_and_word

    given, name = _parsed(cell), cell.arguments[1]
    if cell.group == "train":
        _check_settings(name, given["overrides"] or ())
    if name in ("grpo", "ask"):
        _check_labels(cell, workspace, given)
        return
    texts = given.get("texts")
    kind = name if name in ("medhal", "medval") else "medieval"
    dataset = given.get("dataset") or given.get("reference") or workspace / "datasets" / kind
    if not Path(dataset).is_dir() and not (texts and not given.get("shots")):
        raise UsageError("the dataset is not there", file=dataset, do="build it, or name another one in the study")
    if texts is not None and not Path(path_and_word(path_and_word(texts, ("open",))[0], LAYOUTS)[0]).exists():
        raise UsageError("texts of an evaluation are not there", file=texts, do="put them there, or name others")


def _check_labels(cell: Cell, workspace: Path, given: Mapping[str, Any]) -> None:
    from stewardship.benchmark.folder import Benchmark
    from stewardship.grading.grades import label_set

    benchmark = Benchmark.open(workspace, given["benchmark"])
    arms = given.get("arms") or (() if cell.labels else ("original", "recomputed"))
    for named in (*arms, *(given.get("evaluate") or ()), *cell.labels):
        other, _, labels = named.rpartition(":")
        label_set(Benchmark.open(workspace, other) if other else benchmark, labels)


def _check_memory(cells: Sequence[Cell], opened: _Opened, card: float | None) -> None:
    """Refuse a cell that cannot fit a card of so many GiB, or this machine's, as far as it is known what it takes."""
    from ontoground.studies.rehearsal import forecast

    known = [(ahead.gib, cell) for cell in cells if (ahead := forecast(cell, opened.cells, opened.root)).gib]
    largest, cell = max(known, key=lambda pair: pair[0] or 0, default=(None, None))
    if largest is None or cell is None or (card is None and find_spec("torch") is None):
        return
    room = card
    if room is None:
        from training.runs.memory import card_memory

        # In a process of its own: what asks a card holds some of its memory as long as it lives.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            room = pool.submit(card_memory).result() / 2**30
    if room and largest > room:
        found = f"{cell.block}: {cell.name}, {largest:.3g} GiB"
        raise UsageError("a cell does not fit the card", found=found, expected=f"at most {room:.3g} GiB")


def _parsed(cell: Cell) -> Mapping[str, Any]:
    group_name, name, *arguments = cell.command
    verbs: Any = command_of(group_name).commands[group_name]
    return dict(verbs.commands[name].make_context(name, arguments).params)


def _check_settings(verb_name: str, overrides: Sequence[str]) -> None:
    from training.runs import settings

    kinds = {
        "classifier": (settings.ClassifierSettings, settings.EncoderSettings),
        "corfu": (settings.CorfuSettings,),
        "medhal": (settings.MedhalSettings,),
        "medval": (settings.MedvalSettings,),
        "grpo": (settings.GrpoSettings,),
    }
    refusals = []
    for kind in kinds[verb_name]:
        try:
            run_settings(kind, None, overrides)
        except UsageError as refusal:
            refusals.append(refusal)
        else:
            return
    raise refusals[0]


@verb(
    group,
    "Do what is not done of a study, cell by cell.",
    "ontoground --hub study run medieval --workspace work",
    "ontoground study run mine.toml",
)
def run(file: StudyFile, options: InWorkspace) -> Result:
    """Do what is not done of a study, cell by cell: each is a run of `train` or `evaluate` in a folder of its own.

    It can be stopped and called again, also by several processes or machines that share the workspace: a cell is
    claimed by a file that is renewed each minute. A cell that fails is named, and the others go on.
    """
    from ontoground.studies.work import work

    opened = _opened(file, options)
    for refusal in _problems(opened):
        raise refusal
    work(opened.cells, hub=opened.hub, say=note)
    return _result("run", opened, options)


@verb(
    group,
    "Show the cells of a study, and what they may take.",
    "ontoground study plan medieval --card 80",
    "ontoground study plan mine.toml --rehearse",
)
def plan(
    file: StudyFile,
    options: InWorkspace,
    rehearse: Annotated[
        bool, Option("--rehearse", help="Take a few steps of each kind of training cell here, and time them")
    ] = False,
    card: Annotated[
        float | None, Option(metavar="GIB", help="Memory of the card that is meant; default: this one")
    ] = None,
) -> Result:
    """Show every cell of a study with its state and a forecast of its hours and memory, and what is missing.

    Forecasts come from finished cells, from a rehearsal, or from what the study states; without `--rehearse` nothing
    runs.
    """
    from ontoground.studies import rehearsal

    opened = _opened(file, options)
    fetched = [] if rehearse else _of_hub(opened)
    problems = _problems(opened, card, fetched)
    if rehearse:
        for refusal in problems:
            raise refusal
        rehearsal.rehearse(opened.cells, opened.root, hub=opened.hub, say=note)
        problems = _problems(opened, card)
    missing = [problem.as_dict() for problem in problems]
    more = {"missing": missing, "fetched": fetched, "basis": opened.study.basis}
    return _result("plan", opened, options, 1 if problems else 0, **more)


@verb(group, "Write the tables of what is done of a study.", "ontoground study report medieval")
def report(file: StudyFile, options: InWorkspace) -> Result:
    """Write the tables and pictures of what is done of a study, the paper's numbers beside, missing cells by name."""
    from ontoground.studies.report import write_report

    opened = _opened(file, options)
    page = write_report(opened.study, opened.cells, options.workspace, opened.root, hub=opened.hub, say=note)
    return _result("report", opened, options, report=str(page))


def _result(name: str, opened: _Opened, options: InWorkspace, code: int = 0, /, **more: Any) -> Result:
    from ontoground.studies.rehearsal import forecast
    from ontoground.studies.work import record_of, state_of

    cells = []
    for cell in opened.cells:
        record, state = record_of(cell), state_of(cell)
        ahead = forecast(cell, opened.cells, opened.root)
        whole = {"block": cell.block, "cell": cell.name, "state": state, "seconds": record and record["seconds"]}
        whole |= {"forecast": None if state == "done" else ahead.seconds, "gib": ahead.gib, "by": ahead.by}
        cells.append(whole | {"folder": str(cell.folder), "command": cell.command})
    failed = any(cell["state"] == "failed" for cell in cells)
    payload = {"title": opened.study.title, "folder": str(opened.root), "cells": cells, **more}
    return options.result(f"study {name}", _blocks, code or int(failed), **payload)


def _blocks(payload: dict[str, Any]) -> Blocks:
    rows = [
        (
            *(cell[name] for name in ("block", "cell", "state")),
            *map(_hours, (cell["seconds"], cell["forecast"])),
            "" if cell["gib"] is None else f"{cell['gib']:.3g}",
        )
        for cell in payload["cells"]
    ]
    yield table(("block", "cell", "state", "hours", "forecast", "GiB"), rows, title=payload["title"])
    ahead = [cell for cell in payload["cells"] if cell["state"] != "done"]
    known = [cell for cell in ahead if cell["forecast"] is not None]
    yield f"{len(payload['cells']) - len(ahead)} of {len(payload['cells'])} cells are done"
    if ahead:
        without = f"; {len(ahead) - len(known)} without a forecast" if len(known) < len(ahead) else ""
        sources = ", ".join(dict.fromkeys(cell["by"] for cell in known))
        hours = _hours(sum(cell["forecast"] for cell in known)) or "0"
        yield f"ahead: {hours} hours{f' by {sources}' if sources else ''}{without}"
    if largest := max((cell["gib"] or 0 for cell in payload["cells"]), default=0):
        yield f"memory: at most {largest:.3g} GiB"
    if any(cell["by"] == "the study" for cell in ahead) and (basis := payload.get("basis")):
        yield f"the study: {basis}"
    if fetched := payload.get("fetched"):
        yield f"not here, and fetched by `ontoground --hub study run`: {', '.join(fetched)}"
    for problem in payload.get("missing", ()):
        yield f"missing: {problem['what']}" + "".join(
            f"; {problem[key]}" for key in ("file", "found") if problem.get(key)
        )
    if page := payload.get("report"):
        yield unfolded(f"report    {relative(Path(page))}")


def _hours(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds / 3600:.2f}"
