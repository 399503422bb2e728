"""Check what a verb prints with --json against the published schemas in docs/schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).resolve().parents[3] / "docs" / "schemas"

__all__ = ["SCHEMAS", "checked"]


def checked(printed: str, schema: str) -> dict[str, Any]:
    """Return the one JSON object that was printed, after checking it against a schema."""
    value: dict[str, Any] = json.loads(printed)
    Draft202012Validator(json.loads((SCHEMAS / f"{schema}.json").read_text())).validate(value)
    return value
