"""Run folders: what makes two runs the same run, which one is whole, and which may be gone on with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ontoground.errors import UsageError
from ontoground.files import private_directory, write_text
from ontoground.manifest import to_json

__all__ = ["CHECKPOINTS", "RECORD", "open_run"]

RECORD = "training.json"
CHECKPOINTS = "checkpoints"
PLAN = "plan.json"


def open_run(out: Path, plan: Mapping[str, Any], *, resume: bool, writes: bool = True) -> dict[str, Any] | None:
    """Prepare a run folder; returns the record of a run that is whole already, None where there is work to do.

    Args:
        out: the folder; made with its ``checkpoints`` (0700) where it is not there.
        plan: what the run is started with (model, dataset, settings, engine). It is kept, and compared on resumption.
        resume: whether a run in the folder may be gone on with.
        writes: whether this process writes (the first of several).

    Raises:
        UsageError: the folder holds a run and ``resume`` is not set, or that run was started otherwise.
    """
    record, stated = out / RECORD, out / CHECKPOINTS / PLAN
    found = next((file for file in (record, stated) if file.is_file()), None)
    if found is not None and not resume:
        raise UsageError(
            "this folder already holds a run", file=out, do="choose another folder, or resume this one (--resume)"
        )
    if found is not None:
        before = json.loads(found.read_text(encoding="utf-8"))
        changed = [name for name, value in plan.items() if before.get(name) != json.loads(to_json([value]))[0]]
        if changed:
            raise UsageError(
                "the run in this folder was started otherwise",
                file=out,
                found=f"another {', '.join(changed)}",
                do="resume with what it was started with, or choose another folder",
            )
    if record.is_file():
        return dict(json.loads(record.read_text(encoding="utf-8")))
    if writes and not stated.is_file():
        private_directory(stated.parent)
        write_text(stated, to_json(plan))
    return None
