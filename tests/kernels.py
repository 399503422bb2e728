"""Compile the searches and scans once, before workers of the tests would do so side by side: ``make kernels``.

numba keeps what it compiles beside the source, and notices a change of a function's own file only: what is kept is
removed first, so that no function goes on with an older version of one that it calls.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph
from ontoground.flow.pipeline import run_all
from openworld import render

__all__ = ["compile_all"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("kg", "ehr", "builders")
KEPT = ("*.nbi", "*.nbc")
SETTINGS = "[build]\nbalance_trials = 1\nbalance_rounds = 1\n"


def compile_all(folder: Path) -> None:
    """Run the whole flow on a few patients, and ask the graph once."""
    world = render(folder / "world", 3)
    root = folder / "work"
    root.mkdir(mode=0o700)
    (root / "ontoground.toml").write_text(SETTINGS, encoding="utf-8")
    workspace = Workspace.create(root)
    run_all(workspace, {"mimic": world.mimic, "umls": world.meta, "rxnorm": world.rxnorm})
    head, _, tail, *_ = (world.truth / "facts.tsv").read_text(encoding="utf-8").splitlines()[1].split("\t")
    graph = ConceptGraph.open(workspace.graph)
    graph.relations(head, tail)
    graph.distance(head, tail)


if __name__ == "__main__":
    for package in PACKAGES:
        for pattern in KEPT:
            for file in (ROOT / package).rglob(pattern):
                file.unlink()
    with tempfile.TemporaryDirectory(prefix="ontoground-kernels-") as scratch:
        compile_all(Path(scratch))
