"""The second road finds what is wrong in contradicted rows, each damage by its own check."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ground.contracts.rows import CONTRADICTED_SCHEMA
from stewardship.second_road.validation import PART_CHECKS, WHOLE_CHECKS, validate_medieval
from tests.builders.medieval_world import Built, Row
from tests.builders.test_validate import checks_of

Damage = Callable[[Row, Row], None]
"""Changes a denied row; the supported row of its statement is at hand."""


def called_silent(row: Row, partner: Row) -> None:
    row["support_level"] = "silent"


def copy_without_spans(row: Row, partner: Row) -> None:
    partner["support_spans"] = []


def another_statement(row: Row, partner: Row) -> None:
    row["hops"] += 1


def another_context(row: Row, partner: Row) -> None:
    row["context"] += " and more"


def twice(row: Row, partner: Row) -> None:
    row["id"] = partner["id"]


def span_moved(row: Row, partner: Row) -> None:
    row["denied_spans"][0]["begin_offset"] += 1


def kept_span_of_the_denied_end(row: Row, partner: Row) -> None:
    row["support_spans"][0]["role"] = row["denied_spans"][0]["role"]


def end_that_the_note_affirms(row: Row, partner: Row) -> None:
    """The denial is laid to the patient of its partner, who has the end."""
    row |= {name: partner[name] for name in ("subject_id", "hadm_id", "context", "split")}


def end_that_nothing_attests(row: Row, partner: Row) -> None:
    """Sides are changed: what the note denies is called attested."""
    for span in (*row["support_spans"], *row["denied_spans"]):
        span["role"] = {"head": "tail", "tail": "head"}[span["role"]]


DAMAGES: list[tuple[str, Damage]] = [
    ("labels of a contradicted row go together", called_silent),
    ("a supported row is a copy of one of data/", copy_without_spans),
    ("a contradicted statement is one that a supported row of its split makes", another_statement),
    ("a contradicted row has the context, the patient and the split of its admission", another_context),
    ("a contradicted row id occurs once", twice),
    ("a denied span is a mention that names the end and denies it", span_moved),
    ("a span of a contradicted row attests the other end", kept_span_of_the_denied_end),
    ("nothing in the record says what a row calls denied", end_that_the_note_affirms),
    ("the other end of a contradicted row is attested", end_that_nothing_attests),
]
OF_SEVERAL = {"statements and admissions are contradicted as often as supported"}
IN_THE_RECORD = {"the words of a denial stand nowhere else"}


def contradicted_rows(folder: Path) -> list[Row]:
    files = sorted((folder / "contradicted").glob("*.parquet"))
    rows: list[Row] = pa.concat_tables([pq.read_table(file) for file in files]).to_pylist()
    return rows


def test_a_fresh_configuration_has_no_disagreement(denying: Built) -> None:
    report = validate_medieval(denying.workspace, denying.connection, denying.folder)
    assert report.disagreements == []
    assert report.rows == len(denying.rows) + denying.report.contradicted + denying.report.contraindicated


def test_every_damage_is_found_by_its_check(denying: Built, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    shutil.copytree(denying.folder, folder)
    rows = contradicted_rows(folder)
    denied = [row for row in rows if not row["is_supported"]]
    planted = []
    for (check, damage), row in zip(DAMAGES, denied, strict=False):
        partner = next(one for one in rows if one["is_supported"] and one["statement"] == row["statement"])
        damage(row, partner)
        planted.append((check, partner["id"] if damage is copy_without_spans else row["id"]))
    # One is gone, so that its statement stands more often as supported.
    rows.remove(denied[-1])
    for file in (folder / "contradicted").glob("*.parquet"):
        file.unlink()
    pq.write_table(pa.Table.from_pylist(rows, CONTRADICTED_SCHEMA), folder / "contradicted" / "all.parquet")
    report = validate_medieval(denying.workspace, denying.connection, folder)
    lines = {(line["check"], line["id"]) for line in report.disagreements}
    assert [one for one in planted if one not in lines] == []
    unbalanced = {id for check, id in lines if check in OF_SEVERAL}
    assert f"{denied[-1]['split']}: {denied[-1]['statement']}" in unbalanced


@pytest.mark.parametrize("assertion", ["present", "discontinued", "possible"])
def test_a_mention_that_no_longer_denies_is_found(denying: Built, assertion: str) -> None:
    row = next(row for row in contradicted_rows(denying.folder) if not row["is_supported"])
    connection, where = denying.connection, [row["hadm_id"], row["denied_spans"][0]["begin_offset"]]
    change = "update ground.mention set assertion = ? where hadm_id = ? and begin_offset = ?"
    denied = "select assertion from ground.mention where hadm_id = ? and begin_offset = ?"
    before = connection.execute(denied, where).fetchall()
    # Committed, and taken back: workers see nothing of a transaction that is open.
    connection.execute(change, [assertion, *where])
    try:
        report = validate_medieval(denying.workspace, connection, denying.folder)
    finally:
        connection.execute(change, [before[0][0], *where])
    assert len(before) == 1
    assert {line["check"] for line in report.disagreements if line["id"] == row["id"]} >= {
        "a denied span is a mention that names the end and denies it",
        "nothing in the record says what a row calls denied",
        "the words of a denial stand nowhere else",
    }


def test_every_check_has_a_damage_here() -> None:
    planted = {check for check, _ in DAMAGES} | OF_SEVERAL | IN_THE_RECORD
    assert checks_of((*PART_CHECKS["denying"], *WHOLE_CHECKS["denying"])) == planted
