"""Compile the searches and scans once, before workers of the tests would do so side by side: ``make kernels``.

numba keeps what it compiles beside the source, and notices a change of a function's own file only: what is kept is
removed first, so that no function goes on with an older version of one that it calls. With ``--write`` what was
compiled, and in what order, is written to ``ontoground/flow/kernels.jsonl``; a test compares it with what the flow
calls.
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
from kg.graph import ConceptGraph
from ontoground.flow import pipeline
from ontoground.flow.compiling import KERNELS, notation
from openworld import World, render

__all__ = ["compile_flow", "compile_questions"]

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


def compile_flow(folder: Path) -> tuple[ConceptGraph, World]:
    """Run the whole flow on a few patients; return the graph and the world."""
    world = render(folder / "world", 3)
    root = folder / "work"
    root.mkdir(mode=0o700)
    (root / "ontoground.toml").write_text(SETTINGS, encoding="utf-8")
    workspace = Workspace.create(root)
    pipeline.run_all(workspace, {"mimic": world.mimic, "umls": world.meta, "rxnorm": world.rxnorm})
    return ConceptGraph.open(workspace.graph), world


def compile_questions(graph: ConceptGraph, world: World) -> None:
    """Ask the graph what the flow does not."""
    head, _, tail, *_ = (world.truth / "facts.tsv").read_text(encoding="utf-8").splitlines()[1].split("\t")
    graph.relations(head, tail)
    graph.distance(head, tail)


if __name__ == "__main__":
    for package in PACKAGES:
        for pattern in KEPT:
            for file in (ROOT / package).rglob(pattern):
                file.unlink()
    # A tenth of the time goes into looking for garbage.
    gc.disable()
    seen = Compiled()
    event.register("numba:compile", seen)
    # What other processes compile would not be seen.
    vars(pipeline)["compile_beside"] = lambda: None
    with tempfile.TemporaryDirectory(prefix="ontoground-kernels-") as scratch:
        graph, world = compile_flow(Path(scratch))
        if "--write" in sys.argv[1:]:
            KERNELS.write_text("".join(f"{line}\n" for line in seen.lines), encoding="utf-8")
        compile_questions(graph, world)
