"""The validator finds a name of the replaced end in the bare text of any note, by words of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

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


def disagreements(built: Built, staged: Path, root: Path, addenda: Iterable[tuple[Row, str]]) -> set[str]:
    """Return the rows that the check finds, when addenda that nobody read have come to the admissions of rows."""
    workspace = copied(staged, root)
    connection = connect(workspace.warehouse, workspace.settings.run)
    for row, text in addenda:
        connection.execute(
            "insert into mimiciv_note.discharge by name select * replace (note_id || 'A' as note_id, $1 as text) "
            "from mimiciv_note.discharge where hadm_id = $2 limit 1",
            [text, row["hadm_id"]],
        )
    report = validate_medieval(workspace, connection, built.folder)
    connection.close()
    assert set(report.by_check) <= {CHECK}
    return {line["id"] for line in report.disagreements}


WRITTEN = {
    "capitals": "{upper}",
    "plural": "two {name}s",
    "inside a longer word": "non-{hyphened}-like",
    "over a line": "of{newline}{name}",
    "in brackets": "({name})",
    "with an accent": "{accented}",
    "with a dose at its end": "{name}20mg",
    "part of a word": "x{name}x",
}


def written(text: str, name: str) -> str:
    return text.format(
        name=name,
        upper=name.upper(),
        hyphened=name.replace(" ", "-"),
        newline="\n",
        accented=name.replace("e", "\N{LATIN SMALL LETTER E WITH ACUTE}"),
    )


def end_of(row: Row) -> str:
    return str(row[f"{row['replaced_end']}_cui"])


def odd(name: str) -> bool:
    """Tell whether a name has no plural in s, or no letter e to put an accent on."""
    return not re.fullmatch(r"[A-Z]?[a-z]{3,}( [a-z]{3,})*", name) or name.endswith(("s", "x", "y")) or "e" not in name


def alike(row: Row, other: Row) -> bool:
    return row["hadm_id"] == other["hadm_id"] or end_of(row) == end_of(other)


def test_names_in_other_notes_of_an_admission_are_found_however_they_are_written(
    medieval: Built, staged: Path, tmp_path: Path
) -> None:
    """Each kind of name and each way to write it, of an end of its own, all in one pass."""
    unsupported = [row for row in medieval.rows if not row["is_supported"]]
    row_by_end = {end_of(row): row for row in unsupported}
    names_by_end = {end: names_of(medieval, row) for end, row in row_by_end.items()}
    left = [(row, names_by_end[end_of(row)]) for row in unsupported]
    addenda: dict[str, tuple[Row, str]] = {}
    # What fewest have chooses first.
    for kind in ("two below", "below", "form", "synonym", "printed", *WRITTEN):
        key = "printed" if kind in WRITTEN else kind
        plain = kind in WRITTEN
        row, names = next((row, names) for row, names in left if key in names and not (plain and odd(names[key])))
        addenda[kind] = row, written(WRITTEN.get(kind, "Addendum: {name}."), names[key])
        left = [(other, names) for other, names in left if not alike(row, other)]
    found = disagreements(medieval, staged, tmp_path / "work", addenda.values())
    missed = {kind for kind, (row, _) in addenda.items() if row["id"] not in found}
    assert missed == {"part of a word"}
    named = {row["hadm_id"] for kind, (row, _) in addenda.items() if kind not in missed}
    assert found <= {row["id"] for row in medieval.rows if row["hadm_id"] in named}


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
    for name in ("data", "contraindicated"):
        (folder / name).symlink_to(medieval.folder / name)
    manifest = (medieval.folder / "manifest.json").read_text(encoding="utf-8")
    for setting, found in (("false", set()), ("true", {CHECK})):
        (folder / "manifest.json").write_text(manifest.replace('"radiology": false', f'"radiology": {setting}'))
        assert set(validate_medieval(workspace, connection, folder).by_check) == found
    connection.close()
