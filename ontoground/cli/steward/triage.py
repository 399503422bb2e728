"""``ontoground steward triage``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ground.errors import InputError
from ontoground.cli.options import Result, verb
from ontoground.cli.steward.options import ConfiguredBenchmark, group

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["triage"]

COLUMNS = ("rank", "uid", "stratum", "original", "new", "apart")
TITLES = {
    "abstained": "abstained: one of both labels says that there is no answer",
    "numbers": "largest relative errors",
    "names": "labels of two names",
    "dates": "dates most days apart",
}
STRATUM = 36
"""Characters of a stratum that a table of 80 columns has room for."""
SUMMARY = """\
compared   {n:,} of {of:,} rows ({high_confidence_rate}); {deferred:,} without a high-confidence label
differ     {differ:,} of {n:,} ({differ_rate})
abstained  {abstained:,} of {n:,} ({abstained_rate})
flagged    {flagged:,} of {of:,} ({flagged_rate}), in {strata_flagged:,} of {strata:,} strata"""


@verb(
    group,
    "Rank the rows whose recomputed label differs from the original.",
    "ontoground steward triage --benchmark medcalc",
    "ontoground steward triage --top 50 --set steward.flag_rel_err=0.1",
)
def triage(
    *,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Rows of each part of the list to print")] = 10,
    options: ConfiguredBenchmark,
) -> Result:
    """Compare recomputed labels with the original ones and rank the rows, worst first.

    Abstentions come first, then numbers by relative error; dates make a list of their own, by days. A row is flagged
    above steward.flag_rel_err. The whole list is written to triage.parquet and triage.csv in the benchmark's folder.
    """
    import polars as pl

    from ground.spreadsheet import write_csv
    from ground.storage.files import atomic_path
    from stewardship.adjudication import triage as ranking
    from stewardship.adjudication.discrepancy import Flag
    from stewardship.adjudication.standing import standing

    settings, benchmark = options.settings, options.adopted
    labels = standing(benchmark)
    for role, result, remedy in (
        ("original", labels.original, "adopt a table with the labels as they were published"),
        ("recomputed", labels.recomputed, "run `ontoground steward recompute`, or adopt a sheet that has them"),
    ):
        if not result:
            raise InputError(
                f"the benchmark has no {role} labels", file=benchmark.folder, found=benchmark.name, do=remedy
            )
    ranked = ranking.triage(
        labels.original, labels.recomputed, strata=labels.strata, types=labels.types, limit=settings.flag_rel_err
    )
    files = {kind: benchmark.folder / f"triage.{kind}" for kind in ("parquet", "csv")}
    for kind, write in (("parquet", ranked.write_parquet), ("csv", functools.partial(write_csv, ranked))):
        with atomic_path(files[kind]) as temporary:
            write(temporary)
    abstained = pl.col("flag") == Flag.ABSTAINED.value
    parts = {
        "abstained": ranked.filter(abstained),
        "numbers": ranked.filter(~abstained, list="main"),
        "dates": ranked.filter(~abstained, list="dates"),
    }
    payload: dict[str, Any] = {
        "flag_rel_err": settings.flag_rel_err,
        "summary": ranking.summarise(ranked, labels.attempted).as_dict(),
        "top": {part: rows.head(top).to_dicts() for part, rows in parts.items()},
        "files": {kind: str(file) for kind, file in files.items()},
    }
    return options.result("triage", _paint, **payload)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import relative, table
    from ontoground.cli.steward.shares import percent

    for part, head in payload["top"].items():
        # Names that are the same have no distance that a list could begin with.
        rows = [row for row in head if row["unit"] != "name" or row["flag"] != "unflagged"]
        if rows:
            title = TITLES["names" if rows[0]["unit"] == "name" else part]
            out.print(table(COLUMNS, list(map(_cells, rows)), title=title))
            out.print()
    summary = payload["summary"]
    types = [(name, *counts.values()) for name, counts in summary["by_type"].items()]
    out.print(table(("output", "rows", "differ", "abstained"), types))
    answers = {name: percent(value) if name.endswith("_rate") else value for name, value in summary.items()}
    out.print("\n" + SUMMARY.format_map(answers), soft_wrap=True)
    out.print(f"list in {relative(Path(payload['files']['csv']))}", soft_wrap=True)


def _cells(row: Mapping[str, Any]) -> tuple[Any, ...]:
    stratum, apart = row["stratum"], row["distance"]
    if stratum is not None and len(stratum) > STRATUM:
        stratum = stratum[: STRATUM - 1] + "…"
    if row["unit"] == "name":
        apart = None
    elif apart is not None:
        apart = f"{apart:.0f} d" if row["unit"] == "days" else round(apart, 3)
    return row["rank"], row["uid"], stratum, row["original"], row["recomputed"], apart
