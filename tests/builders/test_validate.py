"""The second road finds nothing in a fresh dataset, and every damage that it has a check for, by that check."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.medieval.build import build_medieval
from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.errors import InputError
from ground.settings import RunSettings, Settings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from stewardship.second_road import validation
from stewardship.second_road.validation import PART_CHECKS, WHOLE_CHECKS, validate_medieval
from tests.builders.medieval_world import Built, Row, copied, first

Group = dict[str, Row]
Damage = Callable[[Group, Group], str]
"""Changes rows of a group (another group is at hand), and returns what the disagreement is to be named by."""
ENDS = [f"{end}_{part}" for end in ("head", "tail") for part in ("cui", "name")]

CHANGES: list[tuple[str, str, Row]] = [
    ("a true statement has a path of its tier", "Q4", {"quadrant": "Q2", "is_true": True, "tier": "stated"}),
    ("a true statement has a path of its tier", "Q1", {"tier": "plausible"}),
    ("a false statement has no path in either direction", "Q2", {"quadrant": "Q4", "is_true": False, "tier": None}),
    ("the steps of a path are a pattern of its tier", "Q1", {"predicate": "causes"}),
    ("an end that the statement is supported by is attested", "Q4", {"quadrant": "Q3", "is_supported": True}),
    (
        "the replaced end of an unsupported statement is neither mentioned nor coded",
        "Q3",
        {"quadrant": "Q4", "is_supported": False},
    ),
    ("a quadrant is what its two labels say", "Q1", {"quadrant": "Q4"}),
    ("a name is a name of its concept", "Q1", {"head_name": "a name that no concept has"}),
    ("a statement names both ends", "Q1", {"statement": "Something else treats something."}),
    ("support_level, tier and why_false go with the labels", "Q1", {"support_level": "silent"}),
    ("support_level, tier and why_false go with the labels", "Q4", {"why_false": None}),
    ("an end is replaced by another concept, but in the first statement of a group", "Q2", {"replaced_end": "none"}),
    ("hops counts the edges of the path", "Q1", {"path": []}),
    (
        "hops counts the edges of the path",
        "Q4",
        {"path": [dict.fromkeys(MEDIEVAL_SCHEMA.field("path").type.value_type.names, "X")]},
    ),
    ("a statement has a span for each end that it is supported by", "Q3", {"support_spans": []}),
    ("a distractor is as far away as the settings ask", "Q4", {"distance": 3}),
    ("given names the ends that rest on a drug that was given", "Q4", {"given": "both"}),
]
"""A check, the quadrant of the row that is changed, and what is written into it."""


def ends_of_a_true_statement(group: Group, other: Group) -> str:
    group["Q4"].update({name: group["Q2"][name] for name in ENDS})
    return str(group["Q4"]["id"])


def turned_round(group: Group, other: Group) -> str:
    """A true pair is called false the other way round: a path in either direction forbids it."""
    row, swap = group["Q2"], {"head": "tail", "tail": "head"}
    ends = {name: row[f"{swap[name[:4]]}{name[4:]}"] for name in ENDS}
    row |= {"quadrant": "Q4", "is_true": False, "tier": None, "replaced_end": swap[row["replaced_end"]], **ends}
    return str(row["id"])


def within(field: str, name: str, change: Callable[[Any], Any], quadrant: str = "Q1") -> Damage:
    """Return a damage of the first item of a list of a row."""

    def damage(group: Group, other: Group) -> str:
        item = group[quadrant][field][0]
        item[name] = change(item[name])
        return str(group[quadrant]["id"])

    return damage


def context_of_its_own(group: Group, other: Group) -> str:
    group["Q1"]["context"] += " And more."
    return str(group["Q1"]["hadm_id"])


def id_twice(group: Group, other: Group) -> str:
    group["Q2"]["id"] = group["Q1"]["id"]
    return str(group["Q1"]["id"])


def of_another(field: str, change: Callable[[Any], Any]) -> Damage:
    """Return a damage that parts a row from the others of its patient."""

    def damage(group: Group, other: Group) -> str:
        group["Q3"][field] = change(group["Q3"][field])
        return str(group["Q3"]["subject_id"])

    return damage


def pair_in_two_fact_splits(group: Group, other: Group) -> str:
    group["Q1"] |= {"split": "train", "fact_split": "train"}
    other["Q1"] |= {name: group["Q1"][name] for name in ENDS} | {"split": "test", "fact_split": "test"}
    return " ".join(sorted((group["Q1"]["head_cui"], group["Q1"]["tail_cui"])))


def fact_split_of_another_patient(group: Group, other: Group) -> str:
    group["Q1"] |= {"split": "validation", "fact_split": "test"}
    return str(group["Q1"]["id"])


def group_with_a_row_less(group: Group, other: Group) -> str:
    group["Q2"]["quadrant"] = "left out"
    return str(group["Q1"]["group_id"])


def replaced_concept_that_the_fact_does_not_have(group: Group, other: Group) -> str:
    for quadrant in ("Q2", "Q3", "Q4"):
        group[quadrant]["replaced_cui"] = "C0"
    return str(group["Q1"]["group_id"])


def statement_twice(group: Group, other: Group) -> str:
    group["Q2"]["statement"] = group["Q1"]["statement"]
    return min(str(group[quadrant]["id"]) for quadrant in ("Q1", "Q2"))


DAMAGES: list[tuple[str, Damage]] = [
    ("a false statement has no path in either direction", ends_of_a_true_statement),
    ("a false statement has no path in either direction", turned_round),
    ("a span is the text of its mention", within("support_spans", "begin_offset", lambda offset: offset + 1)),
    ("a span is the text of its mention", within("support_spans", "text", lambda text: text + "s", "Q2")),
    ("a span attests the end that it stands for", within("support_spans", "cui", lambda cui: "C0")),
    ("a path leads from head to tail", within("path", "head_cui", lambda cui: "C0")),
    ("an edge of a path is in the graph", within("path", "rui", lambda rui: "R0")),
    ("an admission has one context", context_of_its_own),
    ("a row id occurs once", id_twice),
    ("a patient is in one split", of_another("split", {"train": "test", "test": "train", "validation": "test"}.get)),
    ("a patient is in one fold", of_another("fold", lambda fold: fold + 1)),
    ("a fold follows from the seed and the patient", of_another("fold", lambda fold: fold + 1)),
    ("a patient has one admission", of_another("hadm_id", lambda hadm_id: hadm_id + 10**6)),
    ("a pair is in one fact_split", pair_in_two_fact_splits),
    ("a row is in the fact_split of its patient or in none", fact_split_of_another_patient),
    ("a group has one statement of each quadrant, made from its first", group_with_a_row_less),
    (
        "a group has one statement of each quadrant, made from its first",
        replaced_concept_that_the_fact_does_not_have,
    ),
    ("a statement stands once in an admission", statement_twice),
]
BY_TEXT = {"the text of no note names the replaced end of an unsupported statement"}
"""Found in notes, not in rows: test_validate_text.py."""


def checks_of(files: tuple[str, ...]) -> set[str]:
    """Return the checks that SQL files make."""
    lines = [line for file in files for line in sql_text(file).splitlines()]
    return {line.split("'")[1] for line in lines if "' as check_name" in line or "(name := '" in line}


def written(medieval: Built, folder: Path, rows: list[Row]) -> Path:
    """Write rows as a dataset of their own, with the manifest of the real one and its rows of other configurations."""
    (folder / "data").mkdir()
    shutil.copy(medieval.folder / "manifest.json", folder)
    shutil.copytree(medieval.folder / "contraindicated", folder / "contraindicated")
    pq.write_table(pa.Table.from_pylist(rows, schema=MEDIEVAL_SCHEMA), folder / "data" / "all.parquet")
    return folder


@pytest.fixture(scope="module")
def damaged(medieval: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with every damage, each in a group of its own."""
    folder = tmp_path_factory.mktemp("damaged")
    rows = medieval.table.to_pylist()
    groups: dict[str, Group] = {}
    for row in rows:
        groups.setdefault(row["group_id"], {})[row["quadrant"]] = row
    at_hand: Iterator[Group] = iter(groups.values())
    planted = []
    for check, quadrant, change in CHANGES:
        row = next(at_hand)[quadrant]
        planted.append((check, row["id"]))
        row |= change
    planted += [(check, damage(next(at_hand), next(at_hand))) for check, damage in DAMAGES]
    (folder / "planted.json").write_text(json.dumps(planted))
    return written(medieval, folder, [row for row in rows if row["quadrant"] != "left out"])


