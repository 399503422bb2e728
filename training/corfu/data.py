"""What a CoRFu run reads: each text encoded once, and the pairs of each stage as items of packed rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.quadrants.dataset import MedievalDataset, Split
from ground.errors import InputError
from training.corfu.pairs import REGIMES, Stage, StagePairs, pair_items, stage_pairs
from training.packing.plan import Item, Step
from training.packing.rows import plan_steps
from training.packing.tokens import EncodedTexts, Truncation, encode_contexts, encode_statements
from training.packing.trainer import RunData
from training.runs.settings import CorfuSettings

__all__ = ["CorfuStage", "CorfuTexts", "StageData", "corfu_stages", "encode_texts"]


@dataclass(frozen=True)
class CorfuTexts:
    """The encoded texts of a run, where each is found, and what cutting the contexts cost."""

    contexts: EncodedTexts
    statements: EncodedTexts
    context_of: dict[int, int]
    statement_of: dict[str, int]
    truncation: Truncation


@dataclass(frozen=True)
class StageData:
    """The pairs of a stage as items over encoded texts: those that train, and those that validate."""

    contexts: EncodedTexts
    statements: EncodedTexts
    train: list[Item]
    validation: list[Item]
    pad_id: int

    def run_data(self, items: list[Item]) -> RunData:
        """Return what the trainer reads; all pairs weigh the same."""
        return RunData(self.contexts, self.statements, items, np.ones(len(items)), self.pad_id)

    def plan(self, settings: CorfuSettings) -> list[Step]:
        """Plan the optimizer steps of the stage."""
        return plan_steps(self.run_data(self.train), settings)


@dataclass(frozen=True)
class CorfuStage:
    """One stage: its number from 1, its pairs, and their encoding."""

    number: int
    pairs: StagePairs
    data: StageData

    @property
    def name(self) -> str:
        """The name of its files and of its progress."""
        return f"stage-{self.number}"


def encode_texts(dataset: MedievalDataset, tokenizer: Any, settings: CorfuSettings, max_length: int) -> CorfuTexts:
    """Encode each distinct statement, closed by the end-of-text token, and each context of training and validation.

    A packed row holds a context with both statements of a pair, so that contexts leave room for two of the longest.

    Raises:
        UsageError: ``max_length`` leaves no room for a context.
    """
    texts = dataset.rows["statement"].unique().sort().to_list()
    statements = encode_statements(tokenizer, texts, end=True)
    tested = dataset.in_split("test", settings.split_column)
    used = dataset.rows.filter(~tested).select("hadm_id").unique()
    contexts = dataset.contexts.join(used, on="hadm_id", how="semi")
    room = max_length - 2 * int(statements.lengths.max())
    encoded, truncation = encode_contexts(
        tokenizer, contexts["context"].to_list(), max_tokens=room, chat=settings.packing.chat_template
    )
    return CorfuTexts(
        contexts=encoded,
        statements=statements,
        context_of={hadm_id: index for index, hadm_id in enumerate(contexts["hadm_id"])},
        statement_of={text: index for index, text in enumerate(texts)},
        truncation=truncation,
    )


def corfu_stages(dataset: MedievalDataset, texts: CorfuTexts, pad_id: int, settings: CorfuSettings) -> list[CorfuStage]:
    """Choose the pairs of each stage of the regime; a stage without validation pairs has none.

    Raises:
        InputError: a stage has no pair to train on.
    """

    def items(pairs: StagePairs) -> list[Item]:
        return pair_items(pairs, texts.context_of, texts.statement_of)

    def pairs(split: Split, stage: Stage) -> StagePairs:
        rows = dataset.rows.filter(dataset.in_split(split, settings.split_column))
        return stage_pairs(rows, stage, pairs_per_winner=settings.pairs_per_winner, seed=settings.seed)

    found = []
    for number, stage in enumerate(REGIMES[settings.regime], 1):
        train = pairs("train", stage)
        try:
            validation = items(pairs("validation", stage))
        except InputError:
            validation = []
        data = StageData(texts.contexts, texts.statements, items(train), validation, pad_id)
        found.append(CorfuStage(number, train, data))
    return found
