"""The plain engine: a row of one statement is read as transformers' own classifier reads it in a padded batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from tests.training.classifier.test_train import CPU
from tests.training.worlds import small_dataset
from training.classifier.items import quadrant_data
from training.packing.packed_rows import row_values
from training.packing.plan import apart
from training.packing.shared import SharedClassifier
from training.runs.models import load_model, load_tokenizer
from training.runs.settings import LoraSettings


def test_rows_of_one_statement_are_read_as_a_padded_batch_is(tmp_path: Path) -> None:
    world = small_dataset(tmp_path)
    base = tiny_decoder("qwen3", tiny_tokenizer(world.contexts["context"].to_list(), tmp_path / "t"), tmp_path / "m")
    data = quadrant_data(world, world.split_rows("train").head(30), load_tokenizer(base), max_length=4096).data
    model = load_model(base, "quadrants", CPU, lora=LoraSettings(r=0)).eval()
    alone = row_values(SharedClassifier(model), data, apart(range(30), data.items)).flatten(0, 1)
    parts = [(data.contexts[item.context], data.statements[item.statements[0]]) for item in data.items]
    texts = [torch.from_numpy(np.concatenate(part)) for part in parts]
    with torch.no_grad():
        together = model(
            input_ids=pad_sequence(texts, batch_first=True, padding_value=data.pad_id),
            attention_mask=pad_sequence([torch.ones_like(text) for text in texts], batch_first=True),
        ).logits
    assert alone.shape == (30, 4)
    assert torch.allclose(alone, together.double(), atol=1e-5)
    assert not torch.allclose(alone[0], alone[1], atol=1e-4)
