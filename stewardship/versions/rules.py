"""Rules that a physician found wrong, put right on the rows that nobody reviewed (paper 2.5, post-hoc finalisation).

Where a reviewed row shows that labels share a fault (a factor that no guideline has, a criterion counted twice), a rule
file says which rows share it and what their label is instead. A rule writes events of role ``recomputed``, status
``rule``, as one batch: the final label is the physician's where there is one, else the recomputed one, so a rule comes
before ``finalise`` and never touches a reviewed row. Counts of phase 2 and triage read the labels of the runs
(``high_confidence``), so a rule changes none of them. Taking the batch back restores what the runs said;
runs that say another label later go before the rule, which is then applied again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Literal

import duckdb
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ground.contracts.labels import LabelValue
from ground.errors import InputError, UsageError
from ground.settings import StewardSettings
from ground.storage.files import private_directory, write_text
from ground.storage.warehouse import QUERY_ERRORS, open_database
from stewardship.adjudication.agreement import USUAL, agrees, value_type
from stewardship.benchmark.folder import Benchmark
from stewardship.history.events import RULE, Event, Evidence

__all__ = ["Do", "Effect", "Rows", "Rule", "RuleOutcome", "apply_rule", "read_rule", "try_rule"]

FOLDER = "rules"


@dataclass(frozen=True)
class Effect:
    """What a rule does to one row.

    Attributes:
        original: the label published first; None where there is none.
        before: the recomputed label; None where there is none.
        after: the label that the rule gives; None where it gives none.
        note: why it gives none, or what the calculator says.
        physician: the physician's label; None where the row was not reviewed.
        agreed: whether ``before`` agrees with the physician's label; None where not reviewed.
        agrees: whether ``after`` does.
    """

    uid: str
    stratum: str | None
    original: LabelValue | None
    before: LabelValue | None
    after: LabelValue | None
    note: str = ""
    physician: LabelValue | None = None
    agreed: bool | None = None
    agrees: bool | None = None


@dataclass(frozen=True)
class RuleOutcome:
    """What a rule would do, or did.

    Attributes:
        changed: unreviewed rows that get another label.
        same: unreviewed rows that have this label already.
        without: unreviewed rows for which the rule gives no label; they keep theirs.
        reviewed: reviewed rows that the rule is about: never touched, and the proof of it.
        unlabelled: unreviewed rows that it would be about, had they a recomputed label.
    """

    rule: Rule
    changed: tuple[Effect, ...]
    same: tuple[Effect, ...]
    without: tuple[Effect, ...]
    reviewed: tuple[Effect, ...]
    unlabelled: int


def try_rule(benchmark: Benchmark, rule: Rule, settings: StewardSettings = USUAL) -> RuleOutcome:
    """Return what a rule would do, without writing anything.

    Args:
        settings: of agreement (docs/stewardship.md#agreement).

    Raises:
        UsageError: its condition is no SQL, or its value no label; it names a reviewed row to change; its evidence is
            no reviewed row, or none of the rows that the rule is about.
    """
    history, names = benchmark.history, benchmark.categories
    recomputed = history.labels("recomputed")
    physician = history.labels("physician")
    original = history.labels("original")
    # What the runs said before any rule.
    runs = history.labels("recomputed", without=(RULE,))
    given = None if rule.do.value is None else benchmark.parse(rule.do.value)
    if given is not None and not given.answered:
        raise UsageError(
            "the value of the rule is not a label", found=rule.do.value, expected=", ".join(names) or "a number"
        )
    about = _about(benchmark, rule)
    _check_evidence(rule, set(about["uid"]), set(physician))
    results: dict[str, list[Effect]] = {"changed": [], "same": [], "without": [], "reviewed": [], "unlabelled": []}
    for row in about.iter_rows(named=True):
        uid = row["uid"]
        before, theirs = recomputed.get(uid), physician.get(uid)
        after, note = (
            (given, "") if given is not None else _label(rule.do, row, before, original.get(uid), runs.get(uid))
        )
        effect = Effect(uid, row.get("stratum"), original.get(uid), before, after, note, theirs)
        if theirs is not None:
            kind = value_type(theirs, [item for item in (before, original.get(uid)) if item is not None], settings)
            if kind is not None:
                agreed, agree = (
                    item is not None and agrees(theirs, item, kind, settings)
                    for item in (before, before if after is None else after)
                )
                effect = replace(effect, agreed=agreed, agrees=agree)
            results["reviewed"].append(effect)
        elif before is None and not rule.rows.unlabelled:
            results["unlabelled"].append(effect)
        elif after is None:
            results["without"].append(effect)
        else:
            results["same" if after == before else "changed"].append(effect)
    lists = {name: tuple(effects) for name, effects in results.items() if name != "unlabelled"}
    return RuleOutcome(rule, **lists, unlabelled=len(results["unlabelled"]))


def apply_rule(benchmark: Benchmark, outcome: RuleOutcome, *, force: bool = False) -> str | None:
    """Write what a rule changes as one batch, keep the rule beside the history, and return the batch's name.

    Returns None where nothing changes.

    Raises:
        UsageError: a row was reviewed meanwhile; or the rule agrees with fewer physicians' labels than what it
            replaces, and ``force`` is not set.
    """
    rule, history = outcome.rule, benchmark.history
    agreed, agree = (sum(bool(getattr(item, name)) for item in outcome.reviewed) for name in ("agreed", "agrees"))
    if agree < agreed and not force:
        raise UsageError(
            "the rule agrees with fewer physicians' labels than the labels that it replaces",
            found=f"{agree} of {len(outcome.reviewed)} reviewed rows, before {agreed}",
            do="narrow [rows], or apply it anyway with --force",
        )
    if not outcome.changed:
        return None

    def check() -> None:
        if reviewed := sorted({item.uid for item in outcome.changed} & set(history.latest("physician"))):
            raise UsageError(
                "a rule never changes a reviewed row", found=", ".join(reviewed[:5]), do="try the rule again"
            )

    kept = benchmark.folder / FOLDER / f"{rule.name}-{rule.sha256[:12]}.json"
    private_directory(kept.parent)
    write_text(kept, rule.model_dump_json(indent=2) + "\n")
    return history.append([_event(rule, item) for item in outcome.changed], check=check)


def _event(rule: Rule, effect: Effect) -> Event:
    assert effect.after is not None
    evidence: Evidence = {
        "rule": rule.name,
        "rule_sha256": rule.sha256,
        "did": rule.do.named()[0],
        "before": effect.before.text() if effect.before is not None else None,
        "reviewed_rows": list(rule.evidence),
    }
    return Event(
        uid=effect.uid,
        role="recomputed",
        value=effect.after.text(),
        status=RULE,
        by=f"rule {rule.name} ({rule.by})",
        why=rule.why,
        evidence=evidence,
    )


def _check_evidence(rule: Rule, about: set[str], reviewed: set[str]) -> None:
    if lost := [uid for uid in rule.evidence if uid not in reviewed]:
        raise UsageError("evidence of a rule is a row that a physician reviewed", found=", ".join(lost))
    if named := [uid for uid in rule.rows.uids if uid in reviewed and uid not in rule.evidence]:
        raise UsageError("a rule never changes a reviewed row", found=", ".join(named), expected="unreviewed rows")
    if lost := [uid for uid in rule.evidence if uid not in about and not rule.rows.uids]:
        raise UsageError(
            "the rule does not apply to its own evidence",
            found=", ".join(lost),
            expected="evidence that fits strata and where of [rows]",
        )


def _about(benchmark: Benchmark, rule: Rule) -> pl.DataFrame:
    """Return the rows that fit, with the columns that a condition can name, in the benchmark's order."""
    rows, items = rule.rows, benchmark.items
    if not (rows.strata or rows.uids or rows.where.strip()):
        raise UsageError("the rule names no rows", expected="strata, uids or where in [rows]")
    labels = {
        role: {uid: label.text() for uid, label in benchmark.history.labels(role).items()}
        for role in ("original", "recomputed", "physician", "final")
    }
    table = items.with_columns(
        *(pl.col("uid").replace_strict(values, default=None, return_dtype=pl.String).alias(role)
          for role, values in labels.items() if values),
        *(pl.lit(None, pl.String).alias(role) for role, values in labels.items() if not values),
    )  # fmt: skip
    if rows.strata:
        wanted = [stratum.casefold() for stratum in rows.strata]
        columns = [name for name in ("stratum", "stratum_id") if name in table.columns]
        known = {value.casefold() for name in columns for value in table[name].drop_nulls().unique()}
        if lost := [stratum for stratum in rows.strata if stratum.casefold() not in known]:
            raise UsageError("no such stratum", found=", ".join(lost), expected="a number or a name of a stratum")
        table = table.filter(pl.any_horizontal(pl.col(name).str.to_lowercase().is_in(wanted) for name in columns))
    if rows.uids:
        if lost := sorted(set(rows.uids) - set(items["uid"])):
            raise UsageError("no such rows", found=", ".join(lost[:5]))
        table = table.filter(pl.col("uid").is_in([*rows.uids, *rule.evidence]))
    return table.filter(pl.col("uid").is_in(_where(table, rows.where))) if rows.where.strip() else table


def _where(table: pl.DataFrame, condition: str) -> list[str]:
    """Return the keys of the rows that fit an SQL condition; it can read these rows and nothing else."""
    if "features" in table.columns:
        table = table.with_columns(pl.col("features").map_elements(_as_json, return_dtype=pl.String))
    cast = ", features::json as features" if "features" in table.columns else ""
    with open_database() as connection:
        connection.register("given", table.to_arrow())
        connection.execute(f"create table label_row as select * replace (uid as uid{cast}) from given")
        connection.execute("set enable_external_access = false; set lock_configuration = true")
        try:
            rows = connection.execute(f"select uid from label_row where ({condition})").fetchall()
        except duckdb.Error as error:
            raise UsageError(
                "the condition of the rule cannot be run",
                # An error on a row would quote the row: a note, a comment, features.
                found=str(error).splitlines()[0]
                if isinstance(error, QUERY_ERRORS)
                else f"{type(error).__name__} on a row",
                expected=f"SQL on {', '.join(name for name in table.columns if name != 'context')}; labels are text",
            ) from None
    return [str(uid) for (uid,) in rows]


def _as_json(cell: str) -> str | None:
    """Return features as JSON: they are written as JSON or as a Python dictionary."""
    for read in (json.loads, ast.literal_eval):
        try:
            return json.dumps(read(cell), default=str)
        except (ValueError, SyntaxError, RecursionError):
            continue
    return None


def _label(
    do: Do,
    row: Mapping[str, str | None],
    before: LabelValue | None,
    original: LabelValue | None,
    runs: LabelValue | None,
) -> tuple[LabelValue | None, str]:
    """Return the label that a rule gives a row, and what there is to say about it."""
    if do.abstain:
        return LabelValue.of(None), ""
    if do.take is not None:
        taken = original if do.take == "original" else runs
        return taken, "" if taken is not None else f"no label of {do.take}"
    if do.calculator is not None:
        # The calculators need pint, and no other rule does.
        from stewardship.calculators.registry import calculate

        outcome = calculate(row.get("stratum_id") or row.get("stratum") or "", row.get("features") or "", do.calculator)
        # A calculator that finds no answer in the features says nothing of the note: the label stays.
        return (None, outcome.reason) if outcome.reason else (outcome.value.rounded(do.decimals), "")
    return _changed(before, do)


def _changed(before: LabelValue | None, do: Do) -> tuple[LabelValue | None, str]:
    """Return the number times or plus what the rule says, or the date so many days later."""
    if before is not None and before.day is not None and do.add is not None:
        try:
            return LabelValue.of(before.day + timedelta(days=do.add)), ""
        except OverflowError:
            return None, "no date"
    if before is None or before.number is None:
        return None, "no number"
    number = before.number * do.multiply if do.multiply is not None else before.number + (do.add or 0)
    return (LabelValue.of(number).rounded(do.decimals), "") if math.isfinite(number) else (None, "no number")


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
    multiply: float | None = Field(default=None, allow_inf_nan=False, description="the recomputed number, times this")
    add: float | None = Field(
        default=None, ge=-1e6, le=1e6, description="the recomputed number, or date in days, and this"
    )
    decimals: int = Field(default=2, ge=0, le=15, description="decimals of a number that was computed")

    @model_validator(mode="after")
    def _only_one(self) -> Do:
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
        evidence: keys of the reviewed rows that show it.
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
        raise InputError("the rule file is not TOML", file=file, found=str(error)) from error
    except ValidationError as error:
        results = [f"{'.'.join(map(str, item['loc'])) or 'rule'}: {item['msg']}" for item in error.errors()]
        raise InputError(
            "the rule file cannot be read",
            file=file,
            found="; ".join(results),
            expected="name, by, why, evidence, [rows] with strata, uids or where, and one thing to do in [do]",
        ) from None
