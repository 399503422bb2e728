"""A policy's responses to the rows of evaluation, and their grades against several sets of labels (paper, appendix E).

One response is sampled for each row, as in training, and graded against every set that labels the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import polars as pl
import torch
from scipy.stats import t

from ground.contracts.grading import grade_abstention
from ground.lm.sampling import answers
from ground.pictures import COLOURS, new_figure, save, tidy
from ground.progress import progress
from training.grpo.prompts import Row, encode, messages
from training.runs.models import evaluating
from training.runs.settings import GrpoSettings

__all__ = ["accuracies", "curves", "draw_curves", "grade_sets", "respond"]

LAST = 10
"""Evaluations at the end of training whose mean stands for an arm (paper, section 3.4)."""


def respond(
    model: Any, tokenizer: Any, prompts: Mapping[str, str], settings: GrpoSettings, categories: Sequence[str] = ()
) -> dict[str, str | None]:
    """Return one sampled response for each prompt, by uid; None for a prompt that is too long.

    The state of the random generators is put back: an evaluation between two steps changes nothing in training.
    """
    conversations = [messages(tokenizer, prompt, categories) for prompt in prompts.values()]
    encoded, uids = encode(tokenizer, conversations, thinking=settings.thinking), list(prompts)
    responses: dict[str, str | None] = {}
    limits = (settings.max_prompt_tokens, settings.max_new_tokens, settings.generation_batch_size)
    how: dict[str, Any] = {"batching": settings.batching, "temperature": settings.temperature}
    device = next(model.parameters()).device
    with (
        evaluating(model),
        torch.random.fork_rng(devices=[device] if device.type == "cuda" else []),
        progress("responses to the rows of evaluation", len(prompts)) as advance,
    ):
        torch.manual_seed(settings.seed)
        for response in answers(model, tokenizer, encoded, *limits, **how, top_p=settings.top_p, top_k=0):
            responses[uids[response.prompt]] = response.text
            advance(1)
    return responses


def grade_sets(
    responses: Mapping[str, str | None], sets: Mapping[str, Sequence[Row]], categories: Sequence[str] = ()
) -> pl.DataFrame:
    """Grade responses against every set of labels (grader B).

    Returns:
        A frame with set, uid, label, response, answer, verdict, correct and abstained; a prompt that was too long is a
        format error, and its response is null.
    """
    columns = ("set", "uid", "label", "response", "answer", "verdict", "correct", "abstained")
    rows = []
    for name, labelled in sets.items():
        for row in labelled:
            text = responses[row.uid]
            graded = grade_abstention(text, row.reference, categories=categories)
            grade = (graded.answer.text(), str(graded.verdict), graded.correct, graded.abstained)
            rows.append((name, row.uid, row.reference.value.text(), text, *grade))
    kinds = [pl.Boolean if name in ("correct", "abstained") else pl.String for name in columns]
    return pl.DataFrame(rows, schema=dict(zip(columns, kinds, strict=True)), orient="row")


def accuracies(graded: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return rows, right answers, format errors and abstentions of each set."""
    counted = graded.group_by("set", maintain_order=True).agg(
        pl.len().alias("rows"),
        pl.col("correct").sum(),
        (pl.col("verdict") == "format_error").sum().alias("format_errors"),
        pl.col("abstained").sum(),
    )
    return {row.pop("set"): row for row in counted.to_dicts()}


def curves(evaluations: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return by set and arm ``steps``, ``accuracy`` and the mean of the ``last`` ten with its interval over these.

    The interval (Student's t) is of the mean over evaluations: it knows neither rows nor seeds of training.

    Args:
        evaluations: of each arm, records with ``step`` and ``sets``, as `accuracies` gives them.
    """
    sets: dict[str, dict[str, Any]] = {}
    for arm, records in evaluations.items():
        for name in records[0]["sets"] if records else ():
            shares = [record["sets"][name]["correct"] / record["sets"][name]["rows"] for record in records]
            steps = [int(record["step"]) for record in records]
            sets.setdefault(name, {})[arm] = {"steps": steps, "accuracy": shares, "last": _mean(shares[-LAST:])}
    return sets


def _mean(shares: Sequence[float]) -> dict[str, Any]:
    mean, n = fmean(shares), len(shares)
    half = float(t.ppf(0.975, n - 1)) * stdev(shares) / n**0.5 if n > 1 else None
    ends = (None, None) if half is None else (max(0.0, mean - half), min(1.0, mean + half))
    return {"n": n, "value": mean, "low": ends[0], "high": ends[1]}


def draw_curves(sets: Mapping[str, Mapping[str, Any]], file: Path) -> None:
    """Draw accuracy over steps, a panel for each set of labels (paper, figures 5 and 9)."""
    figure = new_figure(4.4 * len(sets), 3.8)
    for axes, (name, arms) in zip(figure.subplots(1, len(sets), squeeze=False)[0], sets.items(), strict=True):
        for colour, (arm, one) in zip(COLOURS, arms.items(), strict=False):
            axes.plot(one["steps"], [100 * share for share in one["accuracy"]], color=colour, marker=".", label=arm)
            last = one["steps"][-LAST:]
            axes.plot(
                last,
                [100 * one["last"]["value"]] * len(last),
                color=colour,
                linewidth=4,
                alpha=0.3,
                label=f"its last {len(last)}",
            )
        axes.set(title=f"{name} labels", xlabel="optimizer step", ylabel="right answers (%)")
        axes.locator_params(axis="x", integer=True)
        tidy(axes)
    handles = figure.axes[0].get_legend_handles_labels()
    # A column for each arm: its curve above its mean.
    figure.legend(*handles, loc="outside lower center", ncols=(len(handles[0]) + 1) // 2, frameon=False, fontsize=9)
    save(figure, file)
