"""The count of shared tokens agrees with counting rows by hand."""

from __future__ import annotations

from pathlib import Path

from benchmarks.sharing import measured
from evaluation.datasets import MedievalDataset
from tests.ontoground.cli.medieval_folder import medieval_folder, medieval_model
from training.packing.tokens import encode_contexts, encode_statements
from training.runs.models import load_tokenizer


def test_tokens_apart_are_those_of_every_statement_behind_its_own_context(tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    medieval_folder(folder)
    model = medieval_model(tmp_path / "model")
    table = {str(row[0]): row for row in measured(folder, str(model))}
    dataset, tokenizer = MedievalDataset.open(folder), load_tokenizer(model)
    rows = dataset.split_rows("train").join(dataset.contexts, on="hadm_id")
    contexts, _ = encode_contexts(tokenizer, rows["context"].to_list(), max_tokens=4000)
    statements = encode_statements(tokenizer, rows["statement"].to_list(), end=False)
    apart = int(contexts.lengths.sum() + statements.lengths.sum())
    once = rows["hadm_id"].n_unique()
    shared = sum(int(contexts.lengths[i]) for i in _first(rows["hadm_id"].to_list())) + int(statements.lengths.sum())
    _, items, tokens_shared, tokens_apart, ratio = table["prediction"]
    assert (items, tokens_apart) == (rows.height, apart)
    assert tokens_shared == shared
    assert ratio == round(apart / shared, 1)
    assert once < rows.height


def _first(values: list[int]) -> list[int]:
    """Return where each value stands first."""
    return sorted({value: at for at, value in reversed(list(enumerate(values)))}.values())
