"""The demo's classifier on a few admissions: trained once for a dataset, held against shortcuts, in 80 columns."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from ground.storage.files import sha256_of
from ground.storage.workspace import Workspace
from ontoground.cli.demo_classifier import MODEL, train_and_evaluate
from ontoground.cli.evaluate.quadrants import evaluation_blocks
from ontoground.cli.render import console, paint
from tests.ontoground.cli.medieval_folder import medieval_folder
from tests.ontoground.cli.schemas import SCHEMAS, checked


def test_the_classifier_is_trained_once_for_a_dataset_and_held_against_shortcuts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace.create(tmp_path / "work")
    dataset = medieval_folder(workspace.dataset("medieval"))
    said: list[str] = []
    found = train_and_evaluate(workspace, 42, said.append)
    assert found is not None
    schema = json.loads((SCHEMAS / "demo.json").read_text())["properties"]["classifier"]
    jsonschema.validate(found, schema)
    evaluation = checked(json.dumps(found["evaluation"]), "evaluate-quadrants")
    run = workspace.root / "runs" / f"demo-classifier-{sha256_of(dataset / 'manifest.json')[:8]}"
    assert found["run"] == str(run)
    kinds = [(model["kind"], model["name"]) for model in evaluation["models"]]
    assert [name for kind, name in kinds if kind == "model"] == [f"{MODEL} + SFT (late encoder)"]
    assert len([name for kind, name in kinds if kind == "baseline"]) >= 3
    assert f"classifier ({MODEL}, a sentence encoder): trained" in said
    assert json.loads((run / "training.json").read_text())["settings"]["seed"] == 42
    assert (run / "report" / "report.md").is_file()
    assert "Not evaluated yet" not in (run / "README.md").read_text()

    said.clear()
    again = train_and_evaluate(workspace, 42, said.append)
    assert again is not None and again["run"] == found["run"]
    assert again["evaluation"]["models"] == evaluation["models"]
    assert f"classifier ({MODEL}, a sentence encoder): already trained" in said
    assert [one["state"] for one in again["evaluation"]["predictions"]] == ["reused"]

    paint(console(), evaluation_blocks(evaluation))
    tables, places = capsys.readouterr().out.split("\nreport ")
    assert all(f"{100 * model['metrics']['f1']['value']:.1f}" in tables for model in evaluation["models"])
    assert all(name.split()[0] in tables for _, name in kinds)
    assert max(map(len, tables.splitlines())) <= 80
    assert run.name in places
