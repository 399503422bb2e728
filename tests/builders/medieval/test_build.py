"""The same input gives the same bytes, more input changes little, and input that gives nothing is refused clearly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from builders.medieval.build import STAGE, build_medieval
from ground.errors import InputError, OntogroundError
from ground.flow.manifest import read_manifest
from ground.stable import stable_hash
from ground.storage.sqlfiles import sql_names
from ground.storage.warehouse import connect, table_exists
from ground.storage.workspace import Workspace
from tests.builders.conftest import PATIENTS, SETTINGS
from tests.builders.medieval_world import Built, bytes_of, copied, table_of

REBUILD = """
import sys
from pathlib import Path
from builders.medieval.build import build_medieval
from kg.build import build_graph
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace

workspace = Workspace.create(Path(sys.argv[1]))
connection = connect(workspace.warehouse, workspace.settings.run)
build_graph(connection, workspace.graph, workspace.settings.load)
build_medieval(workspace, connection)
connection.close()
"""
SHUFFLED = (
    "umls.mrconso",
    "umls.mrrel",
    "umls.mrsty",
    "mimiciv_hosp.patients",
    "mimiciv_note.discharge",
    "ground.section",
    "ground.segment",
    "ground.mention",
    "ground.unclear_mention",
    "ground.admission_concept",
)
# One predicate only, and so no limit on its share.
SMALL = SETTINGS + 'predicates = ["treats"]\nmax_predicate_share = 1.0\n'
LAST_PATIENT = 90000000 + PATIENTS


def shuffle(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Store the rows of a table in another order."""
    connection.execute(f"create temp table shuffled as select * from {table} t order by md5('x' || t::varchar)")
    connection.execute(f"delete from {table}")
    connection.execute(f"insert into {table} select * from shuffled")
    connection.execute("drop table shuffled")


