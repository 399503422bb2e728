"""A trained encoder classifier: made from pretrained weights, saved to a run folder, loaded from one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ground.errors import InputError, UsageError
from ground.lm.local import reading_weights
from ground.settings import parse_settings
from training.encoder.cross import CrossModel
from training.encoder.late import FrozenReader, LateModel, LayeredEncoder
from training.encoder.parts import Map, PartDropout, sharing
from training.encoder.pretrained import load_backbone, load_encoder_tokenizer, resolve_model
from training.encoder.quadrant_head import QuadrantLogits
from training.encoder.windows import EncodedRows
from training.runs.folder import read_run
from training.runs.models import device_of, name_of, quiet
from training.runs.settings import EncoderSettings

__all__ = ["HEAD", "EncoderClassifier", "Judge", "load_encoder", "new_encoder"]

HEAD = "quadrant_head.safetensors"

Judge = Callable[[Sequence[int]], QuadrantLogits]
"""From indices of rows to what the model says of them."""


@dataclass
class EncoderClassifier:
    """A quadrant classifier on an encoder.

    Attributes:
        module: the whole network, of which transformers saves and loads the part ``transformer``.
        name: of the base model, or of the run.
    """

    module: LateModel | CrossModel
    transformer: Any
    tokenizer: Any
    settings: EncoderSettings
    device: torch.device
    name: str

    def judge(self, rows: EncodedRows) -> Judge:
        """Return what judges rows of these texts; it keeps what it has read of them."""
        if isinstance(self.module, CrossModel):
            cross = self.module
            return lambda indices: cross(rows, indices)
        late = self.module
        reader = FrozenReader(late, rows, self.tokenizer.pad_token_id, self.device, self.settings.cache_gib)
        return lambda indices: late(*reader.batch(indices))

    def sharing(self, rows: int) -> AbstractContextManager[Map]:
        """Return what works on the parts of so many rows; the cross engine's dropout is its model's own affair."""
        parts = math.ceil(rows / self.settings.statements_per_forward)
        return sharing(self.device, parts) if isinstance(self.module, LateModel) else nullcontext(map)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return what is trained, with the learning rate of each part; biases and norms do not decay."""
        pretrained = {id(p) for p in self.transformer.base_model.parameters()}
        groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
        for parameter in self.module.parameters():
            if parameter.requires_grad:
                groups.setdefault((id(parameter) not in pretrained, parameter.ndim > 1), []).append(parameter)
        chosen = self.settings
        return [
            {
                "params": parameters,
                "lr": chosen.head_learning_rate if is_new else chosen.learning_rate,
                "weight_decay": chosen.weight_decay if decays else 0.0,
            }
            for (is_new, decays), parameters in groups.items()
        ]

    def save(self, folder: Path) -> None:
        """Write weights and tokenizer. The transformer's files load in transformers without this package."""
        from safetensors.torch import save_file

        with quiet():
            self.transformer.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        if isinstance(self.module, LateModel):
            weights = {name: tensor.contiguous().cpu() for name, tensor in self.module.state_dict().items()}
            head = {name: weights[name] for name in weights if not name.startswith("encoder.")}
            save_file(head, folder / HEAD)


def _assemble(source: str, settings: EncoderSettings, name: str) -> EncoderClassifier:
    device = torch.device(device_of(settings.hardware))
    tokenizer = load_encoder_tokenizer(source)
    module: LateModel | CrossModel
    if settings.engine == "late":
        transformer = load_backbone(source, settings.dropout)
        encoder = LayeredEncoder(transformer, settings.frozen_layers)
        module = LateModel(encoder, settings.match_layers, settings.dropout)
        PartDropout.replace_in(module)
    else:
        transformer = load_backbone(source, settings.dropout, head=True)
        module = CrossModel(transformer, tokenizer, settings.window_tokens, settings.overlap_tokens)
    longest = _positions(transformer)
    if longest is not None and settings.window_tokens > longest:
        raise UsageError(
            "the windows are longer than the model can read",
            found=f"window_tokens = {settings.window_tokens}",
            expected=f"at most {longest}",
        )
    module.to(device)
    return EncoderClassifier(module, transformer, tokenizer, settings, device, name)


def _positions(transformer: Any) -> int | None:
    """Return how many tokens a model reads; RoBERTa's first positions, up to its padding's, are no token's."""
    table = getattr(getattr(transformer.base_model, "embeddings", None), "position_embeddings", None)
    if isinstance(table, torch.nn.Embedding):
        return table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)
    return getattr(transformer.config, "max_position_embeddings", None)


def new_encoder(model: str | Path, settings: EncoderSettings) -> EncoderClassifier:
    """Make an untrained classifier on pretrained weights; new weights follow ``settings.seed``."""
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        return _assemble(resolve_model(model), settings, name_of(model))


def load_encoder(run: Path, device: str | None = None) -> EncoderClassifier:
    """Load a classifier from its run folder, ready to predict, on this device or where its settings say."""
    from safetensors.torch import load_file

    settings = parse_settings(EncoderSettings, read_run(run, "encoder")["settings"], str(run))
    if device is not None:
        settings = settings.model_copy(update={"device": device})
    with torch.random.fork_rng():
        model = _assemble(str(run), settings, run.name)
    if isinstance(model.module, LateModel):
        if not (run / HEAD).is_file():
            raise InputError("the run lacks its quadrant head", file=run / HEAD)
        with reading_weights(run / HEAD):
            lacking = model.module.load_state_dict(load_file(run / HEAD), strict=False)
        missing = [name for name in lacking.missing_keys if not name.startswith("encoder.")]
        if missing or lacking.unexpected_keys:
            raise InputError(
                "the quadrant head belongs to another model", file=run / HEAD, found=f"no {', '.join(missing)}"
            )
    model.module.eval()
    return model
