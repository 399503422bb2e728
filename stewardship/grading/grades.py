"""Models' answers graded against one set of labels of a benchmark: row by row, and as shares with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from ground.contracts.grading import (
    LimitsRule,
    OutputType,
    Reference,
    Verdict,
    answer_in_tags,
    grade_v1,
    grade_value,
    output_type_of,
)
from ground.contracts.rewards import released_reward, reward
from ground.errors import InputError, UsageError
from ground.names import names_found
from ground.storage.foreign import Check, refuse_rows
from stewardship.adjudication.agreement import wilson
from stewardship.adjudication.standing import check_final
from stewardship.benchmark.cells import read_cells
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import ROLES, Role
from stewardship.versions.releases import Release, Version, versions_of

__all__ = [
    "BY",
    "Answers",
    "Form",
    "Grader",
    "LabelSet",
    "Missing",
    "Others",
    "Share",
    "check_models",
    "grade_rows",
    "label_set",
    "read_answers",
    "share",
    "shares",
]

Grader = Literal["v1", "abstention", "reward", "released"]
"""v1: MedCalc-Bench's own; abstention: an abstention is an answer; reward: the same, with rewards; released: rewards as
in the authors' code."""
Form = Literal["tagged", "bare"]
"""Whether an answer is a whole response with its answer in tags, or was taken out already."""
Missing = Literal["refuse", "wrong", "leave_out"]
Others = Literal["refuse", "ignore"]
BY = ("category", "output_type", "stratum")
"""What shares are given by, as far as the benchmark has it."""
LABELLED: tuple[Role, ...] = tuple(role for role in ROLES if role not in ("audit", "reading"))


@dataclass(frozen=True)
class LabelSet:
    """Labels to grade against.

    Attributes:
        name: a role (original, recomputed, physician, final) or a release.
        references: by uid; a row whose label is missing or cannot be read has none.
        limits: the rule of the limits, ``own`` where the labels came with them.
    """

    name: str
    references: Mapping[str, Reference]
    limits: str


@dataclass(frozen=True)
class Answers:
    """One model's answers.

    Attributes:
        texts: by uid; None is an empty cell.
        file: where they are from.
    """

    model: str
    texts: Mapping[str, str | None]
    form: Form
    file: Path


@dataclass(frozen=True)
class Share:
    """So many of n, with the 95% Wilson score interval."""

    correct: int
    n: int
    value: float | None
    low: float | None
    high: float | None


def label_set(benchmark: Benchmark, name: str, limits: LimitsRule | None = None) -> LabelSet:
    """Return the labels of a role or of a release, with limits.

    Limits are those that the original table or the release came with; for other labels, and where ``limits`` names a
    rule, they are computed: ``corrected`` (5% about every number) unless the rule is said.

    Raises:
        InputError: there are no such labels.
        UsageError: neither a role nor a release, v1 limits without output types, or final labels that are older than
            what they rest on.
    """
    if name in LABELLED:
        references, own = _of_role(benchmark, name)
    else:
        references, own = _of_release(benchmark, name), True
    labels = {uid: item for uid, item in references.items() if item.value.answered}
    if not labels:
        raise InputError(
            "there are no such labels yet",
            file=benchmark.folder,
            found=name,
            do="make them first: `ontoground steward --help` shows the order",
        )
    if limits is not None:
        labels = {uid: _with_limits(label, limits) for uid, label in labels.items()}
    # Labels that were computed anew are in days; grader A asks for weeks and days all the same.
    gestation = {uid for uid, value in benchmark.history.labels("original").items() if value.weeks_days}
    for uid in gestation & set(labels):
        item = labels[uid]
        labels[uid] = replace(item, value=replace(item.value, weeks_days=item.value.number is not None))
    return LabelSet(name, labels, limits or ("own" if own else "corrected"))


def _with_limits(reference: Reference, rule: LimitsRule) -> Reference:
    try:
        return Reference.of(reference.value, rule, reference.output_type)
    except ValueError as error:
        raise UsageError(
            "the limits of v1 go by output type, and the benchmark has none", do="grade with --limits corrected"
        ) from error