def rebuilt_elsewhere(workspace: Workspace) -> None:
    """Build graph and dataset in a process of its own, where strings have other hashes."""
    environment = os.environ | {"PYTHONHASHSEED": "4711", "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", REBUILD, str(workspace.root)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def small(staged: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """A dataset of five patients with one predicate, to build again with other settings."""
    workspace = copied(staged, tmp_path_factory.mktemp("small") / "work", SMALL)
    connection = connect(workspace.warehouse)
    connection.execute("delete from mimiciv_note.discharge where subject_id > 90000005")
    yield Built(workspace, connection, build_medieval(workspace, connection))
    connection.close()


def with_settings(built: Built, root: Path, **changes: object) -> Workspace:
    """Return a workspace in another folder with the same graph and some other settings of the build."""
    (root / "graph").symlink_to(built.workspace.graph)
    settings = built.workspace.settings
    return Workspace(root, settings.model_copy(update={"build": settings.build.model_copy(update=changes)}))


def test_row_order_threads_and_process_change_no_byte(medieval: Built, staged: Path, tmp_path: Path) -> None:
    workspace = copied(staged, tmp_path / "work", SETTINGS + "[run]\nthreads = 1\n")
    connection = connect(workspace.warehouse)
    for table in SHUFFLED:
        shuffle(connection, table)
    connection.execute("delete from ground.stage")
    connection.close()
    rebuilt_elsewhere(workspace)
    assert bytes_of(workspace.dataset(STAGE)) == bytes_of(medieval.folder)
    for name in ("README.md", "croissant.json", "manifest.json"):
        assert (workspace.dataset(STAGE) / name).read_bytes() == (medieval.folder / name).read_bytes(), name


@pytest.mark.usefixtures("no_baselines")
def test_one_patient_less_leaves_the_rows_of_the_others_nearly_as_they_were(
    medieval: Built, staged: Path, tmp_path: Path
) -> None:
    """Groups hang on their own hashes; replacements move a little, since their balance is that of the cohort."""
    workspace = copied(staged, tmp_path / "work")
    connection = connect(workspace.warehouse)
    connection.execute("delete from mimiciv_note.discharge where subject_id = ?", [LAST_PATIENT])
    build_medieval(workspace, connection)
    connection.close()
    fewer = {row["id"]: row for row in table_of(workspace.dataset(STAGE)).to_pylist()}
    more = {row["id"]: row for row in medieval.rows if row["subject_id"] != LAST_PATIENT}
    assert len(more) < len(medieval.rows)
    groups = [{row["group_id"] for row in rows.values()} for rows in (fewer, more)]
    assert len(groups[0] & groups[1]) >= 0.9 * len(groups[0] | groups[1])
    shared = fewer.keys() & more.keys()
    assert {fewer[id_]["split"] for id_ in shared} == {more[id_]["split"] for id_ in shared}
    assert all(fewer[id_]["split"] == more[id_]["split"] for id_ in shared)
    assert sum(fewer[id_]["statement"] == more[id_]["statement"] for id_ in shared) >= 0.7 * len(shared)
    contexts = [{row["hadm_id"]: row["context"] for row in rows.values()} for rows in (fewer, more)]
    assert contexts[0] == contexts[1]


def inputs_of(workspace: Workspace) -> list[dict[str, Any]]:
    inputs: list[dict[str, Any]] = read_manifest(workspace.dataset(STAGE))["inputs"]
    return inputs


def test_another_seed_draws_other_admissions_and_own_rules_are_inputs(small: Built, tmp_path: Path) -> None:
    workspace = with_settings(small, tmp_path, seed=1, admissions=3)
    assert {one["source"] for one in inputs_of(small.workspace)} == {"mimic", "rxnorm", "umls"}
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "name_stops.tsv").write_text("name\treason\tsource\n")
    build_medieval(workspace, small.connection)
    assert [one["file"] for one in inputs_of(workspace) if one["source"] == "rules"] == ["name_stops.tsv"]
    rows = table_of(workspace.dataset(STAGE)).to_pylist()
    assert rows
    asked = "select distinct subject_id from ehr.discharge_note"
    patients = {subject for (subject,) in small.connection.execute(asked).fetchall()}
    drawn = sorted(patients, key=lambda subject: stable_hash(1, "cohort", subject))[:3]
    assert {row["subject_id"] for row in rows} <= set(drawn)
    dropped = read_manifest(workspace.dataset(STAGE))["dropped"]
    assert dropped["patient whom build.admissions did not draw"] == len(patients) - 3 > 0
    assert {row["group_id"] for row in rows}.isdisjoint(row["group_id"] for row in small.rows)
    assert {row["statement"] for row in rows} != {row["statement"] for row in small.rows}


def test_the_predicates_of_the_settings_are_the_only_ones(small: Built) -> None:
    assert set(small.report.by_predicate) == {"treats"}
    assert {row["predicate"] for row in small.rows} == {"treats"}


def test_a_single_predicate_is_not_cut_down_to_a_single_group(small: Built, tmp_path: Path) -> None:
    """The largest share of one predicate cannot hold where there is one only; it must not eat the dataset."""
    report = build_medieval(with_settings(small, tmp_path, max_predicate_share=0.45), small.connection)
    assert report.groups >= 0.4 * small.report.groups


def test_too_few_patients_give_no_baselines_but_rows(small: Built) -> None:
    assert small.report.admissions <= 5
    assert small.report.rows == len(small.rows) > 0


def test_a_dataset_that_is_current_is_left_as_it_is(medieval: Built) -> None:
    before = {file: file.stat().st_mtime_ns for file in medieval.folder.rglob("*")}
    again = build_medieval(medieval.workspace, medieval.connection)
    assert again.skipped
    assert not medieval.report.skipped
    assert (again.rows, again.by_quadrant, again.dropped) == (
        medieval.report.rows,
        medieval.report.by_quadrant,
        medieval.report.dropped,
    )
    assert {file: file.stat().st_mtime_ns for file in medieval.folder.rglob("*")} == before


def test_split_and_fold_of_a_patient_follow_from_the_seed_and_the_patient_alone(medieval: Built) -> None:
    settings = medieval.workspace.settings.build
    for row in medieval.rows:
        tenth = stable_hash(settings.seed, "split", row["subject_id"]) % 10
        assert row["split"] == ("train" if tenth < 8 else "validation" if tenth == 8 else "test")
        assert row["fold"] == stable_hash(settings.seed, "fold", row["subject_id"]) % settings.folds


def test_patients_with_several_stays_have_one_in_the_dataset(medieval: Built) -> None:
    stays = dict(
        medieval.connection.execute(
            "select subject_id, count(distinct hadm_id) from mimiciv_note.discharge group by subject_id"
        ).fetchall()
    )
    further = sum(n - 1 for n in stays.values())
    assert further > 0
    assert medieval.report.dropped["further admission of a patient who is in"] == further


# ---- input that gives nothing


@pytest.fixture
def workspace(staged: Path, tmp_path: Path) -> Workspace:
    """A copy of the staged workspace that a test may damage."""
    return copied(staged, tmp_path / "work")


@pytest.fixture
def connection(workspace: Workspace) -> Iterator[duckdb.DuckDBPyConnection]:
    """Its warehouse."""
    opened = connect(workspace.warehouse)
    yield opened
    opened.close()


def test_an_empty_warehouse_says_what_to_run(warehouse: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        build_medieval(Workspace(tmp_path), warehouse)
    assert "ehr.discharge_note" in str(caught.value)
    assert caught.value.do is not None
    assert "ontoground run" in caught.value.do
    assert not (tmp_path / "datasets").exists()


@pytest.mark.parametrize(
    "table", ["ground.section", "ground.segment", "ground.mention", "ground.admission_concept", "kg.edge"]
)
def test_a_stage_that_did_not_run_is_named(
    workspace: Workspace, connection: duckdb.DuckDBPyConnection, table: str
) -> None:
    kind = "view" if table == "kg.edge" else "table"
    connection.execute(f"drop {kind} {table}")
    with pytest.raises(InputError) as caught:
        build_medieval(workspace, connection)
    assert table in (caught.value.found or "")
    assert caught.value.do
    assert not table_exists(connection, "ground.medieval")


def test_a_graph_folder_that_is_gone_is_named(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> None:
    workspace.graph.rename(workspace.root / "elsewhere")
    with pytest.raises(InputError) as caught:
        build_medieval(workspace, connection)
    assert "graph" in str(caught.value)


EMPTY = {
    "nothing attested": "update ground.mention set assertion = 'absent'",
    "no section of the context": "update ground.section set section = 'unknown'",
}


@pytest.mark.parametrize("damage", EMPTY.values(), ids=EMPTY)
def test_a_cohort_that_gives_nothing_is_refused_with_the_reasons(
    workspace: Workspace, connection: duckdb.DuckDBPyConnection, damage: str
) -> None:
    connection.execute(damage)
    with pytest.raises(InputError, match="no statement") as caught:
        build_medieval(workspace, connection)
    assert caught.value.do
    reasons = connection.execute("select reason, n from ground.drop where stage = 'medieval'").fetchall()
    assert reasons
    assert all(n > 0 for _, n in reasons)
    assert not workspace.dataset(STAGE).exists()
    assert connection.execute("select count(*) from ground.stage where stage = 'medieval'").fetchone() == (0,)


def test_an_empty_cohort_is_refused_with_counts_and_advice_that_works(
    workspace: Workspace, connection: duckdb.DuckDBPyConnection
) -> None:
    """Every patient is counted, and the query that the advice names is one that there is."""
    connection.execute("update mimiciv_note.discharge set hadm_id = null")
    with pytest.raises(InputError, match="no statement") as caught:
        build_medieval(workspace, connection)
    stored = connection.execute(
        "select n from ground.drop where stage = 'medieval' and reason = 'patient without a discharge summary'"
    ).fetchone()
    assert stored == (PATIENTS,)
    words = (caught.value.do or "").split("`")
    named = [word.removeprefix("ontoground sql ") for word in words if word.startswith("ontoground sql ")]
    assert {f"ontoground/queries/{name}" for name in named} <= set(sql_names("ontoground/queries"))


def test_some_patients_without_notes_or_sections_do_not_stop_the_others(
    small: Built, staged: Path, tmp_path: Path
) -> None:
    workspace = copied(staged, tmp_path / "work", SMALL)
    connection = connect(workspace.warehouse)
    connection.execute("delete from mimiciv_note.discharge where subject_id > 90000005")
    victims = sorted({row["subject_id"] for row in small.rows})[:2]
    connection.execute("delete from mimiciv_note.discharge where subject_id = ?", [victims[0]])
    connection.execute(
        "update ground.section set section = 'unknown' where hadm_id in "
        "(select hadm_id from mimiciv_note.discharge where subject_id = ?)",
        [victims[1]],
    )
    report = build_medieval(workspace, connection)
    connection.close()
    subjects = {row["subject_id"] for row in table_of(workspace.dataset(STAGE)).to_pylist()}
    assert subjects
    assert subjects.isdisjoint(victims)
    assert report.dropped["patient without a discharge summary"] == PATIENTS - 4
    assert report.dropped["note without a section of the context"] == 1


def test_a_build_that_fails_leaves_the_old_dataset(small: Built) -> None:
    before = bytes_of(small.folder)
    settings = small.workspace.settings
    nothing = settings.build.model_copy(update={"predicates": ("no_such_predicate",)})
    with pytest.raises(OntogroundError):
        build_medieval(
            Workspace(small.workspace.root, settings.model_copy(update={"build": nothing})), small.connection
        )
    assert before
    assert bytes_of(small.folder) == before
