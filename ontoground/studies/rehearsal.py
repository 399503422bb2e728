"""What a cell is thought to take: by cells like it that are done, by a few steps here, or as a study states."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground.flow.manifest import to_json
from ground.storage.files import write_text
from ontoground.studies.plan import Cell
from ontoground.studies.work import record_of, run_verb, state_of

__all__ = ["Forecast", "forecast", "rehearse"]

STEPS = 4
"""Of a rehearsal; the first may compile and is not timed."""
ALONE = {"grpo": ("evaluate_base=false", "evaluate_every=0", "evaluate_rows=1")}
"""Settings of a verb's rehearsal: steps alone are timed."""
GIB = 2**30


@dataclass(frozen=True)
class Forecast:
    """What a cell is thought to take.

    Attributes:
        seconds, gib: of time, and of a card's memory (without one, of the process); None where nothing tells.
        by: what says so.
    """

    seconds: float | None = None
    gib: float | None = None
    by: str = ""


def forecast(cell: Cell, cells: Sequence[Cell], root: Path) -> Forecast:
    """Return what a cell is thought to take: as those of its name or else its block and model took that are done.

    Where none is done a rehearsal says it, and without one the study.
    """
    done = [other for other in cells if other.block == cell.block and state_of(other) == "done"]
    named = [other for other in done if other.plain_name == cell.plain_name]
    if alike := named or [other for other in done if other.base_model == cell.base_model]:
        seconds = [record["seconds"] for other in alike if (record := record_of(other))]
        gib = [memory for other in alike for memory in _memory(other.run)] if cell.group == "train" else []
        return Forecast(sum(seconds) / len(seconds), max(gib, default=cell.gib), "finished cells")
    file = _file(cell, root)
    if file.is_file() and "error" not in (known := json.loads(file.read_text(encoding="utf-8"))):
        return Forecast(known["seconds"], known["gib"], "a rehearsal")
    return Forecast(None if cell.hours is None else 3600 * cell.hours, cell.gib, "the study" if cell.hours else "")


def rehearse(cells: Sequence[Cell], root: Path, *, hub: bool, say: Callable[[str], None]) -> None:
    """Take a few steps of every training cell that is ready and unlike those done; what a whole run takes is kept.

    A run of an encoder has no steps that could be stopped, and an evaluation none at all: neither is rehearsed.
    """
    for cell in cells:
        file = _file(cell, root)
        known = forecast(cell, cells, root).by in ("finished cells", "a rehearsal")
        if cell.group != "train" or known or state_of(cell) != "ready":
            continue
        say(f"rehearsal of {cell.block}: {cell.plain_name}")
        settings = (f"hardware.rehearsal={STEPS}", *ALONE.get(cell.arguments[1], ()))
        given = [word for setting in settings for word in ("--set", setting)]
        run = file.with_suffix("")
        ended = run_verb([*cell.arguments, *given, "--out", str(run), "--json"], hub=hub)
        answer = json.loads(ended.stdout or b"{}")
        record: dict[str, Any] = {"error": answer.get("error")}
        if ended.returncode:
            say(f"it failed: {(answer.get('error') or {}).get('what', f'exit code {ended.returncode}')}")
        else:
            steps = [(part["planned_steps"], part["seconds_a_step"]) for part in _measured(run)]
            seconds = sum(planned * each for planned, each in steps)
            record = {"seconds": seconds, "gib": max(_memory(run), default=None), "steps": steps}
        shutil.rmtree(run, ignore_errors=True)
        write_text(file, to_json(record))


def _file(cell: Cell, root: Path) -> Path:
    """Return where the rehearsal of cells that differ in their seed alone is kept."""
    words = [word for word in cell.arguments if not word.startswith("seed=")]
    return root / "rehearsals" / f"{hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]}.json"


def _measured(run: Path) -> Iterator[dict[str, Any]]:
    """Yield what was measured of each stage of a run, or of each of its arms."""
    for file in sorted(run.rglob("training.json")):
        record = json.loads(file.read_text(encoding="utf-8"))
        parts = [part["measured"] for part in (record, *record.get("stages", ())) if "measured" in part]
        yield from (part for part in parts if "planned_steps" in part)


def _memory(run: Path) -> Iterator[float]:
    """Yield in GiB what stages took, and what their largest step was thought to need."""
    yield from (part["peak_memory"] / GIB for part in _measured(run))
    for file in run.rglob("training.json"):
        if estimate := json.loads(file.read_text(encoding="utf-8")).get("memory"):
            yield (estimate.get("measured") or estimate["total"]) / GIB
