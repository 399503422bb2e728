"""The evidence of each row is checked too: path, spans, wording, group (sql/stewardship/second_road/evidence.sql)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stewardship.second_road.validation import validate_medieval
from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.storage.sqlfiles import sql_text
from tests.builders.medieval_world import Built, Row, first

Damage = Callable[[list[Row]], None]


def no_path(rows: list[Row]) -> None:
    first(rows, "Q1")["path"] = []


def path_of_a_false_statement(rows: list[Row]) -> None:
    first(rows, "Q4")["path"] = first(rows, "Q1")["path"]


def path_that_starts_elsewhere(rows: list[Row]) -> None:
    first(rows, "Q1")["path"][0]["head_cui"] = "C0"


def invented_evidence(rows: list[Row]) -> None:
    first(rows, "Q1")["path"][0]["rui"] = "R0"


def no_spans(rows: list[Row]) -> None:
    first(rows, "Q3")["support_spans"] = []


def span_of_another_concept(rows: list[Row]) -> None:
    first(rows, "Q1")["support_spans"][0]["cui"] = "C0"


def support_without_a_level(rows: list[Row]) -> None:
    first(rows, "Q1")["support_level"] = "silent"


def falsehood_without_a_reason(rows: list[Row]) -> None:
    first(rows, "Q4")["why_false"] = None


def sentence_of_another_row(rows: list[Row]) -> None:
    first(rows, "Q1")["statement"] = "Something else treats something."


def group_with_a_row_less(rows: list[Row]) -> None:
    rows.remove(first(rows, "Q2"))


def replaced_concept_that_the_fact_does_not_have(rows: list[Row]) -> None:
    for row in rows:
        if row["group_id"] == rows[0]["group_id"] and row["quadrant"] != "Q1":
            row["replaced_cui"] = "C0"


def fact_split_of_another_patient(rows: list[Row]) -> None:
    row = next(row for row in rows if row["fact_split"] == "train")
    row["fact_split"] = "test"


def drug_called_given(rows: list[Row]) -> None:
    row = first(rows, "Q4")
    row["given"] = "both"


def statement_of_another_group(rows: list[Row]) -> None:
    one = rows[0]
    other = next(row for row in rows if row["hadm_id"] == one["hadm_id"] and row["group_id"] != one["group_id"])
    other["statement"] = one["statement"]


DAMAGES: list[tuple[Damage, str]] = [
    (no_path, "hops counts the edges of the path"),
    (path_of_a_false_statement, "hops counts the edges of the path"),
    (path_that_starts_elsewhere, "a path leads from head to tail"),
    (invented_evidence, "an edge of a path is in the graph"),
    (no_spans, "a statement has a span for each end that it is supported by"),
    (span_of_another_concept, "a span attests the end that it stands for"),
    (support_without_a_level, "support_level, tier and why_false go with the labels"),
    (falsehood_without_a_reason, "support_level, tier and why_false go with the labels"),
    (sentence_of_another_row, "a statement names both ends"),
    (group_with_a_row_less, "a group has one statement of each quadrant, made from its first"),
    (
        replaced_concept_that_the_fact_does_not_have,
        "a group has one statement of each quadrant, made from its first",
    ),
    (drug_called_given, "given names the ends that rest on a drug that was given"),
    (statement_of_another_group, "a statement stands once in an admission"),
    (fact_split_of_another_patient, "a row is in the fact_split of its patient or in none"),
]


@pytest.mark.parametrize(("damage", "check"), DAMAGES, ids=[damage.__name__ for damage, _ in DAMAGES])
def test_a_damage_of_the_evidence_is_found(medieval: Built, tmp_path: Path, damage: Damage, check: str) -> None:
    rows = medieval.table.to_pylist()
    damage(rows)
    (tmp_path / "data").mkdir()
    shutil.copy(medieval.folder / "manifest.json", tmp_path)
    pq.write_table(pa.Table.from_pylist(rows, schema=MEDIEVAL_SCHEMA), tmp_path / "data" / "all.parquet")
    report = validate_medieval(medieval.workspace, medieval.connection, tmp_path)
    assert report.by_check.get(check) == 1


def test_every_check_of_the_evidence_has_a_damage_here() -> None:
    lines = sql_text("stewardship/second_road/evidence").splitlines()
    checks = {line.split("'")[1] for line in lines if "' as check_name" in line}
    assert checks | {"an edge of a path is in the graph"} == {check for _, check in DAMAGES}
