"""``ontoground steward sheets|sample``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ground.errors import UsageError
from ontoground.cli.options import Result, verb
from ontoground.cli.steward.options import ConfiguredBenchmark, group

if TYPE_CHECKING:
    from rich.console import Console

    from stewardship.benchmark.folder import Benchmark
    from stewardship.sheets.batch import AnswerKind, BatchKind
    from stewardship.sheets.draws import Pick
    from stewardship.sheets.experts import Experts
    from stewardship.sheets.writing import Written

__all__ = ["DRAWN", "sample", "sheets"]

DRAWN = {
    "sampled": "sampled from the flagged ones",
    "top": "the worst disagreements",
    "any": "sampled from all",
    "balanced": "balanced over labels",
    "open": "those that raters disagree on",
    "audit": "sampled from the audit's flags",
    "published": "reviewed before the benchmark was taken up",
}
"""How rows were drawn, in words."""


@dataclass(frozen=True, kw_only=True)
class OfSheets(ConfiguredBenchmark):
    """Options of the verbs that write sheets."""

    raters: Annotated[
        list[str] | None, typer.Option("--rater", metavar="NAME", help="A rater who may label every row; repeatable")
    ] = None
    experts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Table of the raters' fields: rater, and calculator (or stratum) or category"
        ),
    ] = None
    evidence: Annotated[
        bool, typer.Option("--evidence", help="For a dataset built here: show the evidence for the label; not blind")
    ] = False
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Name of these sheets")] = None
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the sheets; default: the benchmark's folder")
    ] = None


@verb(
    group,
    "Write sheets for experts: blind, by expertise.",
    "ontoground steward sheets --experts experts.csv --rows 50",
    "ontoground steward sheets --rater ann --rater bob --raters-per-row 2",
    "ontoground steward sheets --spot-check --rater ann --rows 7",
    "ontoground steward sheets --adjudicate --rater cleo",
)
def sheets(
    *,
    rows: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rows to draw; default: steward.review_rows")
    ] = None,
    raters_per_row: Annotated[
        int, typer.Option(min=1, metavar="K", help="Experts who label the same row, each on a separate sheet")
    ] = 1,
    pick: Annotated[
        Literal["sampled", "top", "any"],
        typer.Option(help="sampled: of the flagged rows, by hash; top: the worst first; any: of all rows, by hash"),
    ] = "sampled",
    per_stratum: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rows of one calculator (or stratum) at most")
    ] = None,
    spot_check: Annotated[
        bool, typer.Option("--spot-check", help="Rows that the audit flagged, with label and criticism; not blind")
    ] = False,
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="Rows on which raters disagree, for a person who has not seen them")
    ] = False,
    options: OfSheets,
) -> Result:
    """Write a sheet for each expert, as Excel and CSV, with question and context and without any label.

    Rows are drawn from the ranked list of `steward triage`. Rows that are reviewed, or on another sheet, are not drawn
    again. The key stays in the benchmark's folder.
    """
    kind: BatchKind = "spot_check" if spot_check else "adjudication" if adjudicate else "blind"
    return _written(options, kind, rows, raters_per_row, pick, per_stratum)


@verb(
    group,
    "Write sheets of a balanced sample, for review by several.",
    "ontoground steward sample --rows 200 --rater ann --rater bob",
)
def sample(
    *,
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="Rows to draw")] = 200,
    raters_per_row: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="Experts who label the same row; default: all")
    ] = None,
    options: OfSheets,
) -> Result:
    """Draw equally many rows of each label (quadrant), over all strata (relations), and write a sheet for each expert.

    Where labels are numbers and dates, the sample is balanced over strata (calculators). Of rows about one context one
    is drawn. All experts label all rows, each in another order.
    """
    return _written(options, "sample", rows, raters_per_row)


def _written(
    options: OfSheets, kind: BatchKind, rows: int | None, each: int | None, pick: Pick = "any", most: int | None = None
) -> Result:
    """Draw rows, each for so many experts, and write a sheet for each expert; ``most``: rows of one stratum."""
    from stewardship.sheets.batch import read_batches
    from stewardship.sheets.display import answer_kinds, displays_of, spot_check_displays
    from stewardship.sheets.draws import EXPECTED_ROWS, assign, draw_rows
    from stewardship.sheets.writing import free_name, write_batch

    settings, benchmark = options.settings, options.adopted
    experts = _experts(options, benchmark, each or 1)
    draw = draw_rows(benchmark, read_batches(benchmark.folder), settings, kind=kind, pick=pick, rows=rows)
    assigned = assign(
        draw.order,
        benchmark.items,
        experts,
        rows=draw.rows,
        raters_per_row=each or len(experts.knows),
        per_stratum=most,
        barred=draw.barred,
        seed=settings.seed,
    )
    left_out = {reason: count for reason, count in {**draw.left_out, **assigned.passed_over}.items() if count}
    if not assigned.pairs:
        reasons = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in left_out.items())
        raise UsageError("no row is left to draw", found=reasons or "no such row", expected=EXPECTED_ROWS[kind])
    uids, labels = assigned.uids, benchmark.history.labels("original", categories=benchmark.categories)
    if kind == "spot_check":
        expects: dict[str, AnswerKind] = dict.fromkeys(uids, "verdict")
        display = spot_check_displays(benchmark, uids)
    else:
        expects, display = answer_kinds(benchmark, labels), displays_of(benchmark, uids, evidence=options.evidence)
    written = write_batch(
        benchmark,
        assigned.pairs,
        display,
        expects,
        name=options.name or free_name(benchmark.folder, kind),
        kind=kind,
        drawn=draw.drawn,
        blind=kind != "spot_check" and not options.evidence,
        seed=settings.seed,
        out=options.out,
    )
    name = "sample" if kind == "sample" else "sheets"
    return options.result(name, _paint, **_described(benchmark, experts, written, left_out))


def _experts(options: OfSheets, benchmark: Benchmark, needed: int) -> Experts:
    from stewardship.sheets.experts import Experts

    if options.experts is not None and options.raters:
        raise UsageError("--rater and --experts together", expected="one of them: the table names the raters")
    table = options.experts
    result = Experts.everyone(options.raters or ()) if table is None else Experts.read(table, benchmark.items)
    if needed > len(result.knows):
        raise UsageError(
            "fewer raters are named than each row is to have",
            found=f"{len(result.knows)} of {needed}",
            expected="--raters-per-row of at most all raters",
        )
    return result


def _described(benchmark: Benchmark, experts: Experts, written: Written, left_out: dict[str, int]) -> dict[str, Any]:
    batch, history, strata = written.batch, benchmark.history, benchmark.column("stratum")
    given = Counter(item.rater for item in batch.items)
    uids = {item.uid for item in batch.items}
    labels = history.labels("original", categories=benchmark.categories) if benchmark.categories else {}
    return {
        **batch.model_dump(exclude={"items"}),
        "rows": len(uids),
        "strata": len({strata.get(uid) for uid in uids}),
        "by_label": dict(sorted(Counter(labels[uid].text() for uid in uids if uid in labels).items())),
        "raters": {name: given[name] for name in sorted({*experts.knows, *given})},
        "left_out": left_out,
        "too_long": written.too_long,
        "continued": written.continued,
        "sheets": {rater: {"excel": str(two[0]), "csv": str(two[1])} for rater, two in written.sheets.items()},
        "key": str(written.key),
    }


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import relative, table

    files = {rater: Path(two["excel"]) for rater, two in payload["sheets"].items()}
    named = {rater: file.name for rater, file in files.items()}
    rows = [(rater, count, named.get(rater, "none")) for rater, count in payload["raters"].items()]
    out.print(table(("rater", "rows", "sheet (and .csv)"), rows))
    out.print()
    if payload["by_label"]:
        out.print(table(("label", "rows"), list(payload["by_label"].items())))
        out.print()
    blind = "blind: no label is in them" if payload["blind"] else "NOT blind: label or evidence is shown"
    out.print(f"{payload['rows']:,} rows of {payload['strata']:,} strata, {DRAWN[payload['drawn']]}; {blind}")
    for reason, count in payload["left_out"].items():
        out.print(f"left out: {count:,} {reason.replace('_', ' ')}")
    if payload["too_long"]:
        out.print(f"left out: {payload['too_long']:,} with a question that no cell holds")
    if payload["continued"]:
        out.print(f"{payload['continued']:,} contexts are too long for one cell and continue in extra columns")
    out.print(f"sheets in {relative(next(iter(files.values())).parent)}", soft_wrap=True)
    out.print(f"key (keep it from the experts): {relative(Path(payload['key']))}", soft_wrap=True)
