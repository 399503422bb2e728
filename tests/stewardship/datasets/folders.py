"""Small MedHal and MedVAL folders, and a warehouse with the little of a release that they are judged by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ehr.sources.contract import make_views
from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_SCHEMA
from ground.storage.warehouse import connect
from tests.manifests import write_manifest

__all__ = ["medhal_folder", "medhal_pair", "medval_folder", "medval_triple", "release"]

EDIT = pa.struct([*((name, pa.string()) for name in ("rule", "category", "before", "after")), ("begin", pa.int32())])


def medhal_pair(number: int, **changed: Any) -> list[dict[str, Any]]:
    """Return a factual and a non-factual row over one context."""
    right, wrong = f"The diagnosis number {number} is gout.", f"The diagnosis number {number} is sepsis."
    shared = {
        "pair_id": f"p{number}",
        "context": f"Case {number}.",
        "inner_id": f"test-{number}",
        "source": "medqa",
        "task": "question_answering",
        "synthetic": True,
        "wording": "smooth",
        "licence": "MIT",
        "subject_id": None,
        "in_length_filtered": True,
        "in_balanced": True,
        "split": "train",
    }
    rows = [
        {**shared, "id": f"p{number}-a", "statement": right, "label": True, "explanation": None},
        {**shared, "id": f"p{number}-b", "statement": wrong, "label": False, "explanation": right},
    ]
    return [{**row, **changed} for row in rows]


def medval_triple(number: int, output: str, level: int, errors: list[dict[str, Any]], *, clean: str) -> dict[str, Any]:
    """Return the edited row of a triple, with the clean output under ``clean``."""
    return {
        "id": f"t{number}-perturbed",
        "triple_id": f"t{number}",
        "task": "query2question",
        "variant": "perturbed",
        "instruction": "Ask one question.",
        "input": "My mother has gout and hypertension and takes 5 mg of warfarin.",
        "output": output,
        "reasoning": None,
        "errors": errors,
        "risk_level": level,
        "delta": (level - 1) / 3,
        "consistency": 1.0,
        "engine": "rules",
        "inner_id": str(number),
        "source": "meqsum",
        "licence": "MIT",
        "subject_id": None,
        "split": "train",
        "clean": clean,
    }


def medhal_folder(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Write a MedHal folder."""
    return _folder(folder, "medhal", pa.Table.from_pylist(rows, MEDHAL_SCHEMA))


def medval_folder(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Write a MedVAL folder with its triples."""
    dataset = _folder(folder, "medval", pa.Table.from_pylist(rows, MEDVAL_SCHEMA))
    triples = [
        {
            "triple_id": row["triple_id"],
            "clean_output": row["clean"],
            "clean_edits": [],
            "perturbed_edits": [{"rule": "edit", "category": None, "before": "", "after": row["output"], "begin": 0}],
            "clean_level": 1,
            "perturbed_level": row["risk_level"],
        }
        for row in rows
    ]
    schema = pa.schema(
        [
            *((name, pa.string()) for name in ("triple_id", "clean_output")),
            *((name, pa.list_(EDIT)) for name in ("clean_edits", "perturbed_edits")),
            *((name, pa.int8()) for name in ("clean_level", "perturbed_level")),
        ]
    )
    pq.write_table(pa.Table.from_pylist(triples, schema), dataset / "triples.parquet")
    return dataset


def _folder(folder: Path, name: str, rows: pa.Table) -> Path:
    (folder / "data").mkdir(parents=True)
    pq.write_table(rows, folder / "data" / "train-00000-of-00001.parquet")
    write_manifest(folder, name)
    return folder


def release(workspace: Path) -> None:
    """Write a warehouse with names and classes: gout and sepsis are apart, hypo- and hypertension are siblings."""
    with connect(workspace / "warehouse.duckdb") as connection:
        _tables(connection)
        make_views(connection)


def _tables(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("create table kg.name (cui varchar, name varchar, is_preferred boolean)")
    names = {
        "G": ("gout", "gouty arthritis"),
        "S": ("sepsis",),
        "H": ("hypertension",),
        "L": ("hypotension",),
        "W": ("warfarin", "coumadin"),
        "A": ("apixaban",),
    }
    rows = [(cui, name, at == 0) for cui, all_names in names.items() for at, name in enumerate(all_names)]
    connection.executemany("insert into kg.name values (?, ?, ?)", rows)
    connection.execute("create table kg.edge (head_cui varchar, predicate varchar, tail_cui varchar)")
    edges = [("W", "has_pharmacologic_class", "C"), ("A", "has_pharmacologic_class", "C")]
    connection.executemany("insert into kg.edge values (?, ?, ?)", edges)
    connection.execute("create table kg.predicate (predicate varchar)")