def test_a_fresh_dataset_has_no_disagreement(medieval: Built) -> None:
    report = validate_medieval(medieval.workspace, medieval.connection, medieval.folder)
    assert report.disagreements == []
    assert report.by_check == {}
    assert report.as_dict()["rows"] == report.rows == len(medieval.rows) + medieval.report.contraindicated


def test_every_damage_is_found_by_its_check(medieval: Built, damaged: Path) -> None:
    report = validate_medieval(medieval.workspace, medieval.connection, damaged)
    lines = {(line["check"], line["id"]) for line in report.disagreements}
    contexts = {id for check, id in lines if check == "an admission has one context"}
    admissions = {row["id"]: str(row["hadm_id"]) for row in medieval.rows}
    lines |= {("an admission has one context", admissions[id]) for id in contexts}
    assert [
        planted for planted in json.loads((damaged / "planted.json").read_text()) if tuple(planted) not in lines
    ] == []
    assert all(set(line) == {"check", "id", "found", "expected"} for line in report.disagreements)
    assert report.by_check["a dataset has as many rows as were built"] == 1
    untouched = {row["id"] for row in medieval.rows[4 * (len(CHANGES) + 2 * len(DAMAGES)) :]}
    by_row = {
        id for check, id in lines if check in checks_of((WHOLE_CHECKS["labelled"][1], PART_CHECKS["labelled"][0]))
    }
    assert not by_row & untouched


