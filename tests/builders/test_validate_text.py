"""The validator finds a name of the replaced end in the bare text of any note, by words of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from ehr.sources.contract import make_views
from ground.storage.warehouse import connect
from stewardship.second_road.validation import validate_medieval
from tests.builders.medieval_world import Built, Row, copied, first

CHECK = "the text of no note names the replaced end of an unsupported statement"


def names_of(built: Built, row: Row) -> dict[str, str]:
    """Return names of a row's replaced end, of a form of it, and of something below it, where there are any."""
    cui = row[f"{row['replaced_end']}_cui"]
    queries = {
        "synonym": "select max(name) from kg.name where cui = $1 and length(name) > 3",
        "form": "select max(name) from kg.name inner join kg.edge on cui = head_cui "
        "where predicate = 'drug_form_of' and tail_cui = $1 and length(name) > 3",
        "below": "select max(name) from kg.name inner join kg.edge on cui = head_cui "
        "where predicate = 'is_a' and tail_cui = $1 and length(name) > 3",
        "two below": "select max(name) from kg.name inner join kg.edge as lower on cui = lower.head_cui "
        "inner join kg.edge as upper on lower.tail_cui = upper.head_cui where lower.predicate = 'is_a' "
        "and upper.predicate = 'is_a' and upper.tail_cui = $1 and length(name) > 3",
    }
    found = {kind: built.connection.execute(query, [cui]).fetchall()[0][0] for kind, query in queries.items()}
    return {"printed": row[f"{row['replaced_end']}_name"]} | {kind: name for kind, name in found.items() if name}


def disagreements(built: Built, staged: Path, root: Path, hadm_id: int, text: str) -> set[str]:
    """Return the rows that the check finds, when an addendum that nobody read has come to an admission."""
    workspace = copied(staged, root)
    connection = connect(workspace.warehouse, workspace.settings.run)
    connection.execute(
        "insert into mimiciv_note.discharge by name select * replace (note_id || 'A' as note_id, $1 as text) "
        "from mimiciv_note.discharge where hadm_id = $2 limit 1",
        [text, hadm_id],
    )
    report = validate_medieval(workspace, connection, built.folder)
    connection.close()
    assert set(report.by_check) <= {CHECK}
    return {line["id"] for line in report.disagreements}


def with_name(built: Built, kind: str) -> tuple[Row, str]:
    for row in built.rows:
        names = {} if row["is_supported"] else names_of(built, row)
        if kind in names:
            return row, names[kind]
    raise AssertionError(f"no unsupported row has a name of the kind {kind}")


@pytest.mark.parametrize("kind", ["printed", "synonym", "form", "below", "two below"])
def test_a_name_in_another_note_of_the_admission_is_found(
    medieval: Built, staged: Path, tmp_path: Path, kind: str
) -> None:
    row, name = with_name(medieval, kind)
    found = disagreements(medieval, staged, tmp_path / "work", row["hadm_id"], f"Addendum: {name}.")
    assert row["id"] in found
    assert found <= {one["id"] for one in medieval.rows if one["hadm_id"] == row["hadm_id"]}


@pytest.mark.parametrize(
    "text",
    ["{upper}", "two {name}s", "non-{hyphened}-like", "of{newline}{name}", "({name})", "{accented}"],
    ids=["capitals", "plural", "inside a longer word", "over a line", "in brackets", "with an accent"],
)
def test_a_name_is_found_however_it_is_written(medieval: Built, staged: Path, tmp_path: Path, text: str) -> None:
    row = first(medieval.rows, "Q4")
    name = row[f"{row['replaced_end']}_name"]
    written = text.format(
        name=name,
        upper=name.upper(),
        hyphened=name.replace(" ", "-"),
        newline="\n",
        accented=name.replace("e", "\N{LATIN SMALL LETTER E WITH ACUTE}"),
    )
    assert row["id"] in disagreements(medieval, staged, tmp_path / "work", row["hadm_id"], written)


def test_part_of_a_word_is_no_name(medieval: Built, staged: Path, tmp_path: Path) -> None:
    row = first(medieval.rows, "Q4")
    name = row[f"{row['replaced_end']}_name"]
    text = f"x{name}x"
    assert disagreements(medieval, staged, tmp_path / "work", row["hadm_id"], text) == set()


def test_radiology_reports_are_read_where_the_dataset_says_so(medieval: Built, staged: Path, tmp_path: Path) -> None:
    workspace = copied(staged, tmp_path / "work")
    connection = connect(workspace.warehouse, workspace.settings.run)
    row = first(medieval.rows, "Q4")
    connection.execute("drop table if exists mimiciv_note.radiology")
    connection.execute(
        "create table mimiciv_note.radiology as select 'r1' as note_id, $1::bigint as subject_id, "
        "$2::bigint as hadm_id, $3 as text",
        [row["subject_id"], row["hadm_id"], row[f"{row['replaced_end']}_name"]],
    )
    make_views(connection)
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / "data").symlink_to(medieval.folder / "data")
    manifest = (medieval.folder / "manifest.json").read_text(encoding="utf-8")
    for setting, found in (("false", set()), ("true", {CHECK})):
        (folder / "manifest.json").write_text(manifest.replace('"radiology": false', f'"radiology": {setting}'))
        assert set(validate_medieval(workspace, connection, folder).by_check) == found
    connection.close()
