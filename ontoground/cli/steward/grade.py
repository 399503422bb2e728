"""``ontoground steward grade|board``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from ground.errors import UsageError
from ontoground.cli.options import WRITTEN, Overrides, Result, verb
from ontoground.cli.render import Blocks, relative, table, unfolded
from ontoground.cli.runs import require_packages
from ontoground.cli.steward.options import ConfiguredBenchmark, InBenchmark, group
from ontoground.cli.steward.shares import difference, ends, percent

if TYPE_CHECKING:
    import polars as pl

    from stewardship.grading.grades import Answers
    from stewardship.grading.leaderboard import Board, Entry

__all__ = ["Graded", "board", "grade"]

WRITERS = {".csv": "write_csv", ".parquet": "write_parquet", ".jsonl": "write_ndjson"}


@dataclass(frozen=True, kw_only=True)
class Graded(InBenchmark):
    """Whose answers are graded, and how."""

    files: Annotated[
        list[Path] | None,
        Argument(
            metavar="[FILE...]",
            help="CSV, JSONL, Parquet or Excel: uid, answer and, for several, model; default: all of `steward ask`",
            show_default=False,
        ),
    ] = None
    grader: Annotated[
        Literal["v1", "abstention", "reward", "released"],
        Option(
            help="v1: MedCalc-Bench's own, N/A is wrong; abstention: N/A is an answer; reward: so with 1, 0.1 and 0; "
            "released: rewards as in the authors' code"
        ),
    ] = "abstention"
    limits: Annotated[
        Literal["v1", "corrected"] | None,
        Option(
            help="v1: 5% around decimals, else exact; corrected: 5% around every number; default: the labels' own",
            show_default=False,
        ),
    ] = None
    form: Annotated[
        Literal["tagged", "bare"] | None,
        Option(
            "--answers",
            help="tagged: responses with <answer> tags; bare: answers only; default: bare if no response has a tag",
            show_default=False,
        ),
    ] = None
    missing: Annotated[
        Literal["refuse", "wrong", "leave_out"],
        Option(help="Labelled rows without an answer; on a board they are left out for all models"),
    ] = "refuse"
    others: Annotated[
        Literal["refuse", "ignore"], Option(help="What answers to rows are that the benchmark does not have")
    ] = "refuse"

    def answers(self) -> list[Answers]:
        """Return the answers of every model of every file; two models of one name are refused."""
        from stewardship.grading.grades import check_models, read_answers

        asked = self.adopted.folder / "answers"
        files = self.files or sorted(asked.glob("*.parquet"))
        if not files:
            raise UsageError("no answers are named", file=asked, do="name a file, or ask a model: `steward ask`")
        # What was asked here was asked for tags: without them the first number of any text would be an answer.
        form = self.form or (None if self.files else "tagged")
        results = [answer for file in files for answer in read_answers(file, form)]
        check_models(results)
        return results


@verb(
    group,
    "Grade models' answers against one set of labels.",
    "ontoground steward grade gpt.csv --against original --grader v1",
    "ontoground steward grade runs.jsonl --against 1.1.0 --out rows.csv",
)
def grade(
    options: Graded,
    against: Annotated[
        str, Option(metavar="LABELS", help="original, recomputed, physician, final, or a release as 1.1.0")
    ] = "original",
    out: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="Write each graded row here (.csv, .parquet or .jsonl)"),
        WRITTEN,
    ] = None,
) -> Result:
    """Grade answers, with Wilson intervals, by category, output type and stratum (calculator).

    Rows that the labels leave open (deferred, not reviewed) are not graded. Labels without limits of their own get 5%.
    """
    require_packages("statsmodels", extra="steward")
    from stewardship.grading.grades import grade_rows, label_set

    benchmark, grader, missing = options.adopted, options.grader, options.missing
    if out is not None and out.suffix not in WRITERS:
        raise UsageError("--out does not say what to write", found=str(out), expected=f"a name in {', '.join(WRITERS)}")
    labels = label_set(benchmark, against, options.limits)
    graded = [
        (answer, grade_rows(benchmark, labels, answer, grader, missing=missing, others=options.others))
        for answer in options.answers()
    ]
    if out is not None:
        _write_rows(graded, out)
    return options.result(
        "grade",
        _blocks,
        against=labels.name,
        limits=labels.limits,
        grader=grader,
        missing=missing,
        rows=benchmark.items.height,
        labelled=len(labels.references),
        models=[_model(item, rows) for item, rows in graded],
        out=None if out is None else str(out),
    )


def _write_rows(graded: Iterable[tuple[Answers, pl.DataFrame]], out: Path) -> None:
    import polars as pl

    from ground.spreadsheet import write_csv
    from ground.storage.files import atomic_path

    rows = pl.concat(rows.select(pl.lit(item.model).alias("model"), pl.all()) for item, rows in graded)
    with atomic_path(out) as temporary:
        if out.suffix == ".csv":
            write_csv(rows, temporary)
        else:
            getattr(rows, WRITERS[out.suffix])(temporary)


def _model(answers: Answers, graded: pl.DataFrame) -> dict[str, Any]:
    from stewardship.grading.grades import BY, share, shares

    verdicts = dict(graded["verdict"].value_counts().iter_rows())
    return {
        "model": answers.model,
        "file": str(answers.file),
        "answers": answers.form,
        "unlabelled": len(set(answers.texts) - set(graded["uid"])),
        "share": asdict(share(graded["correct"])),
        "verdicts": {name: verdicts.get(name, 0) for name in ("correct", "wrong", "format_error")},
        "abstained": int(graded["abstained"].sum()),
        "labels_na": int((graded["label"] == "N/A").sum()),
        "mean_reward": graded["reward"].mean(),
        "by": {
            by: [{"name": name, **asdict(item)} for name, item in shares(graded, by).items()]
            for by in BY
            if by in graded.columns
        },
    }


def _blocks(payload: dict[str, Any]) -> Blocks:
    """Show accuracies by model, then by category and output type, and the strata with the lowest ones."""
    columns = ["correct", "of", "share", "95% interval"]

    def cells(item: dict[str, Any]) -> list[Any]:
        return [item["correct"], item["n"], percent(item["value"]), ends(item)]

    for model in payload["models"]:
        rows = [["", "all rows", *cells(model["share"])]]
        for by in ("category", "output_type"):
            rows += [[by.replace("_", " "), item["name"], *cells(item)] for item in model["by"].get(by, [])]
        yield table(["by", "rows", *columns], rows, title=model["model"])
        yield _verdicts(model)
        if strata := model["by"].get("stratum"):
            worst = sorted(strata, key=lambda stratum: (stratum["value"], -stratum["n"], stratum["name"]))[:10]
            title = f"lowest of {len(strata)} strata" if len(strata) > len(worst) else "strata"
            yield table(["", *columns], [[item["name"][:48], *cells(item)] for item in worst], title=title)
    unlabelled = payload["rows"] - payload["labelled"]
    yield (
        f"against {payload['against']} labels of {payload['benchmark']} ({payload['labelled']:,} of "
        f"{payload['rows']:,} rows{f', {unlabelled} without one' if unlabelled else ''}), "
        f"limits {payload['limits']}, grader {payload['grader']}"
    )
    if payload["out"]:
        yield unfolded(f"rows: {relative(Path(payload['out']))}")


def _verdicts(model: dict[str, Any]) -> str:
    unread, reward = model["verdicts"]["format_error"], model["mean_reward"]
    parts = (
        f"{model['verdicts']['wrong']:,} wrong",
        f"{unread:,} without an answer that can be read" if unread else "",
        f"{model['abstained']:,} abstained (N/A is the label of {model['labels_na']:,})",
        "" if reward is None else f"mean reward {reward:.4f}",
        "answers are taken as they stand, without tags" if model["answers"] == "bare" else "",
    )
    return "; ".join(filter(None, parts))


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
    settings = ConfiguredBenchmark(
        workspace=options.workspace, benchmark=options.benchmark, overrides=overrides
    ).settings
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
        _blocks_of_board,
        **{side: {"labels": item.name, "limits": item.limits} for side, item in zip(SIDES, sets, strict=True)},
        grader=grader,
        missing=missing,
        resamples=resamples,
        seed=seed,
        rows=results.rows,
        left_out=dict(zip(SIDES, results.left_out, strict=True)),
        kendall_tau=results.tau,
        models=[_entry(entry) for entry in results.entries],
    )
    folder = out or benchmark.folder / "board" / f"{before}-{after}"
    result.payload["files"] = _write_board(folder, results, result.payload)
    return result


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "model": entry.model,
        **{side: asdict(part) for side, part in zip(SIDES, entry.shares, strict=True)},
        "rank": {side: asdict(place) for side, place in zip(SIDES, entry.places, strict=True)},
        "climbed": entry.climbed,
        "difference": asdict(entry.difference),
    }


def _write_board(folder: Path, board: Board, payload: dict[str, Any]) -> dict[str, str]:
    """Write rows, tables and picture, and return the files."""
    import polars as pl

    from ground.markdown import harmless, markdown_table
    from ground.spreadsheet import write_csv
    from ground.storage.files import atomic_path, write_text
    from stewardship.grading.picture import draw_board

    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"board.{name}" for name in ("csv", "md", "png")} | {"rows": folder / "rows.csv"}
    for name, frame in (("csv", pl.DataFrame(list(map(_flat, payload["models"])))), ("rows", board.graded)):
        with atomic_path(files[name]) as temporary:
            write_csv(frame, temporary)
    page = [
        f"# {payload['benchmark']}: {' and '.join(board.labels)} labels",
        "",
        markdown_table(*_ranking(payload)),
        *(f"- {note}" for note in _notes(payload)),
        "",
        "![Accuracy of each model under both sets of labels](board.png)\n",
    ]
    write_text(files["md"], harmless("\n".join(page)))
    draw_board(board, files["png"])
    return {name: str(file) for name, file in files.items()}


def _flat(model: dict[str, Any]) -> dict[str, Any]:
    """Return a model's part of the payload as a row of a table."""
    difference = {
        "difference" if name == "value" else f"difference_{name}": x for name, x in model["difference"].items()
    }
    return {
        "model": model["model"],
        **{f"accuracy_{side}": model[side]["value"] for side in SIDES},
        **{f"{end}_{side}": model[side][end] for side in SIDES for end in ("low", "high")},
        **{f"rank_{side}": model["rank"][side]["rank"] for side in SIDES},
        **difference,
    }


def _ranking(payload: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of the leaderboard."""
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


def _blocks_of_board(payload: dict[str, Any]) -> Blocks:
    columns, rows = _ranking(payload)
    # All columns side by side do not fit into 80: first those up to the interval of the change.
    for some in (slice(1, 5), slice(5, None)):
        yield table([columns[0], *columns[some]], [[row[0], *row[some]] for row in rows])
    yield from _notes(payload)
    yield unfolded(f"in {relative(Path(payload['files']['md']).parent)}")
