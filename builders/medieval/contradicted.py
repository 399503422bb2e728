"""Rows whose unsupported end the note names and denies, balanced with supported rows that say the same.

Each statement stands equally often on both sides in each split, and so does each admission: neither tells the label
alone, nor do the names of the ends, which stand in every context. Source: docs/definitions.md#contradicted
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from builders.medieval.baselines import Auc, fitted_auc, scored_auc
from builders.medieval.coding import admissions_at_once
from builders.medieval.facts import run_steps
from builders.medieval.files import contexts_of
from builders.shards import SPLITS, ShardWriter
from ground.contracts.rows import CONTRADICTED_SCHEMA
from ground.storage.sqlfiles import quoted_files, sql_text
from ground.storage.warehouse import arrow_of, number_of, set_table, set_variables

__all__ = ["CONTRADICTED", "contradicted_baselines", "contradicted_drops", "find_contradictions", "write_contradicted"]

CONTRADICTED = "contradicted"
"""Name of the configuration, and of the folder that it lies in."""

NESTED = ("context", "path", "support_spans", "denied_spans")
"""Columns that are in the files only, not in the table ``ground.medieval_contradicted``."""

ROWS_AT_ONCE = 10_000
"""Rows whose contexts are in memory together, and rows that baselines look at, about: whole circuits."""


def find_contradictions(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``chosen``: what admissions contradict, and the supported rows of the same statements that balance it.

    Args:
        connection: with ``ground.medieval`` and the tables of the groups.
    """
    run_steps(connection, "contradicted", ["offered"])
    for _ in admissions_at_once(connection):
        run_steps(connection, "contradicted", ["denial"])
        _count_words(connection)
        run_steps(connection, "contradicted", ["elsewhere", "contradiction"])
    run_steps(connection, "contradicted", ["named"])
    # Compiled code is loaded where it is used.
    from builders.medieval.circuits import circuits_of

    edges = arrow_of(connection, sql_text("builders/medieval/contradicted/circuit_edge"))
    source, goal = (edges[name].to_numpy() for name in ("source", "goal"))
    nodes = int(max(source.max(initial=-1), goal.max(initial=-1))) + 1
    circuit = circuits_of(source, goal, nodes)
    chosen = edges.select(["number", "wording", "id"]).append_column("circuit", pa.array(circuit))
    set_table(connection, "chosen", chosen.filter(pa.array(circuit >= 0)))


def _count_words(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``words_said``: how often the notes of an admission have words that deny, and how often its mentions."""
    words = connection.execute("select distinct concat(' ', words, ' ') as words from denying_words").pl()["words"]
    texts = connection.execute(sql_text("builders/medieval/contradicted/denying_text")).pl()
    # Most words have one blank between them: it is left as it is.
    between = "[^a-z0-9]{2,}|[^a-z0-9 ]"
    spaced = " " + pl.col("text").str.to_lowercase().str.replace_all(between, " ").str.strip_chars(" ") + " "
    words_of_text = spaced.str.extract_many(words.implode(), overlapping=True).alias("words")
    occurrences = texts.select("number", "is_note", words_of_text).explode("words").drop_nulls("words")
    counted = occurrences.group_by("number", pl.col("words").str.strip_chars(" ")).agg(
        by_notes=pl.col("is_note").sum(), by_mentions=pl.col("is_note").not_().sum()
    )
    set_table(connection, "words_said", counted.to_arrow())


def write_contradicted(connection: duckdb.DuckDBPyConnection, data: Path, folder: Path) -> int:
    """Write the chosen rows, also to ``ground.medieval_contradicted``, and return their number.

    Without any row no folder is made.

    Args:
        connection: with ``chosen``.
        data: the files of the dataset, of which supported rows are copied.
        folder: where the files go.
    """
    files = quoted_files(sorted(data.glob("*.parquet")))
    connection.execute(f"create or replace temp view written as select * exclude (context) from read_parquet({files})")
    run_steps(connection, "contradicted", ["row"])
    columns = ", ".join(field.name for field in CONTRADICTED_SCHEMA if field.name not in NESTED)
    connection.execute(
        f"create or replace table ground.medieval_contradicted as select {columns} from contradicted_row order by id"
    )
    rows = number_of(connection, "select count(*) from contradicted_row")
    if rows:
        with ShardWriter(folder, CONTRADICTED_SCHEMA) as writer:
            for split in SPLITS:
                _write_split(connection, writer, split)
    return rows


def _write_split(connection: duckdb.DuckDBPyConnection, writer: ShardWriter, split: str) -> None:
    query = f"select * from contradicted_row where split = '{split}'"
    n = number_of(connection, f"select count(*) from ({query})")
    for begin in range(0, n, ROWS_AT_ONCE):
        between = f"{query} and row_no >= {begin} and row_no < {begin + ROWS_AT_ONCE} order by row_no"
        rows = arrow_of(connection, between)
        contexts = contexts_of(connection, rows["subject_id"])
        context = np.searchsorted(contexts["subject_id"].to_numpy(), rows["subject_id"].to_numpy()).astype(np.int32)
        text = pa.DictionaryArray.from_arrays(context, contexts["context"].combine_chunks())
        writer.write(rows.append_column("context", text))


def contradicted_drops(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, int]]:
    """Return what was named and denied and is in no row, by reason."""
    reasons: list[tuple[str, int]] = connection.execute(sql_text("builders/medieval/contradicted/drop")).fetchall()
    return reasons


def contradicted_baselines(connection: duckdb.DuckDBPyConnection, folder: Path, seed: int) -> list[Auc]:
    """Measure what statement, context or the names of the ends in the context tell of support; empty without rows.

    Args:
        connection: with ``kg.name`` and the written rows.
        folder: the files of the configuration.
        seed: of the resampling.
    """
    files = sorted(folder.glob("*.parquet"))
    if not files:
        return []
    set_variables(connection, {"measured": ROWS_AT_ONCE})
    connection.execute(f"create or replace temp view shown as select * from read_parquet({quoted_files(files)})")
    run_steps(connection, "contradicted", ["measured_row"])
    rows = arrow_of(connection, "select * from measured_row order by id")
    named = arrow_of(connection, sql_text("builders/medieval/contradicted/overlap"))
    least, total = named["least"].to_numpy(), named["total"].to_numpy()
    labels = np.array(rows["is_supported"].to_pylist(), np.bool_)
    owners = rows["subject_id"].to_numpy()
    aucs = [
        fitted_auc(rows["statement"].to_pylist(), labels, owners, "statement", "is_supported", seed),
        fitted_auc(rows["context"].to_pylist(), labels, owners, "context", "is_supported", seed),
    ]
    scores = {
        "names of both ends": least > 0,
        "how often the rarer end is named": least,
        "how often the ends are named": total,
    }
    return aucs + [
        scored_auc(score.astype(np.float64), labels, owners, "overlap", "is_supported", how, seed)
        for how, score in scores.items()
    ]
