"""Quadrants from a language model without training: the five-part prompt, one label a statement, read strictly.

MediEval, appendix E: the prompt holds (1) the context, (2) the statement, (3) the definitions of the four quadrants,
(4) the instruction to choose exactly one, (5) the candidate labels. The words are ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field

from evaluation.predictions import write_predictions
from evaluation.quadrants.dataset import MedievalDataset, Split
from ground import ROOT
from ground.contracts.rows import QUADRANTS, Quadrant
from ground.lm.client import LanguageModel
from ground.lm.results import Completion, Message, Request, Result
from ground.lm.settings import LmSettings
from ground.lm.structured import without_thinking
from ground.settings import Section
from ground.stable import stable_hash
from ground.storage.files import atomic_path, private_directory, write_text
from ground.storage.tables import read_table
from training.packing.contexts import context_sections, kept_tokens
from training.runs.asking import answers_table, model_name, require_answers, tokenizer_for

__all__ = ["ZeroshotReport", "ZeroshotSettings", "cut_context", "parse_label", "predict_zeroshot", "zeroshot_prompt"]

DEFINITIONS = ROOT / "training" / "data" / "quadrant_definitions.tsv"
LABEL = re.compile(r"\bQ[1-4]\b", re.IGNORECASE)


class ZeroshotSettings(Section):
    """Which rows are asked about, and how much of their context is shown."""

    split: Split = Field(default="test", description="which split is asked about")
    split_column: Literal["split", "fact_split"] = Field(default="split", description="which of the two splits is used")
    rows: int = Field(default=0, ge=0, description="ask about so many rows only, drawn by seed; 0 means all")
    seed: int = Field(default=42, description="seed of that draw")
    max_context_tokens: int = Field(
        default=0, ge=0, description="tokens of a context, cut by section priority as in training; 0 keeps it whole"
    )
    tokenizer: str = Field(
        default="", description="whose tokens those are: a name or folder; unset: the local model's own"
    )


@dataclass(frozen=True)
class ZeroshotReport:
    """How many rows were asked about, and for how many there is no label: unreadable answers, and failures."""

    rows: int
    unparseable: int  # answers that name no label, or more than one
    failed: dict[str, int]  # no answer, by reason
    contexts_cut: int
    language_model: dict[str, Any]

    @property
    def share_unparseable(self) -> float:
        """Share of rows without a label, whatever the cause; they count as wrong."""
        return (self.unparseable + sum(self.failed.values())) / self.rows

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "share_unparseable": self.share_unparseable}


@cache
def _definitions() -> str:
    rows = read_table(DEFINITIONS, ("quadrant", "name", "definition", "source"))
    return "\n".join(f"{row['quadrant']} ({row['name']}): {row['definition']}" for row in rows)


def zeroshot_prompt(context: str, statement: str) -> tuple[Message, ...]:
    """Return the prompt for one statement.

    The context comes first: statements of one admission share the beginning of the prompt, which servers keep.
    """
    parts = (
        f"Patient record:\n<record>\n{context.strip()}\n</record>",
        f"Statement:\n{statement}",
        "A statement belongs to one of four classes. They combine two questions: is it correct by medical knowledge, "
        f"and does this patient's record support it?\n{_definitions()}",
        "Decide which class the statement belongs to. Choose exactly one. Answer with its label alone, and write "
        "nothing else.",
        f"Labels: {', '.join(QUADRANTS)}",
    )
    return (Message(role="user", content="\n\n".join(parts)),)


def parse_label(text: str) -> Quadrant | None:
    """Return the one label that an answer names; None where it names none, or several.

    Reasoning between ``<think>`` marks is not read. ``Q2``, ``**q2**`` and ``Label: Q2 (True, unsupported)`` are Q2;
    "Q2, not Q1" and "true but unsupported" are no label.
    """
    found = {label.upper() for label in LABEL.findall(without_thinking(text))}
    return next((quadrant for quadrant in QUADRANTS if found == {quadrant}), None)


def cut_context(context: str, tokenizer: Any, max_tokens: int) -> str:
    """Return the parts of a context that training would keep under this budget, in their order.

    Args:
        context: the text.
        tokenizer: a fast one; its offsets say where a token begins.
        max_tokens: tokens that may be kept.
    """
    encoded = tokenizer(context, add_special_tokens=False, return_offsets_mapping=True)
    spans = np.array(encoded["offset_mapping"], dtype=np.int64).reshape(-1, 2)
    kept = kept_tokens(spans[:, 0], context_sections(context), max_tokens)
    if kept.all():
        return context
    # Runs of kept tokens: where the mask goes up, and where it goes down again.
    steps = np.diff(np.concatenate([[0], kept.astype(np.int8), [0]]))
    runs = zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True)
    return "\n".join(context[spans[first, 0] : spans[last - 1, 1]].strip("\n") for first, last in runs)


def predict_zeroshot(
    dataset: MedievalDataset,
    model_settings: LmSettings,
    settings: ZeroshotSettings,
    workspace: Path,
    out: Path,
    advance: Callable[[int], None] = lambda _: None,
) -> ZeroshotReport:
    """Ask a language model for the quadrant of every statement of a split.

    Writes to ``out``: ``predictions-{split}.parquet`` by the contract (label null where there is none),
    ``answers-{split}.parquet`` with every raw answer, and ``zeroshot-{split}.json``. A run that was stopped goes on
    from the workspace's cache.

    Raises:
        RefusedError: a credentialed dataset and an endpoint off this machine that the settings do not name.
        UsageError: a settings value that does not work.
        InputError: the split is empty, the model cannot be reached or loaded, or it answers nothing at all.
    """
    rows = _chosen(dataset.split_rows(settings.split, settings.split_column), settings)
    # Opened first: a refusal comes before any work, and before anything is written.
    with LanguageModel(model_settings, workspace, dataset.licence_tier) as model:
        contexts, n_cut = _contexts(dataset, rows, model_settings, settings)
        results = model.complete_all(_requests(rows, contexts), advance)
        totals = model.totals.as_dict()
        asked = model.describe()
    require_answers(results, model_settings)
    report = _report(results, n_cut, totals)
    private_directory(out)
    write_predictions(out / f"predictions-{settings.split}.parquet", _predictions(rows, results, model_settings))
    with atomic_path(out / f"answers-{settings.split}.parquet") as temporary:
        _answers(rows, results).write_parquet(temporary)
    record = {
        "settings": settings.model_dump(),
        "language_model": {
            **asked,
            "endpoint": model_settings.endpoint if model_settings.kind == "endpoint" else None,
            "reason_for_remote": model_settings.allow_remote_reason,
        },
        "dataset": {"name": dataset.folder.name, "manifest_sha256": dataset.manifest_sha256},
        "report": report.as_dict(),
    }
    write_text(out / f"zeroshot-{settings.split}.json", json.dumps(record, indent=2, sort_keys=True) + "\n")
    return report


def _chosen(rows: pl.DataFrame, settings: ZeroshotSettings) -> pl.DataFrame:
    if not 0 < settings.rows < rows.height:
        return rows
    lowest = sorted(rows["id"], key=lambda name: stable_hash(settings.seed, "zeroshot", name))[: settings.rows]
    return rows.filter(pl.col("id").is_in(lowest))


def _contexts(
    dataset: MedievalDataset, rows: pl.DataFrame, model_settings: LmSettings, settings: ZeroshotSettings
) -> tuple[dict[int, str], int]:
    """Return the contexts of the rows' admissions as they are shown, and how many were cut."""
    wanted = dataset.contexts.filter(pl.col("hadm_id").is_in(rows["hadm_id"].unique().implode()))
    whole = dict(zip(wanted["hadm_id"], wanted["context"], strict=True))
    if not settings.max_context_tokens:
        return whole, 0
    tokenizer = tokenizer_for(model_settings, settings.tokenizer)
    shown = {hadm_id: cut_context(text, tokenizer, settings.max_context_tokens) for hadm_id, text in whole.items()}
    return shown, sum(shown[hadm_id] != text for hadm_id, text in whole.items())


