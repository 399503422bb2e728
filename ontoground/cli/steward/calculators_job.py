"""What ``ontoground steward calculators`` does: lists, shows and computes scores, and holds them against labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, UsageError
from ground.storage.files import atomic_path
from ontoground.cli.steward.shares import percent

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from stewardship.calculators.registry import Calculator, Version

__all__ = ["agreement_job", "check_request", "compute_job", "list_job", "paint_calculators", "show_job"]

VERB = "steward calculators"
ROLES = {"original": "label", "recomputed": "new", "physician": "md", "final": "final"}
"""Whose labels are compared, and the head of their column."""
FILE = "calculators.csv"
LABEL = ("uid", "label")
NAME = 32
"""Characters of a calculator's name that a table of 80 columns has room for."""


def check_request(number: str | None, settings: tuple[str, ...], *, over: bool, both: bool, listed: bool) -> None:
    """Refuse options that do not go together.

    Raises:
        UsageError: they do not.
    """
    if settings and number is None:
        raise UsageError("--set is for one calculator", expected="its number, as `steward calculators 21 --set ...`")
    if settings and over:
        raise UsageError("--set computes one score, a table or benchmark many", expected="one of them")
    if both:
        raise UsageError("--benchmark and --table do not go together", expected="one of them")
    if listed and (number is not None or settings or over):
        raise UsageError("--list goes alone", expected="no number, --set, --table or --benchmark")


def list_job(workspace: Path) -> dict[str, Any]:
    """Return all calculators."""
    from stewardship.calculators.registry import calculators

    rows = [_described(one) for one in calculators()]
    return {"verb": VERB, "mode": "list", "workspace": str(workspace), "calculators": rows}


def show_job(workspace: Path, which: str, version: Version) -> dict[str, Any]:
    """Return one calculator, what it reads and, of a score, its points.

    Raises:
        UsageError: there is none.
    """
    from stewardship.calculators.inputs import inputs_of
    from stewardship.calculators.registry import find
    from stewardship.calculators.scoring import items_of

    known = find(which)
    reads = [
        {
            "feature": one.feature,
            "kind": one.kind,
            "units": list(one.units),
            "words": list(one.words),
            "absent": one.absent or None,
        }
        for one in inputs_of(known.id)
    ]
    points = [
        {"item": item.name, "when": line.when, "unit": item.unit, "points": line.points, "source": line.source}
        for item in items_of(known.id, version).values()
        for line in item.lines
    ]
    return {
        "verb": VERB,
        "mode": "show",
        "workspace": str(workspace),
        "calculators": [_described(known)],
        "version": version,
        "inputs": reads,
        "points": points,
    }


def compute_job(workspace: Path, which: str, settings: tuple[str, ...], version: Version) -> dict[str, Any]:
    """Compute one score from features typed by a person.

    Raises:
        UsageError: no such calculator, or a feature that it does not read.
    """
    from stewardship.calculators.features import Features
    from stewardship.calculators.inputs import read_settings_of
    from stewardship.calculators.registry import calculate, find

    known = find(which)
    outcome = calculate(known.id, Features(read_settings_of(known.id, settings)), version)
    return {
        "verb": VERB,
        "mode": "compute",
        "workspace": str(workspace),
        "calculators": [_described(known)],
        "version": version,
        "value": outcome.value.text(),
        "reason": outcome.reason or None,
        "steps": list(outcome.steps),
        "assumptions": list(outcome.assumptions),
    }


def agreement_job(
    workspace: Path,
    *,
    benchmark: str | None,
    file: Path | None,
    which: str | None,
    version: Version,
    output: Path | None,
) -> dict[str, Any]:
    """Compute the score of every row of a benchmark or a table, and count how often its labels say the same.

    Raises:
        InputError: no such table or benchmark, or rows without features of calculators.
        UsageError: no such calculator, or a table and no --output.
    """
    import polars as pl

    from stewardship.calculators.registry import find
    from stewardship.calculators.run import compare, run_calculators

    only = None if which is None else frozenset([find(which).id])
    rows, labels, where = _table(file) if file is not None else _benchmark(workspace, benchmark)
    found = run_calculators(rows, only)
    if not found.height:
        raise InputError("no row is of this calculator", found=which, file=file)
    written = found
    agreed: dict[str, pl.DataFrame] = {}
    for role, table in labels.items():
        # The limits of v1.0 hold whole numbers to the last point; those of the corrected labels give them 5%.
        agreed[role] = compare(found, table, version, "v1")
        sides = agreed[role].select("uid", pl.col("theirs").alias(role), pl.col("agrees").alias(f"agrees_{role}"))
        written = written.join(sides, on="uid", how="left", maintain_order="left")
    target = output or where
    if target is not None:
        with atomic_path(target) as temporary:
            written.write_csv(temporary)
    return {
        "verb": VERB,
        "mode": "agreement",
        "workspace": str(workspace),
        "version": version,
        "rows": found.height,
        "abstained": found.filter(pl.col(version) == "N/A").height,
        "labels": {role: _counts(table) for role, table in agreed.items()},
        "by_calculator": _by_calculator(found, agreed, version),
        "file": None if target is None else str(target),
    }


def _benchmark(workspace: Path, name: str | None) -> tuple[pl.DataFrame, dict[str, pl.DataFrame], Path]:
    import polars as pl

    from stewardship.benchmark.folder import Benchmark

    found = Benchmark.open(workspace, name)
    labels = {}
    for role in ROLES:
        stands = found.history.labels(role)  # type: ignore[arg-type]
        if stands:
            texts = [value.text() or None for value in stands.values()]
            labels[role] = pl.DataFrame({"uid": list(stands), "label": texts}, schema=dict.fromkeys(LABEL, pl.String))
    return found.items, labels, found.folder / FILE


