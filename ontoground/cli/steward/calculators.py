"""``ontoground steward calculators``: lists, shows and computes scores, and holds them against labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from ground.errors import InputError, UsageError
from ontoground.cli.options import WRITTEN, InWorkspace, Paint, Result, verb
from ontoground.cli.render import Blocks, relative, table, text, unfolded
from ontoground.cli.steward.options import group
from ontoground.cli.steward.shares import percent, unread_blocks

if TYPE_CHECKING:
    import polars as pl

    from stewardship.calculators.registry import Calculator
    from stewardship.history.log import Role

__all__ = ["calculators"]

ROLES: dict[Role, str] = {"original": "label", "recomputed": "new", "physician": "md", "final": "final"}
"""Whose labels are compared, and the head of their column."""


@dataclass(frozen=True, kw_only=True)
class Asked(InWorkspace):
    """Which scores are computed, and from what."""

    which: Annotated[str | None, Argument(metavar="CALCULATOR", help="Its number or name")] = None
    features: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help='A feature, as "age=65 years"; repeatable')
    ] = None
    version: Annotated[
        Literal["corrected", "v1.0"],
        Option(help="corrected: as published; v1.0: as MedCalc-Bench v1.0 computed, errors included"),
    ] = "corrected"
    benchmark: Annotated[
        str | None, Option(metavar="NAME", help="Compute the rows of this benchmark, beside its labels")
    ] = None
    table: Annotated[
        Path | None, Option(metavar="FILE", help="Compute the rows of a table with features (see adopt)")
    ] = None
    output: Annotated[
        Path | None, Option(metavar="FILE", help="Output file; default for a benchmark: in its folder"), WRITTEN
    ] = None
    listed: Annotated[bool, Option("--list", help="List all calculators, as without any option")] = False

    def result(self, mode: str, paint: Paint, code: int = 0, /, **results: Any) -> Result:
        """Return what was found, behind what every payload of the verb begins with."""
        return super().result("steward calculators", paint, code, mode=mode, **results)


@verb(
    group,
    "Compute clinical scores from features.",
    "ontoground steward calculators",
    "ontoground steward calculators 45",
    'ontoground steward calculators 11 --set "QT interval=400" \\',
    '    --set "Heart Rate or Pulse=75"',
    "ontoground steward calculators --benchmark medcalc --version v1.0",
)
def calculators(options: Asked) -> Result:
    """Compute the 55 calculators of MedCalc-Bench: features in, score out, or why there is none.

    Without a calculator: the list of them. With one: what it reads, its formula and source; with --set its score, step
    by step. Over a benchmark or a table: each row's score, and how often the labels agree, by calculator.
    """
    from stewardship.calculators import registry

    which, many = options.which, options.benchmark is not None or options.table is not None
    if options.features and which is None:
        raise UsageError(
            "--set is for one calculator", expected="its number, such as `steward calculators 21 --set ...`"
        )
    if options.features and many:
        raise UsageError("--set computes one score, a table or benchmark many", expected="one of them")
    if options.benchmark is not None and options.table is not None:
        raise UsageError("--benchmark and --table do not go together", expected="one of them")
    if options.listed and (which is not None or many):
        raise UsageError("--list takes no other option", expected="no number, --set, --table or --benchmark")
    known = None if which is None else registry.find(which)
    if many:
        return _held(options, known)
    if known is None:
        rows = [asdict(calculator) for calculator in registry.calculators()]
        return options.result("list", _blocks_of_list, calculators=rows)
    return _computed(options, known) if options.features else _definition(options, known)


def _blocks_of_list(payload: dict[str, Any]) -> Blocks:
    rows = [
        [str(calculator["id"]), calculator["name"], calculator["kind"], calculator["unit"]]
        for calculator in payload["calculators"]
    ]
    yield table(["id", "calculator", "kind", "unit"], rows)


def _definition(options: Asked, known: Calculator) -> Result:
    """Return one calculator, what it reads and, of a score, its points."""
    from stewardship.calculators.inputs import inputs_of
    from stewardship.calculators.scoring import items_of

    return options.result(
        "show",
        _blocks_of_definition,
        calculators=[asdict(known)],
        version=options.version,
        inputs=[{**asdict(entry), "absent": entry.absent or None} for entry in inputs_of(known.id)],
        points=[
            {"item": item.name, "when": line.when, "unit": item.unit, "points": line.points, "source": line.source}
            for item in items_of(known.id, options.version).values()
            for line in item.lines
        ],
    )


def _blocks_of_definition(payload: dict[str, Any]) -> Blocks:
    known = payload["calculators"][0]
    yield text(f"{known['id']}  {known['name']}", "bold")
    yield unfolded(f"formula  {known['formula']}\nsource   {known['source']}")
    rows = [[item["feature"], _reads(item), item["absent"] or "needed"] for item in payload["inputs"]]
    yield unfolded("names are read in any case, and in other spellings and synonyms (feature_names.tsv)")
    yield table(["reads", "as", "if not given"], sorted(rows, key=lambda row: row[2] != "needed"))
    # One line for each item, its bands in order: the first that fits counts.
    bands: dict[str, list[str]] = {}
    for point in payload["points"]:
        name = f"{point['item']}, {_per(point['unit'])}" if point["unit"] else point["item"]
        points = "N/A" if point["points"] is None else f"{point['points']:+g}" if point["points"] else "0"
        bands.setdefault(name, []).append(f"{point['when'].replace('; ', ' or ')}: {points}")
    if bands:
        yield table(["points for", "points"], [[name, ", ".join(each)] for name, each in bands.items()])


def _per(unit: str) -> str:
    """Return a unit as it is read; cell counts are written as what they are per."""
    return f"per {unit}" if unit in ("µL", "mm^3", "m^3") else unit


def _reads(item: dict[str, Any]) -> str:
    if item["words"]:
        return "; ".join(item["words"])
    if item["kind"] == "quantity":
        return " or ".join(map(_per, item["units"]))
    return {"flag": "yes or no", "date": "month/day/year", "dose": "drug, number, unit"}.get(item["kind"], "number")


def _computed(options: Asked, known: Calculator) -> Result:
    """Compute one score from features typed by a person."""
    from stewardship.calculators.features import Features
    from stewardship.calculators.registry import calculate
    from stewardship.calculators.typed import read_settings_of

    features = Features(read_settings_of(known.id, options.features or ()))
    outcome = calculate(known.id, features, options.version)
    return options.result(
        "compute",
        _blocks_of_computed,
        calculators=[asdict(known)],
        version=options.version,
        value=outcome.value.text(),
        reason=outcome.reason or None,
        steps=list(outcome.steps),
        assumptions=list(outcome.assumptions),
    )


def _blocks_of_computed(payload: dict[str, Any]) -> Blocks:
    for step in payload["steps"]:
        yield unfolded(step)
    for assumption in payload["assumptions"]:
        yield unfolded(f"assumed: {assumption}")
    if payload["reason"]:
        yield unfolded(f"N/A: {payload['reason']}")
    if payload["version"] == "v1.0":
        yield unfolded("as MedCalc-Bench v1.0 computed, which is not as published where it had an error")


def _held(options: Asked, known: Calculator | None) -> Result:
    """Compute the score of every row of a benchmark or a table, and count how often its labels say the same."""
    from stewardship.calculators.registry import find
    from stewardship.calculators.run import compare, run_calculators

    rows, labels, target = _labelled(options)
    scores = run_calculators(rows, None if known is None else frozenset([known.id]))
    if not scores.height:
        raise InputError("no row belongs to this calculator", found=options.which, file=options.table)
    # The limits of v1.0 hold whole numbers to the last point; those of the corrected labels give them 5%.
    agreed = {role: compare(scores, table, options.version, "v1") for role, table in labels.items()}
    if target is not None:
        _write_scores(scores, agreed, target)
    numbers = sorted(set(scores["calculator_id"]))
    unread = scores.drop_nulls("unread")["uid", "unread"]
    return options.result(
        "agreement",
        _blocks_of_benchmark,
        version=options.version,
        **_counts(scores, agreed, options.version, numbers),
        by_calculator=[
            {"id": number, "name": find(number).name, **_counts(scores, agreed, options.version, [number])}
            for number in numbers
        ],
        unread=[{"uid": uid, "features": names} for uid, names in unread.iter_rows()],
        file=None if target is None else str(target),
    )


def _write_scores(scores: pl.DataFrame, agreed: Mapping[Role, pl.DataFrame], target: Path) -> None:
    import polars as pl

    from ground.spreadsheet import write_csv
    from ground.storage.files import atomic_path

    written = scores.with_columns(pl.col("unread").list.join("; "))
    for role, compared in agreed.items():
        sides = compared.select("uid", pl.col("theirs").alias(role), pl.col("agrees").alias(f"agrees_{role}"))
        written = written.join(sides, on="uid", how="left", maintain_order="left")
    with atomic_path(target) as temporary:
        write_csv(written, temporary)


def _counts(
    scores: pl.DataFrame, agreed: Mapping[Role, pl.DataFrame], version: str, numbers: Sequence[int]
) -> dict[str, Any]:
    """Return how many rows some calculators have, how many abstain, and how many labels agree."""
    import polars as pl

    own = pl.col("calculator_id").is_in(list(numbers))
    tables = {role: table.filter(own) for role, table in agreed.items()}
    return {
        "rows": scores.filter(own).height,
        "abstained": scores.filter(own, pl.col(version) == "N/A").height,
        # The sum of no row is none: a calculator of which no row has such a label.
        "labels": {role: {"agree": int(item["agrees"].sum() or 0), "of": item.height} for role, item in tables.items()},
    }


def _labelled(options: Asked) -> tuple[pl.DataFrame, dict[Role, pl.DataFrame], Path | None]:
    """Return the rows of a table or a benchmark, their labels by role, and where the scores go."""
    import polars as pl

    from stewardship.benchmark.folder import LABELS, Benchmark
    from stewardship.benchmark.tables import read_label_table

    if options.table is not None:
        frame = read_label_table(options.table).frame
        labels = {
            role: frame.select("uid", pl.col(column).alias("label")).drop_nulls()
            for column, role in LABELS.items()
            if column in frame.columns
        }
        return frame, labels, options.output
    benchmark = Benchmark.open(options.workspace, options.benchmark)
    schema = {"uid": pl.String, "label": pl.String}
    labels = {
        role: pl.DataFrame([(uid, label.text() or None) for uid, label in own.items()], schema, orient="row")
        for role in ROLES
        if (own := benchmark.history.labels(role))
    }
    return benchmark.items, labels, options.output or benchmark.folder / "calculators.csv"


def _blocks_of_benchmark(payload: dict[str, Any]) -> Blocks:
    rows = []
    for item in payload["by_calculator"]:
        agree = [f"{count['agree']}/{count['of']}" if count["of"] else "" for count in item["labels"].values()]
        # A table of 80 columns has room for so much of a name.
        rows.append([str(item["id"]), item["name"][:32], item["rows"], item["abstained"], *agree])
    yield table(["id", "calculator", "rows", "N/A", *(ROLES[role] for role in payload["labels"])], rows)
    yield f"version {payload['version']}: {payload['rows']:,} rows, {payload['abstained']:,} of them N/A"
    for role, count in payload["labels"].items():
        head = f"agree with {ROLES[role]} ({role})"
        share = f" ({percent(count['agree'] / count['of'])})" if count["of"] else ""
        yield f"{head:28} {count['agree']:,} of {count['of']:,}{share}"
    if payload["unread"]:
        yield from unread_blocks(payload["unread"])
    if payload["file"]:
        yield unfolded(f"rows in {relative(Path(payload['file']))}")