def test_every_check_has_a_damage_here() -> None:
    planted = {check for check, *_ in CHANGES} | {check for check, _ in DAMAGES}
    assert checks_of((*PART_CHECKS["labelled"], *WHOLE_CHECKS["labelled"])) == planted | BY_TEXT


def test_how_many_patients_are_checked_at_once_and_by_how_many_workers_changes_nothing(
    medieval: Built, damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = validate_medieval(medieval.workspace, medieval.connection, damaged)
    monkeypatch.setattr(validation, "PATIENTS_AT_ONCE", 3)
    shared = Workspace(medieval.workspace.root, Settings(run=RunSettings(workers=2)))
    by_three = validate_medieval(shared, medieval.connection, damaged)
    assert [line for line in by_three.disagreements if line not in at_once.disagreements] == []
    assert by_three == at_once


def test_spans_outside_the_context_and_spans_that_the_note_negates_are_found(medieval: Built, tmp_path: Path) -> None:
    rows = medieval.table.to_pylist()
    of_admission = [row for row in rows if row["hadm_id"] == rows[0]["hadm_id"]]
    for row in of_admission:
        row["context"] = "Nothing of it."
    row = first([row for row in rows if row["hadm_id"] != rows[0]["hadm_id"]], "Q1")
    negated = medieval.connection.execute(
        "select begin_offset, end_offset, text from ground.mention where hadm_id = ? and assertion = 'absent' "
        "and contains($context, text) order by begin_offset".replace("?", "$hadm_id"),
        {"hadm_id": row["hadm_id"], "context": row["context"]},
    ).fetchone()
    assert negated is not None
    row["support_spans"][0].update(dict(zip(("begin_offset", "end_offset", "text"), negated, strict=True)))
    report = validate_medieval(medieval.workspace, medieval.connection, written(medieval, tmp_path, rows))
    misread = [line["id"] for line in report.disagreements if line["check"] == "a span is the text of its mention"]
    assert sorted(misread) == sorted([row["id"], *(one["id"] for one in of_admission for _ in one["support_spans"])])


def test_labels_that_the_warehouse_no_longer_bears_out_are_found(staged: Path, medieval: Built, tmp_path: Path) -> None:
    """The mentions of one admission are gone from the warehouse, the dataset is as it was."""
    workspace = copied(staged, tmp_path / "work")
    connection = connect(workspace.warehouse)
    hadm_id = medieval.rows[0]["hadm_id"]
    connection.execute("delete from ground.mention where hadm_id = ?", [hadm_id])
    report = validate_medieval(workspace, connection, medieval.folder)
    connection.close()
    of_admission = {row["id"] for row in medieval.rows if row["hadm_id"] == hadm_id}
    assert {line["id"] for line in report.disagreements} == of_admission
    assert "an end that the statement is supported by is attested" in report.by_check


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", '{"settings": {}}', '{"settings": null}'])
def test_a_manifest_that_says_nothing_is_refused(
    medieval: Built, warehouse: duckdb.DuckDBPyConnection, tmp_path: Path, text: str | None
) -> None:
    folder = written(medieval, tmp_path, medieval.rows[:4])
    (folder / "manifest.json").unlink()
    if text is not None:
        (folder / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest is no JSON|not a dataset folder of MediEval"):
        validate_medieval(Workspace(tmp_path), warehouse, folder)


def test_a_folder_without_rows_and_rows_of_another_version_are_refused(
    medieval: Built, warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="no rows") as caught:
        validate_medieval(Workspace(tmp_path), warehouse, tmp_path / "nothing")
    assert "build medieval" in str(caught.value)
    folder = written(medieval, tmp_path, medieval.rows[:4])
    older = medieval.table.drop_columns(["fold"]).slice(0, 4)
    pq.write_table(older, folder / "data" / "all.parquet")
    with pytest.raises(InputError, match="columns are missing") as caught:
        validate_medieval(Workspace(tmp_path), warehouse, folder)
    assert caught.value.found == "no fold"
    place = MEDIEVAL_SCHEMA.get_field_index("quadrant")
    numbered = medieval.table.set_column(place, "quadrant", pa.array([1] * len(medieval.rows)))
    pq.write_table(numbered, folder / "data" / "all.parquet")
    with pytest.raises(InputError, match="quadrant has another type"):
        validate_medieval(Workspace(tmp_path), warehouse, folder)


def test_a_dataset_of_other_data_is_refused(medieval: Built, tmp_path: Path) -> None:
    folder = written(medieval, tmp_path, medieval.rows[:4])
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["inputs"][0]["sha256"] = "0" * 64
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"built from other data.*\n.*\n  found: 1 of its \d+ files"):
        validate_medieval(medieval.workspace, medieval.connection, folder)


def test_the_settings_of_the_dataset_count_not_those_of_today(medieval: Built, tmp_path: Path) -> None:
    """A dataset that took only stated facts for true has none of another tier."""
    folder = written(medieval, tmp_path, medieval.rows)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["settings"]["build"]["truth_tiers"] = ["stated"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    report = validate_medieval(medieval.workspace, medieval.connection, folder)
    others = {row["id"] for row in medieval.rows if row["tier"] in ("equivalent", "inherited")}
    assert others
    assert {line["id"] for line in report.disagreements} == others
    assert set(report.by_check) == {"a true statement has a path of its tier"}


@pytest.mark.usefixtures("no_baselines")
def test_a_home_drug_that_the_note_stops_attests_only_where_a_setting_says_so(staged: Path, tmp_path: Path) -> None:
    settings = "[build]\nseed = 47\nbalance_trials = 1\nstopped = true\n"
    workspace = copied(staged, tmp_path / "work", settings)
    connection = connect(workspace.warehouse, workspace.settings.run)
    folder = Path(build_medieval(workspace, connection).folder)
    assert validate_medieval(workspace, connection, folder).disagreements == []
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["settings"]["build"]["stopped"] = False
    (folder / "manifest.json").write_text(json.dumps(manifest))
    report = validate_medieval(workspace, connection, folder)
    resting = connection.execute(
        "select distinct row.id from (select *, unnest(support_spans) as span from read_parquet($files)) as row "
        "inner join ground.mention as home on row.hadm_id = home.hadm_id "
        "and row.span.begin_offset = home.begin_offset and home.section = 'medications_on_admission' "
        "inner join ground.mention as ended on home.note_id = ended.note_id and home.cuis = ended.cuis "
        "where ended.assertion = 'discontinued'",
        {"files": str(folder / "data" / "*.parquet")},
    ).fetchall()
    connection.close()
    assert resting
    assert {row[0] for row in resting} <= {line["id"] for line in report.disagreements}
    assert "an end that the statement is supported by is attested" in report.by_check