def _of_role(benchmark: Benchmark, role: Role) -> tuple[dict[str, Reference], bool]:
    """Return a role's labels, and whether the limits are those that they came with."""
    if role == "final":
        check_final(benchmark.history)
    types = benchmark.column("output_type")
    labels = benchmark.history.labels(role)
    results = {uid: Reference.of(label, "corrected", output_type_of(types.get(uid))) for uid, label in labels.items()}
    if role != "original" or not {"lower", "upper"} <= set(benchmark.items.columns):
        return results, False
    ends = zip(*(benchmark.items[name] for name in ("uid", "lower", "upper")), strict=True)
    for uid, *texts in ends:
        low, high = (benchmark.parse(text) for text in texts)
        if uid in results and low.answered and high.answered:
            results[uid] = replace(results[uid], lower=low, upper=high)
    return results, True


def _of_release(benchmark: Benchmark, version: str) -> dict[str, Reference]:
    known = versions_of(benchmark)
    try:
        wanted = Version.parse(version)
    except UsageError:
        wanted = None
    if wanted not in known:
        expected = ", ".join([*LABELLED, *map(str, known)])
        raise UsageError("neither a role of labels nor a release", found=version, expected=expected)
    return Release.open(benchmark, wanted).references()


def read_answers(file: Path, form: Form | None = None) -> list[Answers]:
    """Read a predictions file: columns ``uid`` and ``answer``, and ``model`` where there are several.

    Args:
        file: CSV, Excel, Parquet or JSONL. Without a column ``model`` the model is named after the file.
        form: where left out, answers are bare if not one of a model's has a closed ``<answer>`` tag.

    Raises:
        InputError: it cannot be read, lacks a column, or has a row without key, or twice for one model.
    """
    cells = read_cells(file)
    if lost := {"uid", "answer"} - set(cells.columns):
        raise InputError(
            "columns are missing", file=file, found=names_found(cells.columns), expected=", ".join(sorted(lost))
        )
    if "model" not in cells.columns:
        cells = cells.with_columns(pl.lit(file.name.partition(".")[0]).alias("model"))
    cells = cells.select(pl.col("uid").str.strip_chars(), "answer", "model")
    refuse_rows(
        cells,
        file,
        Check(pl.col("uid").is_null() | pl.col("model").is_null(), "a row has no key or no model", "one answer a row"),
        Check(pl.struct("uid", "model").is_duplicated(), "a model answers a row twice", "one answer a row"),
    )
    answers = []
    for (model,), rows in cells.group_by("model", maintain_order=True):
        texts = dict(zip(rows["uid"], rows["answer"], strict=True))
        answers.append(Answers(str(model), texts, form or _form(texts.values()), file))
    if not answers:
        raise InputError("the predictions file has no row", file=file)
    return answers


def check_models(answers: Iterable[Answers]) -> None:
    """Refuse answers of two models of one name.

    Raises:
        UsageError: there are such.
    """
    if twice := sorted(name for name, count in Counter(item.model for item in answers).items() if count > 1):
        do = "give the files a column `model`, or different names"
        raise UsageError("two models have the same name", found=", ".join(twice), do=do)


def _form(texts: Iterable[str | None]) -> Form:
    return "tagged" if any(answer_in_tags(text) is not None for text in texts if text) else "bare"


