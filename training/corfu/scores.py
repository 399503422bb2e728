"""From a policy to quadrants by scoring: which of four label continuations of a statement is the most probable?

MediEval does not say how a CoRFu policy, trained on pairs of statements without any label, is made to name
quadrants; this is one of two ways (the other is a classifier's head on top of the policy, ``fit-head``). The words of
the labels are ours: ``data/quadrant_labels.tsv``. Behind one copy of a context each statement stands four times, once
with each label; log-probabilities of a segment hold the statement's own, which is the same in all four and drops out of
the softmax. Labels differ in length and in what a model thinks of them before any statement, so that all statements
may get the same one: scores are divided by each label's probability behind the same context with no statement
(contextual calibration, Zhao et al. 2021, with an empty input).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluation.datasets import MedievalDataset
from ground import ROOT
from ground.contracts.rows import QUADRANTS
from ground.contracts.splits import Split
from ground.progress import progress
from ground.storage.tables import read_table
from training.classifier.items import predicted
from training.packing.attention import attention_of
from training.packing.collate import RunData
from training.packing.decoders import check_decoder, check_sharing
from training.packing.packed_rows import encode_admissions, item_values
from training.packing.plan import Item
from training.packing.shared import SharedPolicy
from training.packing.tokens import EncodedTexts, Truncation, encode_statements, special_token
from training.runs.models import load_config, load_model, load_tokenizer, name_of, quiet, usable_length
from training.runs.settings import CorfuSettings

__all__ = ["label_continuations", "score_quadrants", "scored_data"]

LABELS = ROOT / "training" / "data" / "quadrant_labels.tsv"
BEFORE_LABEL = "\nAnswer:"


def label_continuations(tokenizer: Any) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Return the token ids of the four labels, Q1 to Q4, with the words before them and the end-of-text token."""
    text_of = {row["quadrant"]: row["label"] for row in read_table(LABELS, ("quadrant", "label", "source"))}
    end = special_token(tokenizer, "eos")
    texts = [f"{BEFORE_LABEL} {text_of[quadrant]}" for quadrant in QUADRANTS]
    encoded = tokenizer(texts, add_special_tokens=False, return_attention_mask=False)["input_ids"]
    return [np.asarray([*ids, *end], dtype=np.int64) for ids in encoded]


def scored_data(
    dataset: MedievalDataset, rows: pl.DataFrame, tokenizer: Any, max_length: int, *, chat: bool = False
) -> tuple[RunData, Truncation]:
    """Encode rows as items of eight statements: the row's statement with each label, and each label alone.

    Contexts are cut so that the longest statement of the dataset fits behind them with the longest label; what that
    cost comes second.
    """
    texts = dataset.rows["statement"].unique().sort().to_list()
    index_of = {text: index for index, text in enumerate(texts)}
    unlabelled, labels = encode_statements(tokenizer, texts, end=False), label_continuations(tokenizer)
    with_label = [np.concatenate([unlabelled[at], label]) for at in range(len(texts)) for label in labels]
    segments = EncodedTexts.of([*with_label, *labels])
    room = max_length - int(segments.lengths.max())
    contexts, context_of, truncation = encode_admissions(dataset, rows, tokenizer, max_tokens=room, chat=chat)
    n, alone = len(labels), tuple(range(len(with_label), len(segments)))
    items = [
        Item(name, context_of[hadm_id], (*range(n * index_of[statement], n * index_of[statement] + n), *alone))
        for name, hadm_id, statement in rows.select("id", "hadm_id", "statement").iter_rows()
    ]
    return RunData.alike(contexts, segments, items, tokenizer.pad_token_id), truncation


def score_quadrants(
    model: str | Path,
    dataset: MedievalDataset,
    split: Split,
    settings: CorfuSettings,
    *,
    name: str | None = None,
    on_truncation: Callable[[Truncation], object] = lambda _: None,
) -> pl.DataFrame:
    """Predict the quadrants of a split with a policy: a CoRFu run folder, or any causal model.

    Args:
        model: run folder, local path or hub name.
        dataset: what is predicted; ``split``, ``name``, ``told`` and the result are those of `predict_classifier`.
        settings: packing, hardware, the split's column and the seed that the predictions carry: those of the run.

    Raises:
        InputError: the model cannot be loaded, or the split is empty.
        UsageError: the model cannot share contexts.
    """
    rows = dataset.split_rows(split, settings.split_column)
    config = load_config(model)
    check_decoder(config)
    length = usable_length(config, settings.packing.max_length)
    with quiet():
        tokenizer = load_tokenizer(model)
        data, truncation = scored_data(dataset, rows, tokenizer, length, chat=settings.packing.chat_template)
        on_truncation(truncation)
        attention = attention_of(settings.hardware)
        policy = load_model(model, "causal", settings.hardware, seed=settings.seed, attention=attention).eval()
        check_sharing(policy)
        # Eight segments of an item behind a context that was cut for one: what held a run's pairs may not hold them.
        segments, items = data.statements.lengths, data.items
        contexts = data.contexts.lengths
        largest = max(int(contexts[item.context] + segments[list(item.statements)].sum()) for item in items)
        with progress("scoring", len(items)) as advance:
            budget = max(settings.packing.tokens_per_row, largest)
            log_probabilities = item_values(SharedPolicy(policy), data, budget, advance=advance)
    with_label, alone = log_probabilities.split(len(QUADRANTS), dim=1)
    scores = (with_label - alone).log_softmax(-1).exp()
    return predicted(rows["id"].to_list(), scores, name or name_of(model), settings.seed)
