"""``ontoground steward grade``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from ground.errors import UsageError
from ontoground.cli.options import WRITTEN, Result, verb
from ontoground.cli.steward.options import InBenchmark, group

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from stewardship.grading.grades import Answers

__all__ = ["Graded", "grade"]

WRITERS = {".csv": "write_csv", ".parquet": "write_parquet", ".jsonl": "write_ndjson"}


@dataclass(frozen=True, kw_only=True)
class Graded(InBenchmark):
    """Whose answers are graded, and how."""

    files: Annotated[
        list[Path],
        Argument(metavar="FILE...", help="CSV, JSONL, Parquet or Excel: uid, answer and, for several, model"),
    ]
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
        from stewardship.grading.grades import read_answers

        results = [answer for file in self.files for answer in read_answers(file, self.form)]
        names = [item.model for item in results]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(
                "two models have one name",
                found=", ".join(twice),
                do="give the files a column `model`, or different names",
            )
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
    from ontoground.cli.runs import require_packages

    require_packages("statsmodels", extra="steward")
    import polars as pl

    from ground.spreadsheet import write_csv
    from ground.storage.files import atomic_path
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
        rows = pl.concat(rows.select(pl.lit(item.model).alias("model"), pl.all()) for item, rows in graded)
        with atomic_path(out) as temporary:
            if out.suffix == ".csv":
                write_csv(rows, temporary)
            else:
                getattr(rows, WRITERS[out.suffix])(temporary)
    return options.result(
        "grade",
        _paint,
        against=labels.name,
        limits=labels.limits,
        grader=grader,
        missing=missing,
        rows=benchmark.items.height,
        labelled=len(labels.references),
        models=[_model(item, rows) for item, rows in graded],
        out=None if out is None else str(out),
    )


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


def _paint(out: Console, payload: dict[str, Any]) -> None:
    """Show accuracies by model, then by category and output type, and the strata with the lowest ones."""
    from ontoground.cli.render import relative, table
    from ontoground.cli.steward.shares import ends, percent

    columns = ["correct", "of", "share", "95% interval"]

    def cells(item: dict[str, Any]) -> list[Any]:
        return [item["correct"], item["n"], percent(item["value"]), ends(item)]

    for model in payload["models"]:
        rows = [["", "all rows", *cells(model["share"])]]
        for by in ("category", "output_type"):
            rows += [[by.replace("_", " "), item["name"], *cells(item)] for item in model["by"].get(by, [])]
        out.print(table(["by", "rows", *columns], rows, title=model["model"]))
        out.print(_verdicts(model))
        if strata := model["by"].get("stratum"):
            worst = sorted(strata, key=lambda stratum: (stratum["value"], -stratum["n"], stratum["name"]))[:10]
            title = f"lowest of {len(strata)} strata" if len(strata) > len(worst) else "strata"
            out.print(table(["", *columns], [[item["name"][:48], *cells(item)] for item in worst], title=title))
        out.print()
    unlabelled = payload["rows"] - payload["labelled"]
    out.print(
        f"against {payload['against']} labels of {payload['benchmark']} ({payload['labelled']:,} of "
        f"{payload['rows']:,} rows{f', {unlabelled} without one' if unlabelled else ''}), "
        f"limits {payload['limits']}, grader {payload['grader']}"
    )
    if payload["out"]:
        out.print(f"rows: {relative(Path(payload['out']))}", soft_wrap=True)


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
