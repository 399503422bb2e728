"""What ``ontoground steward grade`` and ``ontoground steward board`` do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import UsageError
from ground.storage.files import atomic_path, write_text
from ontoground.cli.runs import require_packages
from ontoground.cli.steward.shares import difference, ends, percent

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from ground.contracts.grading import LimitsRule
    from ground.settings import StewardSettings
    from stewardship.benchmark.folder import Benchmark
    from stewardship.grading.grades import Answers, Form, Grader, LabelSet, Missing, Others
    from stewardship.grading.leaderboard import Board

__all__ = ["Asked", "board_job", "grade_job", "paint_board", "paint_grades"]

FOLDER = "board"
# Columns of a leaderboard up to the interval of the change.
CHANGE = 5


@dataclass(frozen=True)
class Asked:
    """What both verbs are asked for."""

    workspace: Path
    benchmark: str | None
    files: tuple[Path, ...]
    grader: Grader
    limits: LimitsRule | None
    form: Form | None
    missing: Missing
    others: Others

    def answers(self) -> list[Answers]:
        """Return the answers of every model of every file.

        Raises:
            InputError: a file cannot be read.
            UsageError: two models have one name.
        """
        from stewardship.grading.grades import read_answers

        found = [one for file in self.files for one in read_answers(file, self.form)]
        names = [one.model for one in found]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(
                "two models have one name",
                found=", ".join(twice),
                do="give the files a column model, or names of their own",
            )
        return found


def grade_job(asked: Asked, against: str, out: Path | None) -> dict[str, Any]:
    """Grade every model against one set of labels and return what ``--json`` prints.

    Raises:
        InputError: no such benchmark or labels, or answers that cannot be read or do not fit the rows.
        UsageError: options that do not fit the benchmark or each other.
    """
    require_packages("statsmodels", extra="steward")
    import polars as pl

    from stewardship.benchmark.folder import Benchmark
    from stewardship.grading.grades import grade_rows, label_set

    benchmark = Benchmark.open(asked.workspace, asked.benchmark)
    writer = _writer(out)
    labels = label_set(benchmark, against, asked.limits)
    answers = asked.answers()
    graded = [
        grade_rows(benchmark, labels, one, asked.grader, missing=asked.missing, others=asked.others) for one in answers
    ]
    if out is not None and writer is not None:
        together = [
            rows.select(pl.lit(one.model).alias("model"), pl.all()) for one, rows in zip(answers, graded, strict=True)
        ]
        with atomic_path(out) as temporary:
            writer(pl.concat(together), temporary)
    return {
        "verb": "steward grade",
        "workspace": str(asked.workspace),
        "benchmark": benchmark.name,
        "against": labels.name,
        "limits": labels.limits,
        "grader": asked.grader,
        "missing": asked.missing,
        "rows": benchmark.items.height,
        "labelled": len(labels.references),
        "models": [_model(one, rows) for one, rows in zip(answers, graded, strict=True)],
        "out": None if out is None else str(out),
    }


def _writer(out: Path | None) -> Any:
    import polars as pl

    if out is None:
        return None
    writers = {
        ".csv": pl.DataFrame.write_csv,
        ".parquet": pl.DataFrame.write_parquet,
        ".jsonl": pl.DataFrame.write_ndjson,
    }
    if out.suffix not in writers:
        raise UsageError(
            "--out does not say what to write", found=str(out), expected="a name in .csv, .parquet, .jsonl"
        )
    return writers[out.suffix]


def _model(answers: Answers, graded: pl.DataFrame) -> dict[str, Any]:
    from stewardship.grading.grades import BY, share, shares

    verdicts = dict(graded["verdict"].value_counts(sort=True).iter_rows())
    return {
        "model": answers.model,
        "file": str(answers.file),
        "answers": answers.form,
        "unlabelled": len(answers.texts) - len(set(answers.texts) & set(graded["uid"])),
        "share": asdict(share(graded["correct"])),
        "verdicts": {name: verdicts.get(name, 0) for name in ("correct", "wrong", "format_error")},
        "abstained": int(graded["abstained"].sum()),
        "labels_na": int((graded["label"] == "N/A").sum()),
        "mean_reward": graded["reward"].mean(),
        "by": {
            by: [{"name": name, **asdict(one)} for name, one in shares(graded, by).items()]
            for by in BY
            if by in graded.columns
        },
    }


def paint_grades(screen: Console, payload: dict[str, Any]) -> None:
    """Show accuracies by model, then by category and output type; strata are counted and written with --out."""
    from ontoground.cli.render import relative, table

    for model in payload["models"]:
        groups = [("", {"name": "all rows", **model["share"]})]
        groups += [(by.replace("_", " "), one) for by in ("category", "output_type") for one in model["by"].get(by, [])]
        rows = [[by, one["name"], one["correct"], one["n"], percent(one["value"]), ends(one)] for by, one in groups]
        screen.print(table(["by", "rows", "correct", "of", "share", "95% interval"], rows, title=model["model"]))
        screen.print(_verdicts(model))
        if strata := model["by"].get("stratum"):
            _strata(screen, strata)
        screen.print()
    unlabelled = payload["rows"] - payload["labelled"]
    screen.print(
        f"against {payload['against']} labels of {payload['benchmark']} ({payload['labelled']:,} of "
        f"{payload['rows']:,} rows{', ' + str(unlabelled) + ' without one' if unlabelled else ''}), "
        f"limits {payload['limits']}, grader {payload['grader']}"
    )
    if payload["out"]:
        screen.print(f"rows: {relative(Path(payload['out']))}", soft_wrap=True)


def _verdicts(model: dict[str, Any]) -> str:
    counts = model["verdicts"]
    parts = [f"{counts['wrong']:,} wrong"]
    if counts["format_error"]:
        parts.append(f"{counts['format_error']:,} without an answer that can be read")
    parts.append(f"{model['abstained']:,} abstained (N/A is the label of {model['labels_na']:,})")
    if model["mean_reward"] is not None:
        parts.append(f"mean reward {model['mean_reward']:.4f}")
    if model["answers"] == "bare":
        parts.append("answers are taken as they stand, without tags")
    return "; ".join(parts)


def _strata(screen: Console, strata: Sequence[dict[str, Any]]) -> None:
    """Show the strata with the lowest shares."""
    from ontoground.cli.render import table

    worst = sorted(strata, key=lambda one: (one["value"], -one["n"], one["name"]))[:10]
    rows = [[one["name"][:48], one["correct"], one["n"], percent(one["value"]), ends(one)] for one in worst]
    title = f"lowest of {len(strata)} strata" if len(strata) > len(worst) else "strata"
    screen.print(table(["", "correct", "of", "share", "95% interval"], rows, title=title))


def board_job(settings: StewardSettings, asked: Asked, before: str, after: str, out: Path | None) -> dict[str, Any]:
    """Compare every model under two sets of labels, write the folder, and return what ``--json`` prints.

    Raises:
        InputError: no such benchmark or labels, or answers that cannot be read or do not fit the rows.
        UsageError: options that do not fit the benchmark or each other.
    """
    require_packages("statsmodels", "scipy", "matplotlib", extra="steward")
    from stewardship.benchmark.folder import Benchmark
    from stewardship.grading.grades import label_set
    from stewardship.grading.leaderboard import board

    benchmark = Benchmark.open(asked.workspace, asked.benchmark)
    sets = label_set(benchmark, before, asked.limits), label_set(benchmark, after, asked.limits)
    answers = asked.answers()
    found = board(
        benchmark,
        *sets,
        answers,
        asked.grader,
        missing=asked.missing,
        others=asked.others,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    folder = out or benchmark.folder / FOLDER / f"{before}-{after}"
    payload = _board_payload(asked, benchmark, sets, found, settings)
    payload["files"] = _write(folder, found, payload)
    return payload


def _board_payload(
    asked: Asked, benchmark: Benchmark, sets: Sequence[LabelSet], found: Board, settings: StewardSettings
) -> dict[str, Any]:
    sides = ("before", "after")
    return {
        "verb": "steward board",
        "workspace": str(asked.workspace),
        "benchmark": benchmark.name,
        **{side: {"labels": one.name, "limits": one.limits} for side, one in zip(sides, sets, strict=True)},
        "grader": asked.grader,
        "missing": asked.missing,
        "resamples": settings.resamples,
        "seed": settings.seed,
        "rows": found.rows,
        "left_out": dict(zip(sides, found.left_out, strict=True)),
        "kendall_tau": found.tau,
        "models": [
            {
                "model": one.model,
                **{side: asdict(part) for side, part in zip(sides, one.shares, strict=True)},
                "rank": {side: asdict(place) for side, place in zip(sides, one.places, strict=True)},
                "climbed": one.climbed,
                "difference": asdict(one.difference),
            }
            for one in found.entries
        ],
    }


def _write(folder: Path, found: Board, payload: dict[str, Any]) -> dict[str, str]:
    import polars as pl

    from stewardship.grading.picture import draw_board

    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"board.{name}" for name in ("csv", "md", "png")} | {"rows": folder / "rows.csv"}
    flat = [
        {
            "model": one["model"],
            **{f"accuracy_{side}": one[side]["value"] for side in ("before", "after")},
            **{f"{end}_{side}": one[side][end] for side in ("before", "after") for end in ("low", "high")},
            **{f"rank_{side}": one["rank"][side]["rank"] for side in ("before", "after")},
            **{("difference" if name == "value" else f"difference_{name}"): x for name, x in one["difference"].items()},
        }
        for one in payload["models"]
    ]
    for name, frame in (("csv", pl.DataFrame(flat)), ("rows", found.graded)):
        with atomic_path(files[name]) as temporary:
            frame.write_csv(temporary)
    write_text(files["md"], _markdown(payload))
    draw_board(found, files["png"])
    return {name: str(file) for name, file in files.items()}


def _cells(one: dict[str, Any]) -> list[str]:
    change = one["difference"]
    ranks = one["rank"]["before"], one["rank"]["after"]
    return [
        one["model"],
        *(percent(one[side]["value"]) for side in ("before", "after")),
        *difference(change),
        f"{change['gained']}/{change['lost']}",
        "<0.0001" if change["p"] < 1e-4 else f"{change['p']:.4f}",
        f"{ranks[0]['rank']} -> {ranks[1]['rank']}",
        f"{ranks[1]['low']}-{ranks[1]['high']}",
    ]


def _heads(payload: dict[str, Any]) -> list[str]:
    names = payload["before"]["labels"], payload["after"]["labels"]
    return [
        "model",
        *names,
        "change",
        "95% interval",
        "gained/lost",
        "p",
        "rank",
        "95% of new rank",
    ]


def _notes(payload: dict[str, Any]) -> list[str]:
    left = payload["left_out"]
    names = payload["before"]["labels"], payload["after"]["labels"]
    tau = payload["kendall_tau"]
    return [
        f"{payload['rows']:,} rows of {payload['benchmark']} that both label; left out: {left['before']:,} that only "
        f"{names[0]} labels, {left['after']:,} that only {names[1]} does.",
        f"Grader {payload['grader']}; limits {payload['before']['limits']} and {payload['after']['limits']}.",
        *([] if tau is None else [f"Kendall's tau-b of the two orders: {tau:.3f}."]),
        f"Intervals of change and rank: bootstrap over rows ({payload['resamples']:,}); p: exact McNemar test, one a "
        "model, not corrected for their number.",
    ]


def _markdown(payload: dict[str, Any]) -> str:
    from ground.markdown import markdown_table

    lines = [
        f"# {payload['benchmark']}: {payload['before']['labels']} and {payload['after']['labels']} labels",
        "",
        markdown_table(_heads(payload), [_cells(one) for one in payload["models"]]),
        *(f"- {note}" for note in _notes(payload)),
        "",
        "![Accuracy of each model under both sets of labels](board.png)",
    ]
    return "\n".join(lines) + "\n"


def paint_board(screen: Console, payload: dict[str, Any]) -> None:
    """Show the leaderboard, what it rests on, and where it was written."""
    from ontoground.cli.render import relative, table

    heads, rows = _heads(payload), [_cells(one) for one in payload["models"]]
    # All columns side by side do not fit into 80.
    screen.print(table(heads[:CHANGE], [row[:CHANGE] for row in rows]))
    screen.print()
    screen.print(table([heads[0], *heads[CHANGE:]], [[row[0], *row[CHANGE:]] for row in rows]))
    screen.print()
    for note in _notes(payload):
        screen.print(note)
    screen.print(f"in {relative(Path(payload['files']['md']).parent)}", soft_wrap=True)
