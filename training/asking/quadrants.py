"""Quadrants from a language model without training: the five-part prompt, one label a statement, read strictly.

MediEval, appendix E: the prompt holds (1) the context, (2) the statement, (3) the definitions of the four quadrants,
(4) the instruction to choose exactly one, (5) the candidate labels. The words are ours: ``data/zeroshot_prompt.txt``.
The context comes first: statements of one admission share the beginning of the prompt, which servers keep.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import Field

from evaluation.datasets import MedievalDataset
from ground import ROOT
from ground.contracts.answers import parse_quadrant
from ground.contracts.splits import SPLIT_COLUMN, SPLITS_IN_WORDS
from ground.lm.results import Message
from ground.lm.settings import LmSettings
from ground.storage.tables import read_table
from training.asking.engine import AskedReport, AskingSettings, Prediction, Question, ask, drawn

__all__ = ["ZeroshotSettings", "predict_zeroshot", "zeroshot_prompt"]

DATA = ROOT / "training" / "data"


class ZeroshotSettings(AskingSettings):
    """Which rows are asked about, and how much of their context is shown."""

    split_column: str = Field(default="split", pattern=SPLIT_COLUMN, description=SPLITS_IN_WORDS)


@cache
def _template() -> str:
    rows = read_table(DATA / "quadrant_definitions.tsv", ("quadrant", "name", "definition", "source"))
    definitions = "\n".join(f"{row['quadrant']} ({row['name']}): {row['definition']}" for row in rows)
    text = (DATA / "zeroshot_prompt.txt").read_text(encoding="utf-8")
    return text.rstrip("\n").replace("{definitions}", definitions)


def zeroshot_prompt(context: str, statement: str) -> tuple[Message, ...]:
    """Return the prompt for one statement."""
    text = _template().format(context=context.strip(), statement=statement)
    return (Message(role="user", content=text),)


def _read(text: str) -> Prediction:
    label = parse_quadrant(text)
    return {"label": label, "outcome": "no_label" if label is None else "parsed"}


QUESTION = Question(
    record="zeroshot",
    method="zero-shot",
    column="context",
    messages=lambda row, _: zeroshot_prompt(row["context"], row["statement"]),
    read=_read,
    kind="quadrants",
)


def predict_zeroshot(
    dataset: MedievalDataset,
    model_settings: LmSettings,
    settings: ZeroshotSettings,
    workspace: Path,
    out: Path,
) -> AskedReport:
    """Ask a language model for the quadrant of every statement of a split; files and errors are those of `ask`."""
    rows = dataset.split_rows(settings.split, settings.split_column).select("id", "hadm_id", "statement").to_dicts()
    contexts = dict(dataset.contexts.iter_rows())
    asked = [{**row, "context": contexts[row["hadm_id"]]} for row in drawn(rows, settings, "zeroshot")]
    return ask(
        QUESTION, asked, model_settings, settings, workspace, out,
        licence_tier=dataset.licence_tier, name=settings.split, about={"dataset": dataset.identity},
    )  # fmt: skip
