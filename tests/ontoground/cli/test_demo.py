"""Every verb on the open world: what it prints fits its schema and says what the warehouse holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ground.flow.manifest import read_manifest
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from ontoground.cli.main import invoke
from tests.ontoground.cli.schemas import checked
from tests.ontoground.conftest import PATIENTS, Demo

pytestmark = pytest.mark.xdist_group("demo")


@pytest.fixture
def told(demo: Demo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a verb on the demo's workspace with --json and return its object, checked against its schema."""
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(demo.workspace))

    def tell(schema: str, *arguments: str) -> dict[str, Any]:
        assert invoke([*arguments, "--json"]) == 0
        return checked(capsys.readouterr().out, schema)

    return tell


def one(demo: Demo, query: str) -> Any:
    with connect(Workspace.existing(demo.workspace).warehouse, read_only=True) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def test_the_demo_ends_without_disagreement_and_its_output_fits_the_schema(demo: Demo) -> None:
    payload = checked(demo.out, "demo")
    assert payload["validation"]["disagreements"] == []
    assert [check for check in payload["validation"]["checks"] if check["rows"]] == []
    assert demo.exit_code == 0
    assert [stage["stage"] for stage in payload["stages"]][:3] == ["load umls", "load rxnorm", "load mimic"]
    assert {"table": "mimiciv_hosp.patients", "rows": PATIENTS} in payload["summary"]["loaded"]
    assert {row["quadrant"] for row in payload["sample"]} == {"Q1", "Q2", "Q3", "Q4"}
    assert "done in" in demo.err


