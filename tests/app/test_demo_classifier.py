"""The demo's classifier on a few admissions: trained once, held against shortcuts, shown in 80 columns."""

from __future__ import annotations

import io
import json
from pathlib import Path

import jsonschema
from rich.console import Console

from app.cli.demo import _paint_classifier
from app.demo_classifier import MODEL, RUN, train_and_evaluate
from ontoground.workspace import Workspace
from tests.app.medieval_folder import medieval_folder
from tests.app.schemas import SCHEMAS


def test_the_classifier_is_trained_once_and_held_against_shortcuts(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "work")
    medieval_folder(workspace.dataset("medieval"))
    said: list[str] = []
    found = train_and_evaluate(workspace, 42, said.append)
    assert found is not None
    schema = json.loads((SCHEMAS / "demo.json").read_text())["properties"]["classifier"]
    jsonschema.validate(found, schema)
    kinds = {model["name"]: model["kind"] for model in found["report"]["models"]}
    assert kinds.pop(RUN) == "model"
    assert set(kinds.values()) == {"baseline"}
    assert said[0] == f"classifier ({MODEL}, a sentence encoder): trained"
    assert (workspace.root / "runs" / RUN / "report" / "report.md").is_file()
    again = train_and_evaluate(workspace, 42, said.append)
    assert again is not None and again["report"]["models"] == found["report"]["models"]
    assert "already trained" in said[2]
    page = io.StringIO()
    _paint_classifier(Console(file=page, width=80), found["report"])
    lines = page.getvalue().splitlines()
    assert any(RUN in line for line in lines)
    assert max(map(len, lines)) <= 80
