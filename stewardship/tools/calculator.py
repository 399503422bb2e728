"""The local calculators as a tool: a score's definition, and its value from features that the model has read."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ontoground.errors import UsageError
from ontoground.tables import read_table
from stewardship.calculators import registry
from stewardship.calculators.features import Features
from stewardship.calculators.registry import Calculator, calculate, calculators, find
from stewardship.runs.calculating import calculators_digest
from stewardship.tools.base import Arguments, ToolResult

__all__ = ["CalculatorArguments", "CalculatorTool", "Given", "inputs_of"]


OPIOIDS = Path(__file__).parents[1] / "data" / "opioids.tsv"


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

    calculator: str = Field(description="name or number of the calculator")
    features: list[Given] = Field(description="empty: tell the definition and the inputs; else: compute")


class CalculatorTool:
    """Tells definitions and computes scores."""

    name = "calculator"
    arguments = CalculatorArguments

    def describe(self) -> dict[str, Any]:
        """Return what stands for the calculators' definitions."""
        return {"definitions": calculators_digest()}

    def manual(self) -> str:
        """Return what the model is told."""
        names = "; ".join(f"{one.id} {one.name}" for one in calculators())
        return (
            "`calculator` knows the published definitions of these scores, tells one with its inputs if it is called "
            "without features, and computes it if it is called with them (it converts units; a missing input gives "
            f"N/A and says what is missing): {names}."
        )

    def use(self, arguments: CalculatorArguments) -> ToolResult:
        """Tell a definition, or compute."""
        try:
            known = find(arguments.calculator)
        except UsageError:
            names = "; ".join(f"{one.id} {one.name}" for one in calculators())
            return ToolResult(f"no calculator is called {arguments.calculator!r}. There are: {names}", ok=False)
        inputs = inputs_of(known.id)
        if not arguments.features:
            return ToolResult(_definition(known, inputs))
        spelt = {name.casefold(): name for name in inputs}
        cells = {spelt.get(one.name.strip().casefold(), one.name): _cell(one) for one in arguments.features}
        found = calculate(known.id, Features(cells))
        unused = [name for name in cells if name not in inputs]
        lines = [*found.steps, *(f"assumed: {text}" for text in found.assumptions)]
        lines += [f"not an input of this calculator: {', '.join(unused)}"] if unused else []
        if found.reason:
            lines += [f"N/A: {found.reason}", f"inputs: {_listed(inputs)}"]
        else:
            lines.append(f"result: {found.value.text()} {'' if found.value.day else known.unit}".rstrip())
        return ToolResult("\n".join(lines))


def _definition(known: Calculator, inputs: dict[str, str]) -> str:
    return (
        f"{known.name}\nformula: {known.formula}\nresult in: {known.unit or known.output_type}\n"
        f"source: {known.source}\ninputs: {_listed(inputs)}"
    )


def _listed(inputs: dict[str, str]) -> str:
    return "; ".join(f"{name} ({form})" for name, form in inputs.items())


def _cell(given: Given) -> object:
    value = given.value
    if given.unit is not None and isinstance(value, float):
        return [value, given.unit]
    return value


class _Probe(Features):
    """Gives every feature that a calculator asks for, and remembers them."""

    def __init__(self, high: bool) -> None:
        # The opioids' calculator asks for the doses of those that are given.
        super().__init__({f"{row['opioid']} Dose": [1.0, row["unit"]] for row in _opioids()}, lenient=True)
        self.asked: dict[str, str] = {}
        self._high = high

    def has(self, name: str) -> bool:
        return True

    def quantity(self, name: str, unit: str, substance: str | None = None) -> float:
        self.asked.setdefault(name, f"number with unit, such as {unit}")
        return 90.0 if self._high else 40.0

    def number(self, name: str) -> float:
        self.asked.setdefault(name, "number")
        return 2.0

    def flag(self, name: str, absent: bool | None = None) -> bool:
        self.asked.setdefault(name, "true or false" + ("" if absent is None else "; absent where not given"))
        return self._high

    def choice(self, name: str, options: Collection[str], absent: str | None = None) -> str:
        self.asked.setdefault(name, f"one of {', '.join(options)}")
        return list(options)[-1 if self._high else 0]

    def parts(self, name: str) -> tuple[object, ...]:
        self.asked.setdefault(name, "list, such as drug, dose, unit")
        return "", 1.0, "mg"

    def date(self, name: str) -> date:
        self.asked.setdefault(name, "date as MM/DD/YYYY")
        return date(2020, 1, 15)


@functools.cache
def _opioids() -> list[dict[str, str]]:
    return read_table(OPIOIDS, ("opioid", "factor", "unit", "source"))


@functools.cache
def inputs_of(number: int) -> dict[str, str]:
    """Return the features that a calculator asks for, each with its form, found by running it."""
    found: dict[str, str] = {}
    for high in (False, True):
        probe = _Probe(high)
        # Invented values may lead it anywhere; what it asked for until then is what is wanted.
        with contextlib.suppress(Exception):
            registry._bindings()[number](probe, "corrected")
        found.update({name: form for name, form in probe.asked.items() if name not in found})
    return found