def grade_rows(
    benchmark: Benchmark,
    labels: LabelSet,
    answers: Answers,
    grader: Grader,
    *,
    missing: Missing = "refuse",
    others: Others = "refuse",
    only: Iterable[str] | None = None,
) -> pl.DataFrame:
    """Grade one model's answers, row by row, in the order of the benchmark.

    Rows without a label are not graded, and answers to them are not looked at.

    Args:
        grader: v1, abstention, reward or released.
        missing: what a labelled row without an answer is: an error, wrong, or left out.
        others: whether answers to rows that the benchmark lacks are an error.
        only: grade these rows only.

    Returns:
        A frame with uid, category, output_type, stratum (those that the benchmark has), label, lower, upper, answer (as
        it was read), verdict, correct, abstained and reward (null with the graders v1 and abstention).

    Raises:
        InputError: an answer is to a row that the benchmark lacks, or is missing and ``missing`` is ``refuse``.
        UsageError: the grader does not fit the benchmark.
    """
    known = set(benchmark.items["uid"])
    unknown = [uid for uid in answers.texts if uid not in known]
    if unknown and (others == "refuse" or len(unknown) == len(answers.texts)):
        raise InputError(
            "answers to rows that the benchmark does not have",
            file=answers.file,
            found=f"{len(unknown)}: {', '.join(unknown[:5])}",
            expected=f"keys of the benchmark {benchmark.name}",
            do="choose --others ignore to leave them out" if len(unknown) < len(answers.texts) else None,
        )
    chosen = set(labels.references) if only is None else set(labels.references) & set(only)
    wanted = [uid for uid in benchmark.items["uid"] if uid in chosen]
    lost = [uid for uid in wanted if uid not in answers.texts]
    if lost and missing == "refuse":
        raise InputError(
            f"{answers.model} does not answer every row",
            file=answers.file,
            found=f"{len(lost)} of {len(wanted)} rows without an answer, such as {lost[0]}",
            do="choose --missing wrong, or --missing leave_out",
        )
    if missing == "leave_out":
        wanted = [uid for uid in wanted if uid in answers.texts]
    _check(benchmark, labels, wanted, grader)
    rows = [
        {
            "uid": uid,
            **_graded(answers.texts.get(uid), labels.references[uid], grader, answers.form, benchmark.categories),
        }
        for uid in wanted
    ]
    graded = pl.DataFrame(rows, schema=SCHEMA)
    groups = [name for name in BY if name in benchmark.items.columns]
    places = benchmark.items.select("uid", *groups)
    return graded.join(places, on="uid", how="left", maintain_order="left").select("uid", *groups, *list(SCHEMA)[1:])


SCHEMA: dict[str, type[pl.DataType]] = {
    "uid": pl.String,
    "label": pl.String,
    "lower": pl.String,
    "upper": pl.String,
    "answer": pl.String,
    "verdict": pl.String,
    "correct": pl.Boolean,
    "abstained": pl.Boolean,
    "reward": pl.Float64,
}


def _check(benchmark: Benchmark, labels: LabelSet, wanted: Sequence[str], grader: Grader) -> None:
    if benchmark.categories and grader in ("v1", "released"):
        raise UsageError(f"the grader {grader} is for numbers and dates", do="choose --grader abstention")
    if grader == "v1" and any(labels.references[uid].output_type is None for uid in wanted):
        raise UsageError(
            "the grader v1 goes by output type, and rows have none",
            expected=f"a column of output types: {', '.join(get_args(OutputType))}",
            do="choose --grader abstention",
        )


def _graded(
    text: str | None, reference: Reference, grader: Grader, form: Form, categories: Sequence[str]
) -> dict[str, object]:
    """Return what a row's answer is: the same columns with every grader."""
    inside = answer_in_tags(text or "") if form == "tagged" else text
    answer = grade_value(inside, reference, categories=categories)
    verdict: str = answer.verdict
    worth: float | None = None
    if grader == "v1":
        verdict = Verdict.CORRECT if grade_v1(inside, reference) else Verdict.WRONG
    elif grader in ("reward", "released"):
        rule = reward if grader == "reward" else released_reward
        worth = rule(text if form == "tagged" else f"<answer>{text or ''}</answer>", reference, categories=categories)
        verdict = _verdict(worth)
    return {
        "label": reference.value.text(),
        "lower": reference.lower.text(),
        "upper": reference.upper.text(),
        "answer": inside,
        "verdict": str(verdict),
        "correct": verdict == Verdict.CORRECT,
        "abstained": answer.abstained,
        "reward": worth,
    }


def _verdict(worth: float) -> Verdict:
    return {1.0: Verdict.CORRECT, 0.1: Verdict.WRONG}.get(worth, Verdict.FORMAT_ERROR)


def share(correct: Sequence[bool] | pl.Series) -> Share:
    """Return how many are right, with the interval."""
    hits = int(sum(correct))
    result = wilson(hits, len(correct))
    return Share(hits, len(correct), result.value, result.low, result.high)


def shares(graded: pl.DataFrame, by: str) -> dict[str, Share]:
    """Return the share of right answers in each group of a column, by name; rows without one are left out."""
    groups = graded.filter(pl.col(by).is_not_null()).sort(by).group_by(by, maintain_order=True)
    return {str(name): share(rows["correct"]) for (name,), rows in groups}