def _table(file: Path) -> tuple[pl.DataFrame, dict[str, pl.DataFrame], None]:
    import polars as pl

    from stewardship.benchmark.tables import read_label_table

    frame = read_label_table(file).frame
    columns = {"label": "original"} | {role: role for role in ROLES}
    labels = {
        role: frame.select("uid", pl.col(column).alias("label")).drop_nulls()
        for column, role in columns.items()
        if column in frame.columns
    }
    return frame, labels, None


def _counts(table: pl.DataFrame) -> dict[str, int]:
    # The sum of no row is none: a calculator of which no row has such a label.
    return {"agree": int(table["agrees"].sum() or 0), "of": table.height}


def _by_calculator(found: pl.DataFrame, agreed: dict[str, pl.DataFrame], version: Version) -> list[dict[str, Any]]:
    import polars as pl

    from stewardship.calculators.registry import find

    rows = []
    for number in sorted(set(found["calculator_id"])):
        own = pl.col("calculator_id") == number
        mine = found.filter(own)
        rows.append(
            {
                "id": number,
                "name": find(number).name,
                "rows": mine.height,
                "abstained": mine.filter(pl.col(version) == "N/A").height,
                "labels": {role: _counts(table.filter(own)) for role, table in agreed.items()},
            }
        )
    return rows


def _described(one: Calculator) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "kind": one.kind,
        "category": one.category,
        "output_type": one.output_type,
        "unit": one.unit,
        "formula": one.formula,
        "source": one.source,
    }


def paint_calculators(screen: Console, payload: dict[str, Any]) -> None:
    """Show what was listed, shown, computed or counted."""
    paint = {"list": _paint_list, "show": _paint_one, "compute": _paint_outcome, "agreement": _paint_agreement}
    paint[payload["mode"]](screen, payload)


def _paint_list(screen: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import table

    cells = [[str(one["id"]), one["name"], one["kind"], one["unit"]] for one in payload["calculators"]]
    screen.print(table(["id", "calculator", "kind", "unit"], cells))


def _paint_one(screen: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import table

    _paint_head(screen, payload["calculators"][0])
    cells = [
        [one["feature"], _reads(one), one["absent"] or "needed"]
        for one in sorted(payload["inputs"], key=lambda one: one["absent"] is not None)
    ]
    screen.print(table(["reads", "as", "if not given"], cells))
    if payload["points"]:
        screen.print()
        screen.print(table(["points for", "points"], _by_item(payload["points"])))


def _by_item(points: list[dict[str, Any]]) -> list[list[str]]:
    """Return one line for each item, its bands in order: the first that fits counts."""
    lines: dict[str, list[str]] = {}
    for one in points:
        name = f"{one['item']}, {_counted(one['unit'])}" if one["unit"] else one["item"]
        lines.setdefault(name, []).append(f"{one['when'].replace('; ', ' or ')}: {_points(one['points'])}")
    return [[name, ", ".join(parts)] for name, parts in lines.items()]


def _points(points: float | None) -> str:
    return "N/A" if points is None else f"{points:+g}" if points else "0"


def _counted(unit: str) -> str:
    """Return a unit as it is read; cell counts are written as what they are per."""
    return f"per {unit}" if unit in ("µL", "mm^3", "m^3") else unit


def _reads(one: dict[str, Any]) -> str:
    if one["words"]:
        return "; ".join(one["words"])
    if one["kind"] == "quantity":
        return " or ".join(map(_counted, one["units"]))
    return {"flag": "yes or no", "date": "month/day/year", "dose": "drug, number, unit"}.get(one["kind"], "number")


def _paint_head(screen: Console, one: dict[str, Any]) -> None:
    screen.print(f"{one['id']}  {one['name']}", style="bold", soft_wrap=True)
    screen.print(f"formula  {one['formula']}", soft_wrap=True)
    screen.print(f"source   {one['source']}\n", soft_wrap=True)


def _paint_outcome(screen: Console, payload: dict[str, Any]) -> None:
    for step in payload["steps"]:
        screen.print(step, soft_wrap=True, markup=False)
    for assumption in payload["assumptions"]:
        screen.print(f"assumed: {assumption}", soft_wrap=True, markup=False, style="dim")
    if payload["reason"]:
        screen.print(f"N/A: {payload['reason']}", soft_wrap=True, markup=False)
    if payload["version"] == "v1.0":
        screen.print("as MedCalc-Bench v1.0 computed, which is not as published where it had an error", soft_wrap=True)


def _paint_agreement(screen: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import relative, table

    roles = list(payload["labels"])
    cells = [
        [
            str(row["id"]),
            row["name"][:NAME],
            row["rows"],
            row["abstained"],
            *(_share(row["labels"][one]) for one in roles),
        ]
        for row in payload["by_calculator"]
    ]
    screen.print(table(["id", "calculator", "rows", "N/A", *(ROLES[one] for one in roles)], cells))
    screen.print(f"version {payload['version']}: {payload['rows']:,} rows, {payload['abstained']:,} of them N/A")
    for role, count in payload["labels"].items():
        share = f" ({percent(count['agree'] / count['of'])})" if count["of"] else ""
        head = f"agree with {ROLES[role]} ({role})"
        screen.print(f"{head:28} {count['agree']:,} of {count['of']:,}{share}")
    if payload["file"]:
        screen.print(f"rows in {relative(Path(payload['file']))}", soft_wrap=True)


def _share(count: dict[str, int]) -> str:
    return f"{count['agree']}/{count['of']}" if count["of"] else ""
