"""``ontoground steward diff``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ground.errors import InputError, UsageError
from ontoground.cli.options import WRITTEN, Result, verb
from ontoground.cli.steward.options import ConfiguredBenchmark, group

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from stewardship.benchmark.folder import Benchmark

__all__ = ["diff"]


@verb(
    group,
    "Compare two releases, or two roles of labels.",
    "ontoground steward diff                          # the two newest",
    "ontoground steward diff 1.0.0 1.1.0 --csv changes.csv",
    "ontoground steward diff original recomputed",
    "ontoground steward diff 2.0.0 medcalc_v1_corrected.csv.gz",
)
def diff(
    options: ConfiguredBenchmark,
    before: Annotated[
        str | None,
        Argument(
            metavar="FROM",
            help="A release, a role (original, recomputed, physician, final), or a table of labels",
            show_default=False,
        ),
    ] = None,
    after: Annotated[str | None, Argument(metavar="TO", help="Another one", show_default=False)] = None,
    top: Annotated[int, Option(min=1, metavar="N", help="Rows of each table to print")] = 20,
    csv: Annotated[Path | None, Option("--csv", metavar="FILE", help="Write all changes to this file"), WRITTEN] = None,
) -> Result:
    """Describe in words and tables what differs: rows, labels, limits and spelling, by stratum and by reason."""
    from ground.spreadsheet import write_csv
    from ground.storage.files import atomic_path
    from stewardship.versions.diffs import compare

    limit, benchmark = options.settings.flag_rel_err, options.adopted
    names = _names(benchmark, before, after)
    result = compare(*(_side(benchmark, name) for name in names), categories=benchmark.categories, limit=limit)
    if csv is not None:
        with atomic_path(csv) as temporary:
            write_csv(result.frame, temporary)
    return options.result(
        "diff",
        partial(_paint, top=top),
        before={"name": names[0], "rows": result.before},
        after={"name": names[1], "rows": result.after},
        limit=limit,
        grade=result.grade,
        counts=result.counts(),
        words=result.words(),
        by_stratum=result.by_stratum().to_dicts(),
        by_why=result.by_why().to_dicts(),
        changes=result.frame.to_dicts(),
        csv=str(csv) if csv else None,
    )


def _names(benchmark: Benchmark, before: str | None, after: str | None) -> tuple[str, str]:
    """Return what is compared: what was named, else the two newest releases."""
    from stewardship.versions.releases import versions_of

    if before is not None and after is not None:
        return before, after
    if before is not None:
        raise UsageError("one side of the comparison is missing", found=before, expected="two, or none")
    known = [str(version) for version in versions_of(benchmark)]
    if len(known) < 2:
        raise InputError(
            "there are no two releases to compare",
            file=benchmark.folder,
            found=", ".join(known) or "none",
            do="name two of original, recomputed, physician, final, a release, or a table of labels",
        )
    return known[-2], known[-1]


def _side(benchmark: Benchmark, name: str) -> pl.DataFrame:
    """Return the labels that a name stands for: a role, a release, or a table."""
    from stewardship.benchmark.folder import STATUSES
    from stewardship.versions.recipes import role_rows, table_rows
    from stewardship.versions.releases import Release

    if name in STATUSES:
        return role_rows(benchmark, name)
    if name.removeprefix("v").replace(".", "").isdigit():
        return Release.open(benchmark, name).labels
    if (file := Path(name)).is_file():
        return table_rows(file, categories=benchmark.categories)
    raise UsageError(
        "nothing to compare goes by this name",
        found=name,
        expected="original, recomputed, physician, final, a release as 1.0.0, or a table of labels",
    )


def _paint(out: Console, payload: dict[str, Any], *, top: int) -> None:
    from ontoground.cli.render import indented, relative
    from ontoground.cli.steward.shares import part, short

    out.print(f"from {payload['before']['name']} to {payload['after']['name']}", style="bold")
    out.print(*(indented(line, 2) for line in payload["words"]))
    if not payload["changes"]:
        return
    out.print()
    strata, heads = payload["by_stratum"], {"label": "other label", "abstained": "N/A"}
    counts = [name for name in strata[0] if name != "stratum" and any(stratum[name] for stratum in strata)]
    rows = [[short(stratum["stratum"] or "(none)"), *(stratum[name] for name in counts)] for stratum in strata]
    part(out, ["stratum", *(heads.get(name, name) for name in counts)], rows, top=top)
    rows = [[item["rows"], item["change"], item["why"] or "(not said)"] for item in payload["by_why"]]
    part(out, ["rows", "change", "why the new label"], rows, top=top)
    rows = []
    for *_, apart, item in sorted(
        ((*_apart(change), change) for change in payload["changes"]), key=lambda each: each[:2]
    ):
        sides = (short(item[side], 14) for side in ("before", "after"))
        rows.append([item["uid"], short(item["stratum"], 30), *sides, apart])
    part(out, ["uid", "stratum", "before", "after", "apart"], rows, "rows, other labels first", top=top)
    if payload["csv"]:
        out.print(f"all in {relative(Path(payload['csv']))}", soft_wrap=True)


def _apart(item: dict[str, Any]) -> tuple[int, float, str]:
    """Say how far apart two labels are, behind their place.

    First come labels without a distance (N/A), then numbers by distance, dates, and last what is no other label.
    """
    change, distance = item["change"], item["distance"]
    if " to " not in change:
        return (3 if change.startswith("row ") else 4), 0.0, change
    if distance is None:
        return 0, 0.0, ""
    return (2, -distance, f"{distance:.0f} days") if item["unit"] == "days" else (1, -distance, f"{distance:.3f}")
