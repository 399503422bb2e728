"""The local calculators as a tool: a score's definition, and its value from features that the model has read."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ground.errors import UsageError
from stewardship.calculators.features import Features
from stewardship.calculators.inputs import Input, inputs_of
from stewardship.calculators.registry import Calculator, calculate, calculators, definitions_digest, find
from stewardship.tools.base import Arguments, ToolResult

__all__ = ["CalculatorArguments", "CalculatorTool", "Given"]

FORMS = {
    "number": "number",
    "flag": "true or false",
    "date": "date as MM/DD/YYYY",
    "dose": "list of drug, dose and unit",
}
"""How a model gives a feature of each kind that needs no words or units of its own."""
SIGNS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd)
FUNCTIONS = {name: getattr(math, name) for name in ("sqrt", "cbrt", "exp", "log", "log2", "log10", "floor", "ceil")}
FUNCTIONS |= {"abs": abs, "round": round, "min": min, "max": max}
NUMBERS = {"pi": math.pi, "e": math.e}
LONGEST = 500


class Given(BaseModel):
    """One feature that the model gives."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    value: bool | float | str | list[str | float] = Field(
        description="a number, true or false, a date as MM/DD/YYYY, one of the options, or a list (drug, dose, unit)"
    )
    unit: str | None = Field(description="of a number; null where it has none")


class CalculatorArguments(Arguments):
    """Arguments of the calculators."""

    calculator: str = Field(description="name or number of the calculator; or arithmetic, such as 70 / 1.75**2")
    features: list[Given] = Field(description="empty: tell the definition and the inputs; else: compute")


class CalculatorTool:
    """Tells definitions and computes scores."""

    name = "calculator"
    arguments = CalculatorArguments

    def describe(self) -> dict[str, Any]:
        """Return what stands for the calculators' definitions."""
        return {"definitions": definitions_digest()}

    def manual(self) -> str:
        """Return what the model is told."""
        names = "; ".join(f"{calculator.id} {calculator.name}" for calculator in calculators())
        return (
            "`calculator` knows the published definitions of these scores, tells one with its inputs if it is called "
            "without features, and computes it if it is called with them (it converts units; a missing input gives "
            f"N/A and says what is missing): {names}. In place of a name it takes arithmetic."
        )

    def use(self, arguments: CalculatorArguments) -> ToolResult:
        """Tell a definition, or compute a score or an expression."""
        try:
            known = find(arguments.calculator)
        except UsageError:
            return _arithmetic(arguments.calculator)
        inputs = inputs_of(known.id)
        if not arguments.features:
            return ToolResult(_definition(known, inputs))
        result = calculate(known.id, Features({feature.name.strip(): _cell(feature) for feature in arguments.features}))
        lines = [*result.steps, *(f"assumed: {text}" for text in result.assumptions)]
        lines += [f"not an input of this calculator: {', '.join(result.unread)}"] if result.unread else []
        if result.reason:
            lines += [f"N/A: {result.reason}", f"inputs: {_listed(inputs)}"]
        else:
            lines.append(f"result: {result.value.text()} {'' if result.value.day else known.unit}".rstrip())
        return ToolResult("\n".join(lines))


def _arithmetic(expression: str) -> ToolResult:
    """Compute by `simpleeval`: numbers, the usual signs and functions, and nothing else of Python."""
    import simpleeval

    operators = {sign: simpleeval.DEFAULT_OPERATORS[sign] for sign in SIGNS} | {ast.Pow: math.pow}
    try:
        if len(expression) > LONGEST:
            raise ValueError(f"an expression of more than {LONGEST} characters")
        value = simpleeval.SimpleEval(operators=operators, functions=FUNCTIONS, names=NUMBERS).eval(expression)
    except Exception as error:
        names = "; ".join(f"{calculator.id} {calculator.name}" for calculator in calculators())
        why = f"no calculator is called {expression!r}, and it is no arithmetic ({type(error).__name__}: {error})"
        return ToolResult(f"{why}. Calculators: {names}", ok=False)
    return ToolResult(f"{value:.12g}" if isinstance(value, float) else str(value))


def _definition(known: Calculator, inputs: Sequence[Input]) -> str:
    return (
        f"{known.name}\nformula: {known.formula}\nresult in: {known.unit or known.output_type}\n"
        f"source: {known.source}\ninputs: {_listed(inputs)}"
    )


def _listed(inputs: Sequence[Input]) -> str:
    return "; ".join(f"{item.feature} ({_form(item)})" for item in inputs)


def _form(item: Input) -> str:
    if item.kind == "quantity":
        form = f"number with unit, such as {item.units[0]}"
    elif item.kind == "choice":
        form = f"one of {', '.join(item.words)}"
    else:
        form = FORMS[item.kind]
    return f"{form}; if not given: {item.absent}" if item.absent else form


def _cell(given: Given) -> object:
    value = given.value
    if given.unit is not None and isinstance(value, float):
        return [value, given.unit]
    return value
