"""Rule files: which rows share a fault that physicians found, and what their label is instead (TOML)."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ground.errors import InputError

__all__ = ["Do", "Rows", "Rule", "read_rule"]


THINGS = ("calculator", "take", "abstain", "value", "multiply", "add")
"""What can be done, one at a time."""


class Rows(BaseModel):
    """Which rows share the fault: all that fit everything that is given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strata: tuple[str, ...] = Field(default=(), description="numbers or names of strata, as calculators")
    uids: tuple[str, ...] = Field(default=(), description="keys of rows")
    where: str = Field(default="", description="SQL condition on the columns of the rows and their labels")
    unlabelled: bool = Field(default=False, description="rows without a recomputed label (deferred) too")


class Do(BaseModel):
    """What the label of such a row is instead: one of these."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calculator: Literal["corrected", "v1.0"] | None = Field(default=None, description="recompute from the features")
    take: Literal["original", "runs"] | None = Field(
        default=None, description="the original label, or the one that the runs gave before any rule"
    )
    abstain: Literal[True] | None = Field(default=None, description="N/A: the score cannot be computed")
    value: str | None = Field(default=None, min_length=1, description="this label, as a name or a number")
    multiply: float | None = Field(default=None, description="the recomputed number, times this")
    add: float | None = Field(default=None, description="the recomputed number, or date in days, and this")
    decimals: int = Field(default=2, ge=0, description="decimals of a number that was computed")

    @model_validator(mode="after")
    def _one(self) -> Do:
        if len(self.named()) != 1:
            raise ValueError("exactly one of calculator, take, abstain, value, multiply, add")
        return self

    def named(self) -> list[str]:
        """Return what is to be done, in words."""
        values = {name: getattr(self, name) for name in THINGS}
        return [name if value is True else f"{name} {value}" for name, value in values.items() if value is not None]


class Rule(BaseModel):
    """A rule file.

    Attributes:
        name: of the rule.
        by: who found it.
        why: what was wrong, in words.
        evidence: keys of the reviewed rows that show it.
        rows: which rows share it.
        do: what their label is instead.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    by: str = Field(min_length=1)
    why: str = Field(min_length=1)
    evidence: tuple[str, ...] = Field(min_length=1)
    rows: Rows
    do: Do

    @property
    def sha256(self) -> str:
        """SHA-256 of what the rule says."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def read_rule(file: Path) -> Rule:
    """Read a rule file (TOML).

    Raises:
        InputError: there is none, or it is no rule; the message says which key.
    """
    if not file.is_file():
        raise InputError("no such rule file", file=file)
    try:
        return Rule.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("the rule file is no TOML", file=file, found=str(error)) from error
    except ValidationError as error:
        found = [f"{'.'.join(map(str, one['loc'])) or 'rule'}: {one['msg']}" for one in error.errors()]
        raise InputError(
            "the rule file cannot be read",
            file=file,
            found="; ".join(found),
            expected="name, by, why, evidence, [rows] with strata, uids or where, and one thing to do in [do]",
        ) from None
