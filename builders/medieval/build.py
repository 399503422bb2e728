"""Build the MediEval dataset: support, truth, groups, rows, files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.cards import LICENCE, croissant_of
from builders.medieval.assemble import medieval_table, statement_table
from builders.medieval.baselines import Auc, cross_validated_auc, split_auc
from builders.medieval.card import DESCRIPTION, card_of
from builders.medieval.facts import find_true_facts, read_support
from builders.medieval.groups import make_groups
from kg.graph import ConceptGraph
from ontoground.errors import InputError
from ontoground.files import atomic_directory, sha256_of, write_text
from ontoground.manifest import dropped, inputs, licence_tier, manifest_of, to_json
from ontoground.progress import progress
from ontoground.sqlfiles import sql_text
from ontoground.stages import fingerprint, is_current, mark_done, stage_fingerprint
from ontoground.warehouse import count_drop, reset_drops, table_exists
from ontoground.workspace import Workspace

__all__ = ["STAGE", "BuildReport", "build_medieval"]

STAGE = "medieval"
NEEDED = (
    "mimiciv_note.discharge",
    "ground.section",
    "ground.segment",
    "ground.mention",
    "ground.unclear_mention",
    "ground.admission_concept",
    "kg.edge",
)
SPLITS = ("train", "validation", "test")
ROW_GROUP = 2_000


@dataclass(frozen=True)
class BuildReport:
    """What a build made."""

    folder: str
    rows: int
    groups: int
    admissions: int
    statements: int
    by_quadrant: dict[str, int]
    by_predicate: dict[str, dict[str, int]]
    by_split: dict[str, int]
    multi_hop: int
    dropped: dict[str, int]
    baselines: list[dict[str, Any]]
    skipped: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the report for ``--json`` output."""
        return asdict(self)


def _require(connection: duckdb.DuckDBPyConnection) -> None:
    missing = [table for table in NEEDED if not table_exists(connection, table)]
    if missing:
        raise InputError(
            "the builder needs more of the flow",
            found=f"no {', '.join(missing)}",
            expected="loaded data, a graph, sections and mentions",
            do="run `ontoground run`, or `graph build`, `notes sections` and `notes mentions` before `build medieval`",
        )


def _baselines(table: pa.Table, seed: int) -> list[Auc]:
    """Measure what one side alone tells of the labels."""
    patients = table["subject_id"].to_numpy()
    texts = {"statement": table["statement"].to_pylist(), "context": table["context"].to_pylist()}
    labels = {name: np.array(table[name].to_pylist(), dtype=np.bool_) for name in ("is_true", "is_supported")}
    if len(np.unique(patients)) < 5:
        return []
    found = [
        cross_validated_auc(texts["statement"], labels["is_supported"], patients, "statement", "is_supported", seed),
        cross_validated_auc(texts["context"], labels["is_supported"], patients, "context", "is_supported", seed),
        cross_validated_auc(texts["context"], labels["is_true"], patients, "context", "is_true", seed),
        cross_validated_auc(texts["statement"], labels["is_true"], patients, "statement", "is_true", seed),
    ]
    for column in ("split", "fact_split"):
        auc = split_auc(texts["statement"], labels["is_true"], patients, table[column].to_pylist(), column, seed)
        found += [auc] if auc else []
    return found


def _write_parquet(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, compression="zstd", row_group_size=ROW_GROUP, store_schema=True)


def _count_drops(connection: duckdb.DuckDBPyConnection) -> None:
    reset_drops(connection, STAGE)
    for reason, n in connection.execute(sql_text("builders/medieval_drop")).fetchall():
        count_drop(connection, STAGE, reason, n)


