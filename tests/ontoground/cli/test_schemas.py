"""The published schemas are valid, and there is one for each verb."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from ontoground.cli.reference import VERBS
from tests.ontoground.cli.schemas import SCHEMAS

FILES = sorted(SCHEMAS.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_schema_is_a_schema(path: object) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text()))  # type: ignore[attr-defined]


def test_every_verb_has_its_schema() -> None:
    named = {verb[0] if verb[0] in ("load", "study") else "-".join(verb) for verb in VERBS}
    assert {path.stem for path in FILES} == named | {"error"}
