"""``ontoground steward adopt``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from ground.errors import UsageError
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import Blocks, relative, table, unfolded
from ontoground.cli.steward.options import group
from stewardship.benchmark.roles import ROLES

if TYPE_CHECKING:
    from stewardship.benchmark.folder import Benchmark

__all__ = ["adopt"]

CODES = """\
labels are the numbers {codes} only: points of a score, of which agreement forgives one. If they are codes of \
categories, take the table up under another name with --categories {given}"""
COLUMN = f"A column of the first table; repeatable. Roles: {', '.join(ROLES)}"


@dataclass(frozen=True, kw_only=True)
class Adoption(InWorkspace):
    """What is adopted, and what is said of it."""

    sources: Annotated[
        list[Path], Argument(metavar="TABLE...", help="CSV, Excel, Parquet or JSONL; or one dataset folder of ours")
    ]
    name: Annotated[str | None, Option(metavar="NAME", help="Name of the benchmark; the first table's own")] = None
    layout: Annotated[
        str | None, Option(metavar="NAME", help="Layout of the first table; default: recognised by its columns")
    ] = None
    columns: Annotated[list[str] | None, Option("--column", metavar="ROLE=NAME", help=COLUMN)] = None
    tier: Annotated[
        Literal["open", "credentialed"],
        Option(
            "--licence",
            help="credentialed rows are never sent to a model on another machine; a built dataset keeps its tier",
        ),
    ] = "credentialed"
    why: Annotated[
        str, Option("--why", metavar="TEXT", help="Why the rows are open, such as their licence; stored in the history")
    ] = ""
    categories: Annotated[
        str | None,
        Option(metavar="NAMES", help="Allowed labels, separated by commas; default: all that occur"),
    ] = None
    rows: Annotated[
        int | None, Option(min=1, help="For a dataset: number of rows to take, balanced over the labels")
    ] = None

    def roles(self) -> dict[str, str]:
        """Return the columns that are named, by role."""
        pairs = {text: text.partition("=") for text in self.columns or ()}
        if wrong := [text for text, (role, _, column) in pairs.items() if not (role and column)]:
            raise UsageError("--column cannot be read", found=wrong[0], expected="ROLE=NAME, such as uid=id")
        return {role.strip(): column for role, _, column in pairs.values()}


@verb(
    group,
    "Adopt a table of labels, or a dataset built by ontoground.",
    "ontoground steward adopt original_test_labels.csv.gz sheet.xlsx \\",
    "    --name medcalc --licence open --why 'CC BY-SA 4.0, MedCalc-Bench'",
    "ontoground steward adopt labels.csv --column uid=id --column label=answer",
    "ontoground steward adopt exam.csv --column uid=id --column label=gold \\",
    "    --categories A,B,C,D",
    "ontoground steward adopt work/datasets/medieval --rows 2000",
)
def adopt(options: Adoption) -> Result:
    """Adopt labels: store their rows, and each label as the first event of its history.

    The first table names the rows; later ones (a sheet with recomputed or physicians' labels) add labels to them.
    """
    from stewardship.benchmark.folder import STATUSES

    if (options.tier == "open") != bool(options.why.strip()):
        raise UsageError("open rows need a reason", expected="--licence open --why 'CC BY-SA 4.0, NAME'")
    benchmark, codes = _from_dataset(options) if options.sources[0].is_dir() else _from_tables(options)
    payload = {
        "verb": "steward adopt",
        "workspace": str(options.workspace),
        "benchmark": benchmark.name,
        "folder": str(benchmark.folder),
        "rows": benchmark.items.height,
        "licence_tier": benchmark.licence_tier,
        "categories": list(benchmark.categories),
        "possible_codes": [] if benchmark.categories else codes,
        "doubtful": _doubtful(benchmark),
        "labels": {role: len(benchmark.history.latest(role)) for role in STATUSES},
        "files": (benchmark.record or {})["files"],
    }
    return Result(payload, _blocks)


def _from_dataset(options: Adoption) -> tuple[Benchmark, list[str]]:
    from ground.settings import read_settings
    from stewardship.datasets.adopt import adopt_dataset

    if len(options.sources) > 1 or options.layout or options.columns or options.why or options.categories:
        expected = "no further table, --layout, --column, --categories or --licence"
        raise UsageError("a dataset folder is adopted alone", expected=expected)
    seed = read_settings(options.workspace / "ontoground.toml").steward.seed
    return adopt_dataset(options.workspace, options.sources[0], name=options.name, rows=options.rows, seed=seed), []


def _from_tables(options: Adoption) -> tuple[Benchmark, list[str]]:
    """Adopt tables; returns also the labels that may be codes of categories."""
    from stewardship.benchmark.categories import chosen_categories, possible_codes
    from stewardship.benchmark.folder import Benchmark
    from stewardship.benchmark.tables import read_label_table
    from stewardship.datasets.provenance import require_not_noted

    source, workspace = options.sources[0], options.workspace
    if options.rows is not None:
        raise UsageError("--rows is for dataset folders", found=str(source))
    first = read_label_table(source, layout=options.layout, columns=options.roles())
    tables = [first, *map(read_label_table, options.sources[1:])]
    for label_table in tables if options.why else ():
        require_not_noted(workspace, label_table.frame)
    categories = chosen_categories(tables, options.categories)
    name = options.name or source.name.split(".")[0]
    benchmark = Benchmark.adopt(workspace, name, tables, open_because=options.why, categories=categories)
    return benchmark, list(possible_codes(tables))


def _doubtful(benchmark: Benchmark) -> list[dict[str, str]]:
    """Return the labels that cannot be used as they stand, by row, whose they are, and why; never what they say."""
    from ground.contracts.labels import LabelKind
    from stewardship.benchmark.folder import STATUSES

    by_role = {role: benchmark.history.labels(role) for role in STATUSES}
    doubts = []
    for role, labels in by_role.items():
        for uid, label in labels.items():
            if label.kind is LabelKind.UNPARSEABLE:
                doubts.append({"uid": uid, "role": role, "why": "cannot be read, and counts as no label"})
            elif {label.kind, by_role["original"].get(uid, label).kind} == {LabelKind.NUMBER, LabelKind.DATE}:
                doubts.append({"uid": uid, "role": role, "why": "a date beside an original number, or the reverse"})
    return doubts


def _blocks(payload: dict[str, Any]) -> Blocks:
    yield table(["labels", "rows"], list(payload["labels"].items()))
    if not any(payload["labels"].values()):
        yield unfolded("no label was taken up: `--column label=NAME` names the column that has them")
    for why in dict.fromkeys(doubt["why"] for doubt in payload["doubtful"]):
        rows = [f"{doubt['uid']} ({doubt['role']})" for doubt in payload["doubtful"] if doubt["why"] == why]
        yield f"{why}: {', '.join(rows[:5])}{f' and {len(rows) - 5} more' if len(rows) > 5 else ''}"
    if payload["categories"]:
        yield unfolded(f"labels are names: {', '.join(payload['categories'])}")
    if codes := payload["possible_codes"]:
        yield unfolded(CODES.format(codes=", ".join(codes), given=",".join(codes)))
    yield f"benchmark {payload['benchmark']}: {payload['rows']:,} rows, {payload['licence_tier']}"
    yield unfolded(f"in {relative(Path(payload['folder']))}")
