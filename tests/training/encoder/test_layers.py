from __future__ import annotations

from pathlib import Path

import pytest
import torch

from ground.errors import UsageError
from tests.training.encoder.world import tiny_encoder
from training.encoder.late import LayeredEncoder, pad
from training.encoder.pretrained import load_backbone

ROWS = [[2, 10, 11, 12, 3], [2, 13, 3]]


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_layer_by_layer_is_the_model(kind: str, tmp_path: Path) -> None:
    backbone = load_backbone(str(tiny_encoder(tmp_path, kind)), dropout=0.1).eval()
    encoder = LayeredEncoder(backbone, frozen_layers=1).eval()
    ids, there = pad(ROWS, 0, torch.device("cpu"))
    ours = encoder.upper(encoder.lower(ids, there)[-1], there, start=1)
    whole = backbone(input_ids=ids, attention_mask=there.long()).last_hidden_state
    torch.testing.assert_close(ours[there], whole[there])


def test_frozen_layers_get_no_gradient_and_no_dropout(tiny: Path) -> None:
    encoder = LayeredEncoder(load_backbone(str(tiny), dropout=0.5), frozen_layers=1).train()
    ids, there = pad(ROWS, 0, torch.device("cpu"))
    low = encoder.lower(ids, there)
    assert all(torch.equal(a, b) for a, b in zip(low, encoder.lower(ids, there), strict=True))
    encoder.upper(low[-1], there, start=1).sum().backward()
    trained = {name.split(".")[1] for name, p in encoder.named_parameters() if p.grad is not None}
    assert trained == {"1"}


@pytest.mark.parametrize("kind", ["modernbert", "electra"])
def test_a_model_laid_out_otherwise_is_refused(kind: str, tmp_path: Path) -> None:
    backbone = load_backbone(str(tiny_encoder(tmp_path, kind)), dropout=0.0)
    with pytest.raises(UsageError, match="layer by layer") as error:
        LayeredEncoder(backbone, frozen_layers=1)
    assert error.value.do is not None and "cross" in error.value.do


def test_a_model_without_a_layer_left_is_refused(tiny: Path) -> None:
    with pytest.raises(UsageError, match="no layer would be"):
        LayeredEncoder(load_backbone(str(tiny), dropout=0.0), frozen_layers=2)
