"""Compile the searches and scans once, before workers of the tests would do so side by side: ``make kernels``.

numba keeps what it compiles beside the source, and notices a change of a function's own file only: what is kept is
removed first, so that no function goes on with an older version of one that it calls. With ``--write`` the flow is run
on a few patients, and what it compiles, in what order, is written to ``ontoground/flow/kernels.jsonl``; without, what
stands there is compiled. A test compares it with what the flow calls.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from numba.core import event

from ground.storage.workspace import Workspace
from ontoground.flow import pipeline
from ontoground.flow.compiling import KERNELS, listed, notation
from openworld import render
from tests.kg.graphs import Release, rel

__all__ = ["compile_questions", "run_flow"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("kg", "ehr", "builders")
KEPT = ("*.nbi", "*.nbc")
SETTINGS = "[build]\nbalance_trials = 1\nbalance_rounds = 1\n"


class Compiled(event.Listener):  # type: ignore[misc]
    """Notes each function that is compiled because Python calls it, with the types of its arguments."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0

    def on_start(self, event: Any) -> None:
        """Note what begins to be compiled, unless something that calls it is being compiled."""
        if not self._depth:
            function, types = event.data["dispatcher"], event.data["args"]
            self.lines.append(json.dumps([function.__module__, function.__name__, *map(notation, types)]))
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Note that it is compiled."""
        self._depth -= 1


def run_flow(folder: Path) -> None:
    """Run the whole flow on a few patients."""
    world = render(folder / "world", 3)
    root = folder / "work"
    root.mkdir(mode=0o700)
    (root / "ontoground.toml").write_text(SETTINGS, encoding="utf-8")
    pipeline.run_all(Workspace.create(root), {"mimic": world.mimic, "umls": world.meta, "rxnorm": world.rxnorm})


def compile_questions(folder: Path) -> None:
    """Ask a graph what the flow does not."""
    drug, illness = "C0000001", "C0000002"
    release = Release(folder, {drug: "CHEM aspirin", illness: "DISO pain"}, [rel(drug, "may_treat", illness)])
    release.build()
    release.graph().relations(drug, illness)


if __name__ == "__main__":
    for package in PACKAGES:
        for pattern in KEPT:
            for file in (ROOT / package).rglob(pattern):
                file.unlink()
    # A tenth of the time goes into looking for garbage.
    gc.disable()
    with tempfile.TemporaryDirectory(prefix="ontoground-kernels-") as scratch:
        if "--write" in sys.argv[1:]:
            seen = Compiled()
            event.register("numba:compile", seen)
            # What other processes compile would not be seen.
            vars(pipeline)["compile_beside"] = lambda: None
            run_flow(Path(scratch))
            KERNELS.write_text("".join(f"{line}\n" for line in seen.lines), encoding="utf-8")
        else:
            for function, types in listed():
                function.compile(types)
        compile_questions(Path(scratch))
