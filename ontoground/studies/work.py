"""The cells of a study, done one after another; several processes or machines may share the folder.

A cell is claimed by a file that is created exclusively and renewed each minute (filelock's lease): ten minutes without
renewal free it, and so does the end of its process on this machine. Runs go on from their checkpoints.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import IO, Any, Literal

from filelock import SoftFileLease, Timeout

from ground.flow.manifest import to_json
from ground.storage.files import private_directory, write_text
from ontoground.studies.plan import Cell

__all__ = ["State", "record_of", "run_verb", "state_of", "work"]

LEASE = 600.0
"""Seconds without renewal that free a claim."""
RENEWAL = 60.0
RECORD = "cell.json"
LOG = "log.txt"
CLAIM = "claim"
State = Literal["done", "failed", "claimed", "waiting", "ready"]


def record_of(cell: Cell) -> dict[str, Any] | None:
    """Return what is known of a cell that ended: ``exit_code``, ``seconds``, ``error``."""
    file = cell.folder / RECORD
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None


def state_of(cell: Cell) -> State:
    """Return how far a cell is; ``waiting`` is one whose needs are not done."""
    record = record_of(cell)
    if record is not None:
        return "done" if record["exit_code"] == 0 else "failed"
    if any(state_of(need) != "done" for need in cell.needs):
        return "waiting"
    return "claimed" if (cell.folder / CLAIM).exists() else "ready"


def work(cells: Sequence[Cell], *, hub: bool, say: Callable[[str], None]) -> None:
    """Do what is not done, cell by cell, until nothing is left that this process can do.

    A cell that failed before is tried again, once. One that another process has claimed is left to it, or taken over
    where nobody renews the claim.

    Args:
        cells: each after those that it needs.
        hub: whether models may be fetched by name.
        say: takes a line on each cell.
    """
    open_cells = [cell for cell in cells if state_of(cell) != "done"]
    while open_cells:
        able = [cell for cell in open_cells if all(state_of(need) == "done" for need in cell.needs)]
        if not able:
            return
        free = [cell for cell in able if not (cell.folder / CLAIM).exists()]
        cell = (free or able)[0]
        # With nothing else to do, a claim is waited for as long as it takes to see that nobody renews it.
        if _claimed(cell, 0 if free else LEASE + RENEWAL, hub=hub, say=say) or not free:
            open_cells = [other for other in open_cells if other is not cell and state_of(other) != "done"]


def _claimed(cell: Cell, timeout: float, *, hub: bool, say: Callable[[str], None]) -> bool:
    """Do a cell under its claim; returns whether it was free."""
    private_directory(cell.folder)
    claim = SoftFileLease(cell.folder / CLAIM, lease_duration=LEASE, heartbeat_interval=RENEWAL, timeout=timeout)
    try:
        with claim:
            if state_of(cell) != "done":
                _do(cell, hub=hub, say=say)
    except Timeout:
        return False
    return True


def _do(cell: Cell, *, hub: bool, say: Callable[[str], None]) -> None:
    (cell.folder / RECORD).unlink(missing_ok=True)
    say(f"{cell.block}: {cell.name}")
    begin = monotonic()
    with (cell.folder / LOG).open("ab") as log:
        ended = run_verb([*cell.command, "--json"], hub=hub, errors=log)
    if ended.returncode == 130:
        raise KeyboardInterrupt("interrupted: finished cells are kept; run the same command again to continue")
    answer = _answer(ended.stdout)
    error = answer.get("error") if ended.returncode else None
    files = [predictions["file"] for predictions in answer.get("predictions", ())]
    record = {"exit_code": ended.returncode, "seconds": round(monotonic() - begin, 1), "error": error, "files": files}
    write_text(cell.folder / RECORD, to_json(record | {"arguments": list(cell.arguments)}))
    if ended.returncode:
        what = error["what"] if isinstance(error, dict) else f"exit code {ended.returncode}"
        say(f"{cell.block}: {cell.name} failed: {what} ({cell.folder / LOG})")


def run_verb(
    arguments: Sequence[str], *, hub: bool, errors: IO[bytes] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command line of ours, in a process of its own: what it holds of a GPU is free again when it ends."""
    command = [sys.executable, "-m", "ontoground", *(["--hub"] if hub else []), *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, check=False)


def _answer(output: bytes) -> dict[str, Any]:
    try:
        return dict(json.loads(output))
    except ValueError:
        return {}
