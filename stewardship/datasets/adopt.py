"""Take up a dataset folder of ours as a benchmark: all its rows, or a sample balanced over labels and strata."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl

from ground.errors import InputError, UsageError
from ground.settings import read_settings
from ground.storage.files import sha256_of
from ground.storage.sqlfiles import quoted_files
from ground.storage.warehouse import database_config, open_database, run_sql, set_variables
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import LabelTable
from stewardship.datasets.provenance import noted_rows
from stewardship.datasets.rows import cells
from stewardship.second_road.folders import LABELS, DatasetFolder, DatasetKind, open_folder

__all__ = ["MOST_ROWS", "POPULATION", "adopt_dataset", "dataset_of", "population_of"]

MOST_ROWS = 200_000
"""Rows that a benchmark can hold: its rows and their history are kept in memory."""
POPULATION = "population.json"
"""File of the benchmark: which dataset it was drawn from, and how many rows of each stratum and label that has."""


def adopt_dataset(workspace: Path, folder: Path, *, name: str | None, rows: int | None, seed: int) -> Benchmark:
    """Take up a dataset folder (MediEval, MedHal or MedVAL).

    Memory: the whole dataset is read for ids, labels and strata only; texts are read of the rows that are taken.

    Args:
        workspace: where the benchmark is written.
        folder: a folder that ``ontoground build`` wrote.
        name: of the benchmark; the dataset's own where left out.
        rows: how many to take, balanced over labels and spread over strata (relations, tasks) by stable hash; all
            where left out.
        seed: of the sample.

    Raises:
        InputError: the folder is no dataset of ours.
        UsageError: more rows than a benchmark can hold, or a benchmark of this name is there already.
    """
    dataset = open_folder(folder)
    spill = workspace / "cache" / "duckdb"
    config = database_config(read_settings(workspace / "ontoground.toml").run, spill)
    with closing(open_database(config=config)) as connection:
        population = _labelled(connection, dataset)
        if (rows or population["rows"].sum()) > MOST_ROWS:
            raise UsageError(
                "too many rows for one benchmark",
                found=f"{rows or population['rows'].sum():,}",
                expected=f"{MOST_ROWS:,} at most",
                do="take a sample with --rows",
            )
        frame = _taken(connection, dataset, rows=rows, seed=seed)
    file = dataset.manifest if dataset.manifest.is_file() else dataset.files[0]
    table = LabelTable(frame, dataset.kind, file, sha256_of(file))
    is_open = dataset.licence_tier == "open" and not noted_rows(workspace, frame)
    why = "a dataset of open sources, as it was built" if is_open else ""
    drawn = {"dataset": dataset.kind, "seed": seed, "sampled": rows is not None, "cells": population.to_dicts()}
    return Benchmark.adopt(
        workspace,
        name or dataset.kind,
        [table],
        open_because=why,
        categories=LABELS[dataset.kind],
        beside={POPULATION: json.dumps(drawn, indent=2) + "\n"},
    )


def dataset_of(benchmark: Benchmark) -> DatasetKind:
    """Return which dataset of ours a benchmark was drawn from.

    Raises:
        InputError: none.
    """
    file = benchmark.folder / POPULATION
    if not file.is_file():
        raise InputError(
            "this benchmark is not a dataset built by ontoground",
            file=benchmark.folder,
            found=benchmark.name,
            expected="one that was adopted from a folder of `ontoground build`",
        )
    kind: DatasetKind = json.loads(file.read_text(encoding="utf-8"))["dataset"]
    return kind


def population_of(benchmark: Benchmark) -> pl.DataFrame:
    """Return how many rows of each stratum and label the whole dataset has; none for a benchmark that is not ours.

    *columns*: stratum, label, rows.
    """
    schema = {"stratum": pl.String, "label": pl.String, "rows": pl.Int64}
    file = benchmark.folder / POPULATION
    drawn = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"cells": []}
    return pl.DataFrame(drawn["cells"], schema=schema)


def _labelled(connection: duckdb.DuckDBPyConnection, dataset: DatasetFolder) -> pl.DataFrame:
    uid, label, stratum = dataset.columns
    connection.execute(f"set variable files = {quoted_files(dataset.files)}")
    connection.execute(
        f"create temp view dataset as select *, {uid} as uid, {label} as label_text, {stratum} as stratum "
        "from read_parquet(getvariable('files'))"
    )
    connection.execute("create temp view labelled as select uid, label_text as label, stratum from dataset")
    counted = "select stratum, label, count(*) as rows from labelled group by all order by stratum, label"
    return connection.sql(counted).pl()


def _taken(
    connection: duckdb.DuckDBPyConnection, dataset: DatasetFolder, *, rows: int | None, seed: int
) -> pl.DataFrame:
    set_variables(connection, {"seed": seed, "wanted": rows})
    run_sql(connection, "stewardship/sample")
    joined = {"medieval": "", "medhal": PARTNER, "medval": _edits(dataset)}[dataset.kind]
    more = {
        "medieval": "",
        "medhal": ", other.statement as partner, other.explanation as partner_explanation",
        "medval": EDITED if joined else "",
    }[dataset.kind]
    taken = connection.sql(
        f"select dataset.*{more} from dataset {joined} "
        "semi join picked on dataset.uid = picked.uid order by dataset.uid"
    )
    items = [cells(dataset.kind, row) for batch in taken.to_arrow_reader(1024) for row in batch.to_pylist()]
    return pl.DataFrame(items, infer_schema_length=None)


PARTNER = (
    "left join read_parquet(getvariable('files')) as other "
    "on dataset.pair_id = other.pair_id and dataset.id != other.id"
)
"""Join of MedHal's other statement over the same context, which an auditor compares with."""
EDITED = (
    ", triple.clean_output, triple.clean_level, triple.perturbed_level, "
    "if(variant = 'clean', triple.clean_edits, triple.perturbed_edits) as edits"
)


def _edits(dataset: DatasetFolder) -> str:
    """Return the join of MedVAL's triples: the edits of an output, and the output that was edited."""
    triples = dataset.folder / "triples.parquet"
    if not triples.is_file():
        return ""
    return f"left join read_parquet({quoted_files([triples])}) as triple on dataset.triple_id = triple.triple_id"