def test_the_demo_shows_a_person_tables_that_fit_80_columns_and_proposes_commands_that_work(
    demo: Demo, demo_copy: Callable[[], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = demo_copy()
    again = ["demo", "--no-train", "--patients", str(PATIENTS), "--workspace", str(workspace)]
    assert invoke(again) == demo.exit_code
    printed = capsys.readouterr()
    assert "Statements by predicate and quadrant" in printed.out
    assert "what to try next:" in printed.out
    body, places = printed.out.split("\ndataset ")
    assert max(len(line.rstrip()) for line in body.splitlines()) <= 80
    assert str(workspace) in places
    assert printed.err.count("up to date") == 8
    proposed = printed.out.split("what to try next:")[1].strip().splitlines()
    assert len(proposed) == 5
    for command in proposed:
        assert invoke(command.split()[1:]) == 0
        assert capsys.readouterr().out


def test_run_goes_over_finished_work_without_repeating_it(demo: Demo, told: Any) -> None:
    source = demo.workspace / "demo-input"
    folders = ["--mimic", source / "mimic", "--umls", source / "umls" / "META", "--rxnorm", source / "rxnorm" / "rrf"]
    payload = told("run", "run", *map(str, folders))
    assert [stage["state"] for stage in payload["stages"]] == ["current"] * 8
    assert payload["summary"] == json.loads(demo.out)["summary"]


def test_load_says_what_lies_in_the_warehouse(demo: Demo, told: Any) -> None:
    payload = told("load", "load", "mimic", str(demo.workspace / "demo-input" / "mimic"))
    rows = {file["file"]: file["rows_read"] for file in payload["files"]}
    assert rows["hosp/patients.csv.gz"] == PATIENTS


def test_graph_build_counts_edges_and_mapped_rows(demo: Demo, told: Any) -> None:
    payload = told("graph-build", "graph", "build")
    assert sum(line["edges"] for line in payload["edges"]) == json.loads(demo.out)["summary"]["edges"]
    assert {line["table"] for line in payload["mapped"]} == {"diagnoses_icd", "procedures_icd", "prescriptions"}


def test_graph_show_takes_a_cui_or_a_name(told: Any) -> None:
    by_name = told("graph-show", "graph", "show", "LISINOPRIL")
    assert told("graph-show", "graph", "show", by_name["cui"].lower()) == by_name
    treated = next(line for line in by_name["neighbours"] if line["predicate"] == "treats")
    assert treated["words"].endswith("treats")
    assert "heart failure" in {other["name"].lower() for other in treated["concepts"]}


def test_graph_relations_reads_back_in_words_with_its_evidence(told: Any) -> None:
    payload = told("graph-relations", "graph", "relations", "lisinopril", "heart failure", "--max-hops", "1")
    first = payload["relations"][0]
    assert (first["tier"], first["predicate"]) == ("stated", "treats")
    assert first["sentence"].lower() == "lisinopril treats heart failure"
    assert all(edge["sab"] for edge in first["path"])
    longer = told("graph-relations", "graph", "relations", "lisinopril", "heart failure")
    assert payload["relations"] == [line for line in longer["relations"] if line["hops"] == 1]


def test_graph_relations_counts_what_it_leaves_out(demo: Demo, told: Any, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("graph", "relations", "lisinopril", "hypertension")
    weak = [one for one in told("graph-relations", *asked)["relations"] if one["tier"] == "plausible"]
    assert weak and invoke([*asked, "--workspace", str(demo.workspace)]) == 0
    assert f"{len(weak)} plausible relations more: --all shows them" in capsys.readouterr().out


def test_graph_export_writes_what_it_says(demo: Demo, told: Any, tmp_path: Path) -> None:
    payload = told("graph-export", "graph", "export", "--output", str(tmp_path / "kgx"))
    nodes = (tmp_path / "kgx" / "nodes.tsv").read_text().splitlines()
    assert payload["concepts"] is None
    assert len(nodes) - 1 == json.loads(demo.out)["summary"]["concepts"]
    part = told(
        "graph-export", "graph", "export", "--format", "rdf", "--cui", "lisinopril", "-o", str(tmp_path / "part.ttl")
    )
    assert part["concepts"] > 1
    assert "core#prefLabel" in (tmp_path / "part.ttl").read_text()


def test_an_export_never_replaces_a_folder_of_something_else(
    demo: Demo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "precious.txt").write_text("keep")
    assert invoke(["graph", "export", "-o", str(tmp_path), "--workspace", str(demo.workspace)]) == 2
    assert (tmp_path / "precious.txt").read_text() == "keep"
    assert "holds something else" in capsys.readouterr().err


def test_notes_show_one_admission(demo: Demo, told: Any) -> None:
    hadm = one(demo, "select min(hadm_id) from ground.mention")
    shown = told("notes-mentions", "notes", "mentions", "--hadm", str(hadm))
    note = shown["notes"][0]
    assert note["sections"] == told("notes-sections", "notes", "sections", "--hadm", str(hadm))["notes"][0]["sections"]
    for mention in note["mentions"]:
        assert note["text"][mention["begin_offset"] : mention["end_offset"]] == mention["text"]
    assert "".join(note["text"][s["begin_offset"] : s["end_offset"]] for s in note["sections"]) == note["text"]


def test_notes_for_a_person_hold_the_text_and_the_table(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    hadm = one(demo, "select min(hadm_id) from ground.mention")
    assert invoke(["notes", "mentions", "--hadm", str(hadm), "--workspace", str(demo.workspace)]) == 0
    printed = capsys.readouterr().out
    assert "[allergies]" in printed and "assertion" in printed


@pytest.mark.parametrize("name", ["sections", "mentions"])
def test_notes_build_reports_counts(name: str, told: Any) -> None:
    assert told(f"notes-{name}", "notes", name)["rows"]


def test_build_and_validate(demo: Demo, told: Any) -> None:
    built = told("build-medieval", "build", "medieval")
    assert built["dataset"]["rows"] == sum(built["dataset"]["splits"].values())
    assert built["dataset"]["rows"] == sum(line[q] for line in built["quadrants"] for q in ("Q1", "Q2", "Q3", "Q4"))
    checks = told("validate", "validate", str(demo.workspace / "datasets" / "medieval"))
    apart = read_manifest(demo.workspace / "datasets" / "medieval")["rows"]["contraindicated"]
    assert checks["rows"] == built["dataset"]["rows"] + apart and checks["agrees"]


def test_every_named_query_runs(demo: Demo, told: Any) -> None:
    for query in told("sql", "sql")["queries"]:
        assert told("sql", "sql", query["name"])["columns"], query["name"]


def test_the_dataset_is_a_view_with_its_contexts(told: Any) -> None:
    query = "select count(*), count(*) filter (where length(context) > 0) from medieval"
    total, with_context = told("sql", "sql", "-c", query)["rows"][0]
    assert total == with_context > 0
    assert told("sql", "sql", "-c", "select count(*) from medieval_statements")["rows"][0][0] > 0


def test_the_demo_leaves_the_classifier_out_where_no_patient_is_left_to_test_it_on(
    demo: Demo, capsys: pytest.CaptureFixture[str]
) -> None:
    assert one(demo, "select count(distinct subject_id) from mimiciv_hosp.patients") == PATIENTS
    command = ["demo", "--patients", str(PATIENTS), "--workspace", str(demo.workspace), "--json"]
    assert invoke(command) == demo.exit_code
    printed = capsys.readouterr()
    assert checked(printed.out, "demo")["classifier"] is None
    assert "too few patients for a test split" in printed.err
    assert not (demo.workspace / "runs").exists()
