"""Our own facts as a source: MediEval's statements of the workspace, judged by the graph."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from builders.medhal.facts import read_facts
from builders.medhal.feeds import Feed
from builders.medhal.items import Pair
from builders.medhal.judge_graph import GraphJudge
from builders.medhal.rows import Stamp
from builders.medhal.transform.facts import fact_pairs
from builders.texts.origin import Tally
from builders.texts.sources import TextSource
from ground.storage.files import sha256_of
from ground.storage.workspace import Workspace

__all__ = ["own_feed"]


def own_feed(
    source: TextSource, licence: str, workspace: Workspace, connection: duckdb.DuckDBPyConnection, tally: Tally
) -> Feed:
    """Return the feed of the workspace's own facts; its MediEval dataset must be there.

    All of its splits are used: they are our own, and a patient keeps the split.
    """

    def pairs() -> Iterator[Pair]:
        return fact_pairs(read_facts(workspace, connection, tally), tally)

    manifest = workspace.dataset("medieval") / "manifest.json"
    return Feed(
        source=source,
        stamp=Stamp(source.source, "record_facts", licence),
        pairs=pairs,
        judge=GraphJudge(workspace, connection),
        inputs=[
            {
                "source": source.source,
                "file": "datasets/medieval/manifest.json",
                "bytes": manifest.stat().st_size,
                "sha256": sha256_of(manifest),
            },
            *workspace.rules.inputs(),
        ],
    )
