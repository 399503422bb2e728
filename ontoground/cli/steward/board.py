"""``ontoground steward board``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ontoground.cli.options import Overrides, Result, verb
from ontoground.cli.steward.grade import Graded
from ontoground.cli.steward.options import ConfiguredBenchmark, group

if TYPE_CHECKING:
    from rich.console import Console

    from stewardship.grading.leaderboard import Board

__all__ = ["board"]

SIDES = ("before", "after")


@verb(
    group,
    "Leaderboard of models under two sets of labels, side by side.",
    "ontoground steward board a.csv b.csv --before original --after final",
    "ontoground steward board runs.parquet --before 1.0.0 --after 1.1.0",
)
def board(
    options: Graded,
    before: Annotated[
        str, Option(metavar="LABELS", help="original, recomputed, physician, final, or a release")
    ] = "original",
    after: Annotated[str, Option(metavar="LABELS", help="The labels to compare with them")] = "final",
    out: Annotated[
        Path | None,
        Option("--out", metavar="DIR", help="Folder of table, rows and picture; the benchmark's own board/"),
    ] = None,
    overrides: Overrides = None,
) -> Result:
    """Grade every model under two sets of labels, on the rows that both label: who gains, who loses, which ranks.

    Accuracies have Wilson intervals, differences and ranks bootstrap intervals over rows, and gained against lost rows
    an exact McNemar test.
    """
    from ontoground.cli.runs import require_packages

    settings = ConfiguredBenchmark(workspace=options.workspace, overrides=overrides).settings
    require_packages("statsmodels", "scipy", "matplotlib", extra="steward")
    from stewardship.grading import leaderboard
    from stewardship.grading.grades import label_set

    benchmark, resamples, seed = options.adopted, settings.resamples, settings.seed
    sets = label_set(benchmark, before, options.limits), label_set(benchmark, after, options.limits)
    grader, missing, others = options.grader, options.missing, options.others
    results = leaderboard.board(
        benchmark, *sets, options.answers(), grader, missing=missing, others=others, resamples=resamples, seed=seed
    )
    result = options.result(
        "board",
        _paint,
        **{side: {"labels": item.name, "limits": item.limits} for side, item in zip(SIDES, sets, strict=True)},
        grader=grader,
        missing=missing,
        resamples=resamples,
        seed=seed,
        rows=results.rows,
        left_out=dict(zip(SIDES, results.left_out, strict=True)),
        kendall_tau=results.tau,
        models=[
            {
                "model": entry.model,
                **{side: asdict(part) for side, part in zip(SIDES, entry.shares, strict=True)},
                "rank": {side: asdict(place) for side, place in zip(SIDES, entry.places, strict=True)},
                "climbed": entry.climbed,
                "difference": asdict(entry.difference),
            }
            for entry in results.entries
        ],
    )
    folder = out or benchmark.folder / "board" / f"{before}-{after}"
    result.payload["files"] = _written(folder, results, result.payload)
    return result


def _written(folder: Path, result: Board, payload: dict[str, Any]) -> dict[str, str]:
    """Write rows, tables and picture, and return the files."""
    import polars as pl

    from ground.markdown import harmless, markdown_table
    from ground.spreadsheet import write_csv
    from ground.storage.files import atomic_path, write_text
    from stewardship.grading.picture import draw_board

    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"board.{name}" for name in ("csv", "md", "png")} | {"rows": folder / "rows.csv"}
    flat = [
        {
            "model": model["model"],
            **{f"accuracy_{side}": model[side]["value"] for side in SIDES},
            **{f"{end}_{side}": model[side][end] for side in SIDES for end in ("low", "high")},
            **{f"rank_{side}": model["rank"][side]["rank"] for side in SIDES},
            **{
                ("difference" if name == "value" else f"difference_{name}"): x
                for name, x in model["difference"].items()
            },
        }
        for model in payload["models"]
    ]
    for name, frame in (("csv", pl.DataFrame(flat)), ("rows", result.graded)):
        with atomic_path(files[name]) as temporary:
            write_csv(frame, temporary)
    page = [
        f"# {payload['benchmark']}: {' and '.join(result.labels)} labels",
        "",
        markdown_table(*_table(payload)),
        *(f"- {note}" for note in _notes(payload)),
        "",
        "![Accuracy of each model under both sets of labels](board.png)\n",
    ]
    write_text(files["md"], harmless("\n".join(page)))
    draw_board(result, files["png"])
    return {name: str(file) for name, file in files.items()}


def _table(payload: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of the leaderboard."""
    from ontoground.cli.steward.shares import difference, percent

    columns = ["change", "95% interval", "gained/lost", "p", "rank", "95% of new rank"]
    rows = []
    for model in payload["models"]:
        change, (old, new) = model["difference"], (model["rank"][side] for side in SIDES)
        accuracies = [percent(model[side]["value"]) for side in SIDES]
        p = "<0.0001" if change["p"] < 1e-4 else f"{change['p']:.4f}"
        ranks = [f"{old['rank']} -> {new['rank']}", f"{new['low']}-{new['high']}"]
        rows.append(
            [model["model"], *accuracies, *difference(change), f"{change['gained']}/{change['lost']}", p, *ranks]
        )
    return ["model", *(payload[side]["labels"] for side in SIDES), *columns], rows


def _notes(payload: dict[str, Any]) -> list[str]:
    left, tau = payload["left_out"], payload["kendall_tau"]
    before, after = (payload[side] for side in SIDES)
    return [
        f"{payload['rows']:,} rows of {payload['benchmark']} that both label; left out: {left['before']:,} that only "
        f"{before['labels']} labels, {left['after']:,} that only {after['labels']} does.",
        f"Grader {payload['grader']}; limits {before['limits']} and {after['limits']}.",
        *([] if tau is None else [f"Kendall's tau-b of the two orders: {tau:.3f}."]),
        f"Intervals of change and rank: bootstrap over rows ({payload['resamples']:,}); p: exact McNemar test, one a "
        "model, not corrected for their number.",
    ]


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import relative, table

    columns, rows = _table(payload)
    # All columns side by side do not fit into 80: first those up to the interval of the change.
    for some in (slice(1, 5), slice(5, None)):
        out.print(table([columns[0], *columns[some]], [[row[0], *row[some]] for row in rows]), "")
    out.print(*_notes(payload), sep="\n")
    out.print(f"in {relative(Path(payload['files']['md']).parent)}", soft_wrap=True)
