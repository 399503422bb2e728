"""Prompts and parsers of evaluators that want their own format: TOML files that ship, or the user's own.

A file has ``system`` and ``user`` (Jinja; a row's fields, and the filter ``sentences``), and how an answer is read:
``pattern`` (RE2) with the groups ``label`` and, where there are any, ``explanation``, and ``labels``, what each label
means. Where an answer has several labels, one for each sentence, the gravest counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import re2
from pydantic import Field

from evaluation.datasets import Kind
from ground import ROOT
from ground.contracts.taxonomy import error_categories, risk_levels
from ground.errors import UsageError
from ground.lm.results import Message
from ground.settings import Section, parse_settings, read_toml

__all__ = ["SHIPPED", "EvaluatorFormat", "read_format"]

FOLDER = ROOT / "training" / "data" / "evaluators"
SHIPPED = tuple(sorted(file.stem for file in FOLDER.glob("*.toml")))
"""Names of the formats that ship."""
# Qwen3 and others may put their thoughts before the answer.
THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


class EvaluatorFormat(Section):
    """How an evaluator is asked, and how its answer is read."""

    system: str = Field(default="", description="the system's turn; none where empty")
    user: str = Field(description="the user's turn, a Jinja template of a row's fields")
    pattern: str = Field(description="RE2 expression with a group `label`, perhaps `explanation`")
    labels: dict[str, bool | int] = Field(min_length=1, description="what each label means, in lower case")

    @cached_property
    def _expression(self) -> Any:
        try:
            compiled = re2.compile(self.pattern)
        except re2.error as error:
            raise UsageError("the pattern of an evaluator's format is none", found=str(error)) from error
        if "label" not in compiled.groupindex:
            raise UsageError("the pattern has no group `label`", expected="(?P<label>...)")
        return compiled

    @cached_property
    def _template(self) -> Callable[..., str]:
        from jinja2 import StrictUndefined, TemplateError
        from jinja2.sandbox import SandboxedEnvironment

        environment = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        environment.filters["sentences"] = lambda text: [
            part for part in SENTENCE_END.split(text or "") if part.strip()
        ]
        environment.globals |= {"categories": error_categories(), "levels": risk_levels()}
        try:
            template = environment.from_string(self.user)
        except TemplateError as error:
            raise UsageError("the template of an evaluator's format is none", found=str(error)) from error

        def render(**fields: Any) -> str:
            try:
                return str(template.render(**fields))
            except TemplateError as error:
                raise UsageError("the template names what a row does not have", found=str(error)) from error

        return render

    def check(self, kind: Kind) -> None:
        """Refuse a template or pattern that is none, and labels of the other kind of rows.

        Raises:
            UsageError: what is wrong.
        """
        _ = self._expression, self._template
        wanted = bool if kind == "medhal" else int
        if wrong := [name for name, value in self.labels.items() if type(value) is not wanted]:
            expected = "true or false" if kind == "medhal" else "1, 2, 3 or 4"
            raise UsageError(f"a label of this format is none of {kind}", found=wrong[0], expected=expected)

    def messages(self, row: Mapping[str, Any]) -> tuple[Message, ...]:
        """Return the turns of the question about a row."""
        user = Message(role="user", content=self._template(**row))
        return (Message(role="system", content=self.system), user) if self.system else (user,)

    def read(self, text: str) -> dict[str, Any]:
        """Return label, explanation and outcome of an answer."""
        found = list(self._expression.finditer(THOUGHT.sub("", text)))
        labels = [self.labels.get(match["label"].strip().lower()) for match in found]
        known = [label for label in labels if label is not None]
        if not known or len(known) < len(labels):
            return {"label": None, "explanation": None, "outcome": "no_label"}
        # False is graver than true, and 4 than 1.
        gravest = min(known) if isinstance(known[0], bool) else max(known)
        explanation = found[labels.index(gravest)].groupdict().get("explanation")
        return {"label": gravest, "explanation": (explanation or "").strip() or None, "outcome": "parsed"}


def read_format(name: str) -> EvaluatorFormat:
    """Read a format that ships, by its name, or a file.

    Raises:
        UsageError: there is none, or it is none.
    """
    file = FOLDER / f"{name}.toml" if name in SHIPPED else Path(name)
    if not file.is_file():
        raise UsageError("there is no such format", found=name, expected=f"a TOML file, or {', '.join(SHIPPED)}")
    return parse_settings(EvaluatorFormat, read_toml(file), file)