def _write(workspace: Workspace, connection: duckdb.DuckDBPyConnection, table: pa.Table, aucs: list[Auc]) -> None:
    statements = statement_table(connection, table)
    tier = licence_tier(connection)
    with atomic_directory(workspace.dataset(STAGE)) as folder:
        (folder / "data").mkdir()
        for split in SPLITS:
            part = table.filter(pa.compute.equal(table["split"], split))
            if part.num_rows:
                _write_parquet(part, folder / "data" / f"{split}-00000-of-00001.parquet")
        _write_parquet(statements, folder / "statements.parquet")
        write_text(folder / "README.md", card_of(table, aucs, dropped(connection, STAGE), tier))
        write_text(folder / "croissant.json", to_json(croissant_of(STAGE, DESCRIPTION, table.schema, LICENCE[tier])))
        kept = {
            "rows": table.num_rows,
            "statements": statements.num_rows,
            "files": {f.relative_to(folder).as_posix(): sha256_of(f) for f in sorted(folder.rglob("*.parquet"))},
        }
        manifest = manifest_of(
            STAGE,
            inputs=inputs(connection),
            settings=workspace.settings.model_dump(mode="json", include={"load", "notes", "build"}),
            seed=workspace.settings.build.seed,
            kept=kept,
            dropped=dropped(connection, STAGE),
            tier=tier,
        )
        manifest["baselines"] = [auc.as_dict() for auc in aucs]
        write_text(folder / "manifest.json", to_json(manifest))


def _report(connection: duckdb.DuckDBPyConnection, folder: Path, aucs: list[Auc], skipped: bool) -> BuildReport:
    def counts(column: str) -> dict[str, int]:
        query = f"select {column}, count(*) from ground.medieval group by {column} order by {column}"
        return dict(connection.execute(query).fetchall())

    by_predicate: dict[str, dict[str, int]] = {}
    for predicate, quadrant, n in connection.execute(
        "select predicate, quadrant, count(*) from ground.medieval group by all order by all"
    ).fetchall():
        by_predicate.setdefault(predicate, {})[quadrant] = n
    totals = connection.execute(
        "select count(*), count(distinct group_id), count(distinct hadm_id), count(distinct statement), "
        "count(*) filter (where hops > 1) from ground.medieval"
    ).fetchone()
    assert totals is not None
    return BuildReport(
        folder=str(folder),
        rows=totals[0],
        groups=totals[1],
        admissions=totals[2],
        statements=totals[3],
        by_quadrant=counts("quadrant"),
        by_predicate=by_predicate,
        by_split=counts("split"),
        multi_hop=totals[4],
        dropped=dropped(connection, STAGE),
        baselines=[auc.as_dict() for auc in aucs],
        skipped=skipped,
    )


def _fingerprint(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> str:
    stages = {stage: stage_fingerprint(connection, stage) for stage in ("graph", "concepts", "sections", "mentions")}
    return fingerprint({**stages, "build": workspace.settings.build.model_dump_json()})


def build_medieval(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> BuildReport:
    """Build ``datasets/medieval`` and the table ``ground.medieval``; a dataset that is current is left as it is.

    Raises:
        InputError: an earlier stage is missing, or no statement can be made of the cohort.
    """
    _require(connection)
    folder = workspace.dataset(STAGE)
    expected = _fingerprint(workspace, connection)
    if is_current(connection, STAGE, expected) and (folder / "manifest.json").is_file():
        return _report(connection, folder, [], skipped=True)
    settings = workspace.settings.build
    graph = ConceptGraph.open(workspace.graph)
    with progress("statements", 5) as advance:
        read_support(connection, graph, settings)
        advance(1)
        find_true_facts(connection, graph, settings)
        connection.execute("create or replace temp table first_isolated as select * from isolated")
        advance(1)
        make_groups(connection, graph, settings)
        advance(1)
        for step in ("statement", "support_span"):
            connection.execute(sql_text(f"builders/{step}"))
        table = medieval_table(connection, graph)
        _count_drops(connection)
        if not table.num_rows:
            raise InputError(
                "no statement could be made",
                found=f"{sum(dropped(connection, STAGE).values())} items left out; the reasons are in ground.drop",
                expected="admissions with notes whose concepts the graph relates",
                do="look at `ontoground sql dropped` and at the coverage queries",
            )
        advance(1)
        aucs = _baselines(table, settings.seed)
        connection.register("medieval_rows", table.drop_columns(["context", "path", "support_spans"]))
        connection.execute("create or replace table ground.medieval as select * from medieval_rows")
        connection.unregister("medieval_rows")
        _write(workspace, connection, table, aucs)
        advance(1)
    mark_done(connection, STAGE, expected)
    return _report(connection, folder, aucs, skipped=False)
