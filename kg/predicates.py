"""The vocabulary of the graph: predicates, path patterns, relation lines and semantic groups, read from ``kg/data``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from ground import ROOT
from ground.errors import InputError
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.tables import Row, read_table

__all__ = [
    "ANY",
    "TIERS",
    "Pattern",
    "Predicate",
    "Vocabulary",
    "data_folder",
    "read_chemical_trees",
    "read_dose_form_words",
    "read_relation_lines",
    "read_semantic_groups",
    "read_vocabulary",
]

TIERS = ("stated", "equivalent", "inherited", "plausible")
"""Tiers of a pattern, strongest first (docs/definitions.md#tier)."""

ANY = "*"
"""In place of groups: any group, and none."""
MAX_STEPS = 3


@dataclass(frozen=True)
class Predicate:
    """One line of ``predicates.tsv``: a canonical direction, its inverse, and what its ends must be."""

    predicate: str
    inverse: str
    head_groups: tuple[str, ...]
    tail_groups: tuple[str, ...]
    same_group: bool
    symmetric: bool
    asserts_benefit: bool
    statement: str
    implies: str
    sentence: str
    inverse_sentence: str
    source: str


@dataclass(frozen=True)
class Pattern:
    """One line of ``patterns.tsv``: a sequence of steps and the statement predicate that it yields.

    ``extends`` names a predicate that describes the tail by one more edge; the pair stays (head, tail). ``max_fan`` is
    the largest number of neighbours that a step may fan out to (0: no limit).
    """

    pattern: str
    steps: tuple[str, ...]
    extends: str
    predicate: str
    tier: str
    max_fan: int
    source: str

    @property
    def hops(self) -> int:
        """Edges of a path of this pattern, the descriptive one included."""
        return len(self.steps) + bool(self.extends)


@dataclass(frozen=True)
class Vocabulary:
    """Predicates and patterns that belong together; step ``2 i`` is predicate i forwards, ``2 i + 1`` backwards."""

    predicates: tuple[Predicate, ...]
    patterns: tuple[Pattern, ...]

    @cached_property
    def step_names(self) -> list[str]:
        """Name of each step; a symmetric predicate has one step, and its second name is empty."""
        names: list[str] = []
        for line in self.predicates:
            names += [line.predicate, "" if line.symmetric else line.inverse]
        return names

    def step_of(self, name: str) -> int:
        """Return the step that a predicate or inverse name stands for.

        Raises:
            InputError: no predicate has this name.
        """
        names = self.step_names
        if not name or name not in names:
            raise InputError("there is no such predicate", found=name, expected=", ".join(sorted(filter(None, names))))
        return names.index(name)

    def line_of(self, name: str) -> tuple[Predicate, bool]:
        """Return the predicate that a name stands for, and whether the name reads it backwards."""
        step = self.step_of(name)
        return self.predicates[step // 2], bool(step % 2)

    def ends_of(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        """Return (groups of the head, groups of the tail, must they share one) for a predicate or inverse name."""
        line, backwards = self.line_of(name)
        ends = (line.head_groups, line.tail_groups)
        return (ends[1], ends[0], line.same_group) if backwards else (*ends, line.same_group)


def data_folder() -> Path:
    """Return the folder of the package's data tables."""
    return ROOT / "kg" / "data"


def _predicate(row: dict[str, str]) -> Predicate:
    flags = {name: row[name] == "yes" for name in ("same_group", "symmetric", "asserts_benefit")}
    groups = {name: tuple(row[name].split(",")) for name in ("head_groups", "tail_groups")}
    return Predicate(**{**row, **flags, **groups})  # type: ignore[arg-type]


def _pattern(row: Row) -> Pattern:
    if not re.fullmatch("[0-9]{0,9}", row["max_fan"]):
        expected = "a whole number of at most nine digits, or nothing: no limit"
        raise row.refused("a pattern's max_fan is not a number", row["max_fan"], expected)
    steps = tuple(row["pattern"].split(" . "))
    return Pattern(**{**row, "steps": steps, "max_fan": int(row["max_fan"] or 0)})  # type: ignore[arg-type]


def _key(row: Row) -> tuple[str, str, str]:
    return row["pattern"], row["extends"], row["predicate"]


def _check(vocabulary: Vocabulary, rows: Sequence[Row]) -> None:
    known = set(vocabulary.step_names) - {""}
    keys = set()
    for pattern, row in zip(vocabulary.patterns, rows, strict=True):
        used = {*pattern.steps, pattern.predicate, *([pattern.extends] if pattern.extends else [])}
        line = f"{pattern.pattern} -> {pattern.predicate} ({pattern.tier})"
        if not used <= known:
            line = f"{', '.join(sorted(used - known))}, in {line}"
            raise row.refused("a pattern is not valid: no such predicate", line, ", ".join(sorted(known)))
        if pattern.tier not in TIERS:
            raise row.refused("a pattern is not valid: no such tier", line, ", ".join(TIERS))
        if pattern.hops > MAX_STEPS:
            raise row.refused("a pattern is not valid: it is too long", line, f"at most {MAX_STEPS} edges")
        if _key(row) in keys:
            raise row.refused("a pattern is not valid: it is there already", line, "each pattern once, with one tier")
        keys.add(_key(row))


@cache
def read_vocabulary(folder: Path | None = None, own: OwnRules = NO_RULES) -> Vocabulary:
    """Read predicates and patterns, and check that they fit together.

    A pattern of the user's own stands last, and in the place of the package's of the same steps and predicate.

    Raises:
        InputError: a table has other columns, or a pattern names what is not there.
    """
    folder = folder or data_folder()
    columns = tuple(Predicate.__dataclass_fields__)
    predicates = [_predicate(row) for row in read_table(folder / "predicates.tsv", columns)]
    pattern_columns = ("pattern", "extends", "predicate", "tier", "max_fan", "source")
    added = own.rows("patterns", pattern_columns)
    replaced = set(map(_key, added))
    rows = [row for row in read_table(folder / "patterns.tsv", pattern_columns) if _key(row) not in replaced] + added
    vocabulary = Vocabulary(tuple(predicates), tuple(map(_pattern, rows)))
    _check(vocabulary, rows)
    return vocabulary


def read_relation_lines() -> list[Row]:
    """Read the lines that turn rows of MRREL (``rela``, ``rel``, ``sab``) into edges (``predicate``, ``direction``)."""
    return read_table(data_folder() / "relations.tsv", ("rela", "rel", "sab", "predicate", "direction", "source"))


def read_semantic_groups() -> list[Row]:
    """Read semantic types (``tui``, ``name``) with their semantic ``group``."""
    return read_table(data_folder() / "semantic_groups.tsv", ("tui", "name", "group", "source"))


def read_dose_form_words() -> list[Row]:
    """Read the words that tell where a dose form acts: ``word`` and ``route`` (local or systemic)."""
    return read_table(data_folder() / "dose_forms.tsv", ("word", "route", "source"))


def read_chemical_trees() -> list[str]:
    """Read the vocabularies whose trees of chemicals say no kinds."""
    return [row["sab"] for row in read_table(data_folder() / "chemical_trees.tsv", ("sab", "source"))]
