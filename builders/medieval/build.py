"""Build the MediEval dataset: support, truth, groups, rows, files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from builders.cards import LICENCE, croissant_of
from builders.medieval.assemble import say_statements
from builders.medieval.baselines import Auc, TextFeatures, cross_validated_auc, measured_patients, split_auc
from builders.medieval.card import CONTRAINDICATED, DESCRIPTION, card_of, totals
from builders.medieval.coding import admissions_at_once
from builders.medieval.contradicted import (
    CONTRADICTED,
    contradicted_baselines,
    contradicted_drops,
    find_contradictions,
    write_contradicted,
)
from builders.medieval.facts import find_true_facts, read_support, run_steps
from builders.medieval.files import file_of, file_shards
from builders.medieval.groups import make_groups
from builders.shards import ROW_GROUP, GroupWriter
from ehr.sources.contract import make_views
from ground.contracts.rows import CONTRADICTED_SCHEMA, MEDIEVAL_SCHEMA, STATEMENT_SCHEMA
from ground.errors import InputError
from ground.flow.executors import open_executor, open_threads
from ground.flow.fingerprints import fingerprint, is_current, mark_done, stage_fingerprint
from ground.flow.manifest import dropped, inputs, licence_tier, manifest_of, read_manifest, to_json
from ground.json_record import JsonRecord
from ground.progress import progress
from ground.settings import BuildSettings
from ground.storage.files import atomic_directory, private_directory, sha256_of, write_text
from ground.storage.sqlfiles import quoted_files, sql_text
from ground.storage.warehouse import count_drop, has_rows, number_of, reset_drops, table_exists
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph

__all__ = ["STAGE", "BuildReport", "build_medieval"]

STAGE = "medieval"
NEEDED = (
    "ground.section",
    "ground.segment",
    "ground.mention",
    "ground.unclear_mention",
    "ground.admission_concept",
    "kg.edge",
)
NESTED = ("context", "path", "support_spans")
"""Columns that are in the files only, not in the table ``ground.medieval``."""

STATEMENTS = ("sample", "proposition", "statement")
SUPPORT = ("supported_pair", "support_mention", "present_link", "support_pair", "support_closest")
PLACED = ("support_span", "placed_row")


@dataclass(frozen=True)
class BuildReport(JsonRecord):
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
    contradicted: int = 0
    contraindicated: int = 0
    skipped: bool = False


def _require(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    make_views(connection)
    notes = ("ehr.discharge_note", "ehr.radiology_note") if settings.radiology else ("ehr.discharge_note",)
    missing = [table for table in notes if not has_rows(connection, table)]
    missing += [table for table in NEEDED if not table_exists(connection, table)]
    if missing:
        raise InputError(
            "earlier steps are missing",
            found=f"no {', '.join(missing)}",
            expected="loaded data, a graph, sections and mentions",
            do="run `ontoground run`, or `graph build`, `notes sections` and `notes mentions` before `build medieval`",
        )


def _baselines(table: pa.Table, seed: int) -> list[Auc]:
    """Measure what one side alone tells of the labels."""
    patients = table["subject_id"].to_numpy()
    labels = {name: np.array(table[name].to_pylist(), dtype=np.bool_) for name in ("is_true", "is_supported")}
    if len(np.unique(patients)) < 5:
        return []
    texts = {
        "statement": TextFeatures(table["statement"].to_pylist()),
        "context": TextFeatures(table["context"].to_pylist(), merged=True),
    }
    aucs = [
        cross_validated_auc(texts["statement"], labels["is_supported"], patients, "statement", "is_supported", seed),
        cross_validated_auc(texts["context"], labels["is_supported"], patients, "context", "is_supported", seed),
        cross_validated_auc(texts["context"], labels["is_true"], patients, "context", "is_true", seed),
        cross_validated_auc(texts["statement"], labels["is_true"], patients, "statement", "is_true", seed),
    ]
    for column in ("split", "fact_split"):
        auc = split_auc(texts["statement"], labels["is_true"], patients, table[column].to_pylist(), column, seed)
        aucs += [auc] if auc else []
    return aucs


def _count_drops(connection: duckdb.DuckDBPyConnection) -> None:
    reset_drops(connection, STAGE)
    for reason, n in connection.execute(sql_text("builders/medieval/rows/drop")).fetchall():
        count_drop(connection, STAGE, reason, n)


def _say(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph) -> None:
    """Make what the files are made of, once ``statement`` is there."""
    for _ in admissions_at_once(connection):
        run_steps(connection, "rows", SUPPORT)
    run_steps(connection, "rows", PLACED)
    say_statements(connection, graph)


def _write_files(workspace: Workspace, connection: duckdb.DuckDBPyConnection, data: Path) -> list[pa.Table]:
    """Write the rows to a folder; return those of each file that baselines look at."""
    settings = workspace.settings
    # Opened in each worker without this module and what it imports.
    setup = partial(pa.array, measured_patients(connection, settings.build.seed), pa.int64())
    private_directory(data)
    measured = []
    with open_executor(settings.run, licence_tier(connection)) as executor:
        for file in executor.in_order(setup, file_of, file_shards(connection)):
            (data / file.name).write_bytes(file.content)
            measured.append(file.measured)
    return measured


def _write_rows(workspace: Workspace, connection: duckdb.DuckDBPyConnection, data: Path) -> pa.Table:
    """Write the rows to ``data`` and to ``ground.medieval``; return those that baselines look at, by patient."""
    measured = _write_files(workspace, connection, data)
    columns = ", ".join(field.name for field in MEDIEVAL_SCHEMA if field.name not in NESTED)
    files = quoted_files(sorted(data.glob("*.parquet")))
    connection.execute(f"create or replace table ground.medieval as select {columns} from read_parquet({files})")
    whole = pa.concat_tables(measured)
    # The rows of a patient are in one file or in two that follow one another.
    return whole.take(np.argsort(whole["subject_id"].to_numpy(), kind="stable"))


def _write_statements(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """Write each distinct statement once, with how many samples use it, and return their number."""
    connection.execute("select 1").fetchall()
    reader = connection.sql(sql_text("builders/medieval/rows/distinct_statement")).to_arrow_reader(ROW_GROUP)
    with GroupWriter(path, STATEMENT_SCHEMA) as writer:
        for batch in reader:
            writer.write(pa.Table.from_batches([batch]))
    return writer.rows


def _contradicted(workspace: Workspace, connection: duckdb.DuckDBPyConnection, folder: Path) -> list[Auc]:
    """Write the configuration of contradicted rows and return what its baselines tell."""
    find_contradictions(connection)
    write_contradicted(connection, folder / "data", folder / CONTRADICTED)
    for reason, n in contradicted_drops(connection):
        count_drop(connection, STAGE, reason, n)
    return contradicted_baselines(connection, folder / CONTRADICTED, workspace.settings.build.seed)


def _contraindicated(
    workspace: Workspace, connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, folder: Path
) -> dict[str, int]:
    """Write the configuration of predicates of which no statement is called false; return its rows by split.

    It replaces the tables of rows. Without any row no folder is made.
    """
    if not number_of(connection, "select count(*) from true_candidate"):
        return {}
    run_steps(connection, "groups", ["true_group"])
    run_steps(connection, "rows", STATEMENTS)
    # The second split is that of the groups of four.
    connection.execute("update statement set fact_split = null")
    _say(connection, graph)
    _write_files(workspace, connection, folder)
    return dict(connection.execute("select split, count(*) from placed_row group by split").fetchall())


def _describe(
    workspace: Workspace,
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    statements: int,
    aucs: dict[str, list[Auc]],
    contraindicated: dict[str, int],
) -> None:
    """Write the card, the Croissant description and the manifest."""
    tier = licence_tier(connection)
    left_out = dropped(connection, STAGE)
    schemas = {"data": MEDIEVAL_SCHEMA, "statements.parquet": STATEMENT_SCHEMA}
    if (folder / CONTRADICTED).is_dir():
        schemas[CONTRADICTED] = CONTRADICTED_SCHEMA
    if (folder / CONTRAINDICATED).is_dir():
        schemas[CONTRAINDICATED] = MEDIEVAL_SCHEMA
    card = card_of(connection, aucs["data"], aucs[CONTRADICTED], contraindicated, left_out, tier)
    write_text(folder / "README.md", card)
    kept = {
        "rows": number_of(connection, "select count(*) from ground.medieval"),
        "contradicted": number_of(connection, "select count(*) from ground.medieval_contradicted"),
        "contraindicated": sum(contraindicated.values()),
        "statements": statements,
        "files": {f.relative_to(folder).as_posix(): sha256_of(f) for f in sorted(folder.rglob("*.parquet"))},
    }
    manifest = manifest_of(
        STAGE,
        inputs=[*inputs(connection), *workspace.rules.inputs()],
        settings=workspace.settings.model_dump(mode="json", include={"load", "notes", "build"}),
        seed=workspace.settings.build.seed,
        kept=kept,
        dropped=left_out,
        tier=tier,
    )
    described = croissant_of(manifest, DESCRIPTION, schemas, LICENCE[tier])
    write_text(folder / "croissant.json", to_json(described))
    manifest["baselines"] = [auc.as_dict() for auc in aucs["data"]]
    manifest["contradicted_baselines"] = [auc.as_dict() for auc in aucs[CONTRADICTED]]
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
    total = totals(connection)
    return BuildReport(
        folder=str(folder),
        rows=total["rows"],
        groups=total["groups"],
        admissions=total["admissions"],
        statements=total["statements"],
        by_quadrant=counts("quadrant"),
        by_predicate=by_predicate,
        by_split=counts("split"),
        multi_hop=total["multi_hop"],
        dropped=dropped(connection, STAGE),
        baselines=[auc.as_dict() for auc in aucs],
        contradicted=number_of(connection, "select count(*) from ground.medieval_contradicted"),
        contraindicated=read_manifest(folder).get("rows", {}).get(CONTRAINDICATED, 0),
        skipped=skipped,
    )


def _fingerprint(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> str:
    stages = {stage: stage_fingerprint(connection, stage) for stage in ("graph", "concepts", "sections", "mentions")}
    return fingerprint({**stages, "build": workspace.settings.build.model_dump_json()})


def _require_statements(connection: duckdb.DuckDBPyConnection) -> None:
    if not connection.execute("select 1 from statement limit 1").fetchall():
        raise InputError(
            "no statement could be made",
            found=f"{sum(dropped(connection, STAGE).values())} items left out; the reasons are in ground.drop",
            expected="admissions with notes whose concepts the graph relates",
            do="look at `ontoground sql dropped` and at the coverage queries",
        )


def build_medieval(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> BuildReport:
    """Build ``datasets/medieval`` and the table ``ground.medieval``; a dataset that is current is left as it is.

    Raises:
        InputError: an earlier stage is missing, or no statement can be made of the cohort.
    """
    _require(connection, workspace.settings.build)
    folder = workspace.dataset(STAGE)
    expected = _fingerprint(workspace, connection)
    if is_current(connection, STAGE, expected) and (folder / "manifest.json").is_file():
        return _report(connection, folder, [], skipped=True)
    settings, executor = workspace.settings.build, open_threads(workspace.settings.run)
    graph = ConceptGraph.open(workspace.graph)
    with progress("statements", 5) as advance:
        read_support(connection, graph, settings)
        advance(1)
        find_true_facts(connection, graph, settings, executor)
        connection.execute("create or replace temp table first_isolated as select * from isolated")
        advance(1)
        make_groups(connection, graph, settings, executor, private_directory(workspace.root / "cache"))
        advance(1)
        run_steps(connection, "rows", STATEMENTS)
        _count_drops(connection)
        _require_statements(connection)
        _say(connection, graph)
        with atomic_directory(folder) as part:
            measured = _write_rows(workspace, connection, part / "data")
            statements = _write_statements(connection, part / "statements.parquet")
            denied = _contradicted(workspace, connection, part)
            contraindicated = _contraindicated(workspace, connection, graph, part / CONTRAINDICATED)
            advance(1)
            aucs = _baselines(measured, settings.seed)
            of_side = {"data": aucs, CONTRADICTED: denied}
            _describe(workspace, connection, part, statements, of_side, contraindicated)
            advance(1)
    mark_done(connection, STAGE, expected)
    return _report(connection, folder, aucs, skipped=False)
