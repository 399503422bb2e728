"""Answers of a given shape: what the model is told, what the server is told, and how an answer is checked."""

from __future__ import annotations

import functools
import json
import re
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError

from ground.errors import UsageError

__all__ = [
    "AnswerError",
    "Schema",
    "instruction",
    "json_schema_of",
    "parse_answer",
    "response_format",
    "without_thinking",
]

Schema = type[BaseModel] | dict[str, Any]

THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
FENCED = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)


class AnswerError(ValueError):
    """An answer does not fit; ``advice`` is for the model, the text itself quotes nothing of the answer."""

    def __init__(self, summary: str, advice: str) -> None:
        super().__init__(summary)
        self.advice = advice


def json_schema_of(schema: Schema) -> dict[str, Any]:
    """Return the JSON schema of a pydantic model, not to be changed; a JSON schema is returned as it is."""
    return schema if isinstance(schema, dict) else _schema_of_model(schema)


@functools.lru_cache(maxsize=64)  # each request asks for it several times
def _schema_of_model(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def instruction(schema: Schema) -> str:
    """Return what the prompt says of the answer's shape.

    It is said under ``response_format`` too: some servers (``transformers serve`` 5.23) take that field and ignore it.
    """
    shape = json.dumps(json_schema_of(schema), ensure_ascii=False, sort_keys=True)
    return f"Answer with one JSON value that fits this JSON schema, and with nothing else:\n{shape}"


def response_format(schema: Schema) -> dict[str, Any]:
    """Return the request's ``response_format``; strict where the schema is closed, as OpenAI asks for that mode."""
    shape = json_schema_of(schema)
    name = re.sub(r"[^A-Za-z0-9_-]", "_", str(shape.get("title", "answer")))[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "schema": shape, "strict": _is_closed(shape)}}


def _is_closed(node: Any) -> bool:
    if isinstance(node, list):
        return all(_is_closed(item) for item in node)
    if not isinstance(node, dict):
        return True
    if node.get("type") == "object" and (
        node.get("additionalProperties") is not False
        or set(node.get("required", ())) != set(node.get("properties", {}))
    ):
        return False
    return all(_is_closed(value) for value in node.values())


def without_thinking(text: str) -> str:
    """Return an answer without the reasoning that some models put before it between ``<think>`` marks."""
    return THINKING.sub("", text).strip()


def parse_answer(text: str, schema: Schema) -> Any:
    """Parse and check an answer: JSON alone, or alone within one code fence, after any reasoning.

    Raises:
        AnswerError: it is no JSON, or does not fit the schema.
    """
    body = without_thinking(text)
    if fenced := FENCED.match(body):
        body = fenced.group(1)
    try:
        value = json.loads(body, parse_constant=_no_constant)
        json.dumps(value, ensure_ascii=False).encode()  # no half of a character
    except (ValueError, RecursionError) as error:
        raise AnswerError("json_invalid", f"no JSON: {error}") from None
    if isinstance(schema, dict):
        return _checked(value, schema)
    try:
        return schema.model_validate_json(body)
    except ValidationError as error:
        violations = error.errors(include_input=False, include_url=False, include_context=False)
        advice = "; ".join(
            f"{'.'.join(str(part) for part in each['loc']) or 'answer'}: {each['msg']}" for each in violations
        )
        raise AnswerError(_summary([each["type"] for each in violations]), advice) from None


def _checked(value: Any, schema: dict[str, Any]) -> Any:
    try:
        from jsonschema.validators import validator_for
    except ImportError as error:
        raise UsageError("answers by JSON schema need jsonschema", do="pip install jsonschema") from error
    violations = sorted(validator_for(schema)(schema).iter_errors(value), key=lambda each: each.json_path)
    if violations:
        advice = "; ".join(f"{each.json_path}: {each.message}" for each in violations)
        raise AnswerError(_summary([str(each.validator) for each in violations]), advice)
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _summary(kinds: list[str]) -> str:
    return f"{len(kinds)} violations of the schema: {', '.join(sorted(set(kinds)))}"
