"""The second road finds what is wrong in contradicted rows, each damage by its own check."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stewardship.second_road.validation import validate_medieval
from ground.contracts.rows import CONTRADICTED_SCHEMA
from ground.storage.sqlfiles import sql_text
from tests.builders.medieval_world import Built, Row

Damage = Callable[[Built, list[Row]], None]


def denied(rows: list[Row]) -> Row:
    return next(row for row in rows if not row["is_supported"])


def copied(rows: list[Row]) -> Row:
    return next(row for row in rows if row["is_supported"])


def another_copy(built: Built, rows: list[Row]) -> None:
    copied(rows)["support_spans"] = []


def another_statement(built: Built, rows: list[Row]) -> None:
    denied(rows)["hops"] += 1


def another_context(built: Built, rows: list[Row]) -> None:
    denied(rows)["context"] += " and more"


def called_silent(built: Built, rows: list[Row]) -> None:
    denied(rows)["support_level"] = "silent"


def one_sided(built: Built, rows: list[Row]) -> None:
    rows.remove(denied(rows))


def twice(built: Built, rows: list[Row]) -> None:
    one, other = [row for row in rows if not row["is_supported"]][:2]
    other["id"] = one["id"]


def span_moved(built: Built, rows: list[Row]) -> None:
    denied(rows)["denied_spans"][0]["begin_offset"] += 1


def kept_span_of_the_denied_end(built: Built, rows: list[Row]) -> None:
    row = denied(rows)
    row["support_spans"][0]["role"] = row["denied_spans"][0]["role"]


def end_that_the_note_affirms(built: Built, rows: list[Row]) -> None:
    """The denial is laid to the patient of its partner, who has the end."""
    row = denied(rows)
    true = next(one for one in rows if one["is_supported"] and one["statement"] == row["statement"])
    row |= {name: true[name] for name in ("subject_id", "hadm_id", "context", "split")}


def end_that_nothing_attests(built: Built, rows: list[Row]) -> None:
    """Sides are changed: what the note denies is called attested."""
    row = denied(rows)
    for span in (*row["support_spans"], *row["denied_spans"]):
        span["role"] = {"head": "tail", "tail": "head"}[span["role"]]


DAMAGES: dict[str, Damage] = {
    "a supported row is a copy of one of data/": another_copy,
    "a contradicted statement is one that a supported row of its split makes": another_statement,
    "a contradicted row has the context, the patient and the split of its admission": another_context,
    "labels of a contradicted row go together": called_silent,
    "statements and admissions are contradicted as often as supported": one_sided,
    "a contradicted row id occurs once": twice,
    "a denied span is a mention that names the end and denies it": span_moved,
    "a span of a contradicted row attests the other end": kept_span_of_the_denied_end,
    "nothing in the record says what a row calls denied": end_that_the_note_affirms,
    "the other end of a contradicted row is attested": end_that_nothing_attests,
}
IN_THE_RECORD = {"the words of a denial stand nowhere else"}


@pytest.fixture
def damaged(denying: Built, tmp_path: Path) -> Callable[[Damage], dict[str, int]]:
    """Damage the rows and return the disagreements by check."""

    def write(damage: Damage) -> dict[str, int]:
        folder = tmp_path / "dataset"
        shutil.copytree(denying.folder, folder)
        files = sorted((folder / "contradicted").glob("*.parquet"))
        rows = pa.concat_tables([pq.read_table(file) for file in files]).to_pylist()
        for file in files:
            file.unlink()
        damage(denying, rows)
        pq.write_table(pa.Table.from_pylist(rows, CONTRADICTED_SCHEMA), folder / "contradicted" / "all.parquet")
        return validate_medieval(denying.workspace, denying.connection, folder).by_check

    return write


def test_a_fresh_configuration_has_no_disagreement(denying: Built) -> None:
    report = validate_medieval(denying.workspace, denying.connection, denying.folder)
    assert report.disagreements == []
    assert report.rows == len(denying.rows) + denying.report.contradicted


@pytest.mark.parametrize(("check", "damage"), DAMAGES.items(), ids=[one.__name__ for one in DAMAGES.values()])
def test_a_damage_is_found_by_its_check(
    damaged: Callable[[Damage], dict[str, int]], check: str, damage: Damage
) -> None:
    assert damaged(damage)[check] >= 1


@pytest.mark.parametrize("assertion", ["present", "discontinued", "possible"])
def test_a_mention_that_no_longer_denies_is_found(denying: Built, assertion: str) -> None:
    connection, row = denying.connection, _first_denied(denying)
    where = [row["hadm_id"], row["denied_spans"][0]["begin_offset"]]
    change = "update ground.mention set assertion = ? where hadm_id = ? and begin_offset = ?"
    denied = "select assertion from ground.mention where hadm_id = ? and begin_offset = ?"
    before = connection.execute(denied, where).fetchall()
    # Committed, and taken back: workers see nothing of a transaction that is open.
    connection.execute(change, [assertion, *where])
    try:
        found = validate_medieval(denying.workspace, connection, denying.folder).disagreements
    finally:
        connection.execute(change, [before[0][0], *where])
    assert len(before) == 1
    assert {line["check"] for line in found if line["id"] == row["id"]} >= {
        "a denied span is a mention that names the end and denies it",
        "nothing in the record says what a row calls denied",
        "the words of a denial stand nowhere else",
    }


def _first_denied(built: Built) -> Row:
    files = sorted((built.folder / "contradicted").glob("*.parquet"))
    return denied(pa.concat_tables([pq.read_table(file) for file in files]).to_pylist())


def test_every_check_has_a_damage_here() -> None:
    files = ("contradicted", "contradicted_whole")
    lines = [line for file in files for line in sql_text(f"stewardship/second_road/{file}").splitlines()]
    assert {line.split("'")[1] for line in lines if "' as check_name" in line} == {*DAMAGES, *IN_THE_RECORD}
