"""``ontoground study run|plan|report``: the cells of a paper's experiment, done one after another, and its tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from ground.errors import UsageError
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
    hub: bool


def _opened(file: str, options: InWorkspace) -> _Opened:
    """Read a study and its cells."""
    from ontoground.studies.plan import cells_of, file_of, read_study

    source = file_of(file)
    study = read_study(source)
    root = options.workspace / "studies" / source.stem
    cells = cells_of(study, options.workspace, root)
    hub = os.environ.get("HF_HUB_OFFLINE") == "0"
    return _Opened(study, root, cells, hub)


def _checked(opened: _Opened) -> _Opened:
    """Refuse, before anything runs, what one of its verbs would refuse."""
    for cell in opened.cells:
        _check(cell)
    return opened


def _check(cell: Cell) -> None:
    """Parse a cell's arguments as its verb would, and look for what they name."""
    from ground.lm.local import check_model
    from training.encoder.pretrained import resolve_model

    given = _parsed(cell)
    if cell.group == "train":
        _check_settings(cell.arguments[1], given["overrides"] or ())
    if not cell.needs:
        check_model(resolve_model(cell.model))
    dataset = given.get("dataset") or given.get("reference")
    if dataset is not None and not Path(dataset).is_dir():
        raise UsageError("the dataset is not there", file=dataset, do="build it, or name another one in the study")
    texts = given.get("texts")
    if texts is not None and not Path(texts.partition(":")[0]).exists():
        raise UsageError("texts of an evaluation are not there", file=texts, do="put them there, or name others")


def _check_memory(cells: Sequence[Cell]) -> None:
    """Refuse a cell that cannot fit the card of this machine, as far as the study says what it takes."""
    largest = max((cell for cell in cells if cell.gib), key=lambda cell: cell.gib or 0, default=None)
    if largest is None or find_spec("torch") is None:
        return
    from training.runs.memory import card_memory

    # In a process of its own: what asks a card holds some of its memory as long as it lives.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        room = pool.submit(card_memory).result() / 2**30
    if room and (largest.gib or 0) > room:
        found = f"{largest.block}: {largest.name}, {largest.gib:g} GiB"
        raise UsageError("a cell does not fit the card", found=found, expected=f"at most {room:.0f} GiB")


def _parsed(cell: Cell) -> Mapping[str, Any]:
    verbs: Any = command_of(cell.group).commands[cell.group]
    name, arguments = cell.command[1], cell.command[2:]
    return dict(verbs.commands[name].make_context(name, list(arguments)).params)


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
    from ontoground.studies.work import state_of, work

    opened = _checked(_opened(file, options))
    _check_memory([cell for cell in opened.cells if state_of(cell) != "done"])
    work(opened.cells, hub=opened.hub, say=note)
    return _result("run", opened, options)


@verb(group, "Show the cells of a study, and how long they may take.", "ontoground study plan medieval")
def plan(file: StudyFile, options: InWorkspace) -> Result:
    """Show every cell of a study with its state and a forecast of its hours; nothing runs.

    Forecasts are the mean of the finished cells of the same block and model, until then what the study states.
    """
    return _result("plan", _checked(_opened(file, options)), options)


@verb(group, "Write the tables of what is done of a study.", "ontoground study report medieval")
def report(file: StudyFile, options: InWorkspace) -> Result:
    """Write the tables and pictures of what is done of a study, the paper's numbers beside, missing cells by name."""
    from ontoground.studies.report import write_report

    opened = _opened(file, options)
    page = write_report(opened.study, opened.cells, options.workspace, opened.root, hub=opened.hub, say=note)
    return _result("report", opened, options, report=str(page))


def _result(name: str, opened: _Opened, options: InWorkspace, **more: Any) -> Result:
    from ontoground.studies.work import forecast, record_of, state_of

    cells = []
    for cell in opened.cells:
        record, state = record_of(cell), state_of(cell)
        ahead = forecast(cell, opened.cells) if state != "done" else None
        seconds = record["seconds"] if record else None
        whole = {"block": cell.block, "cell": cell.name, "state": state, "seconds": seconds, "forecast": ahead}
        whole["gib"] = cell.gib
        cells.append(whole | {"folder": str(cell.folder), "command": cell.command})
    failed = any(cell["state"] == "failed" for cell in cells)
    payload = {"title": opened.study.title, "folder": str(opened.root), "cells": cells, **more}
    return options.result(f"study {name}", _blocks, 1 if failed else 0, **payload)


def _blocks(payload: dict[str, Any]) -> Blocks:
    rows = [
        (*(cell[name] for name in ("block", "cell", "state")), *map(_hours, (cell["seconds"], cell["forecast"])))
        for cell in payload["cells"]
    ]
    yield table(("block", "cell", "state", "hours", "forecast"), rows, title=payload["title"])
    ahead = [cell for cell in payload["cells"] if cell["state"] != "done"]
    known = [cell["forecast"] for cell in ahead if cell["forecast"] is not None]
    unknown = len(ahead) - len(known)
    without = f"; {unknown} without a forecast, since none like them is done" if unknown else ""
    yield f"{len(payload['cells']) - len(ahead)} of {len(payload['cells'])} cells are done"
    if ahead:
        yield f"ahead: {_hours(sum(known)) or '0'} hours{without}"
    if largest := max((cell["gib"] or 0 for cell in payload["cells"]), default=0):
        yield f"memory of a card: {largest:g} GiB, as the study states"
    if page := payload.get("report"):
        yield unfolded(f"report    {relative(Path(page))}")


def _hours(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds / 3600:.2f}"