def _requests(rows: pl.DataFrame, contexts: Mapping[int, str]) -> Iterator[Request]:
    for hadm_id, statement in rows.select("hadm_id", "statement").iter_rows():
        yield Request(zeroshot_prompt(contexts[hadm_id], statement))


def _label(result: Result) -> Quadrant | None:
    return parse_label(result.text) if isinstance(result, Completion) else None


def _report(results: list[Result], contexts_cut: int, totals: dict[str, Any]) -> ZeroshotReport:
    answered = [result for result in results if isinstance(result, Completion)]
    return ZeroshotReport(
        rows=len(results),
        unparseable=sum(_label(result) is None for result in answered),
        failed=totals["failures"],
        contexts_cut=contexts_cut,
        language_model=totals,
    )


def _predictions(rows: pl.DataFrame, results: list[Result], model_settings: LmSettings) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": rows["id"],
            "label": pl.Series([_label(result) for result in results], dtype=pl.String),
            "model": [f"{model_name(model_settings)} + zero-shot"] * rows.height,
            "seed": [model_settings.seed] * rows.height,
        }
    )


def _answers(rows: pl.DataFrame, results: list[Result]) -> pl.DataFrame:
    labels = pl.Series("label", [_label(result) for result in results], dtype=pl.String)
    return rows.select("id").with_columns(labels).hstack(answers_table(results))
