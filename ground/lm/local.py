"""A transformers model in this process: prompts in batches, greedy by default."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from ground.errors import InputError, UsageError
from ground.lm.cache import content_key
from ground.lm.exchange import Exchange, RawAnswer
from ground.lm.results import FailureReason, Result, Usage
from ground.lm.sampling import answers, prompt_tokens
from ground.lm.settings import LmSettings

__all__ = ["LocalModel", "check_model", "load_pretrained", "reading_weights"]

# Prompts are gathered and sorted by length, so that those of a batch need little padding.
BATCHES_GATHERED = 16
# Weights, configuration, tokenizer and template; a run folder gets other files (predictions, reports) later.
MODEL_FILES = frozenset({".safetensors", ".bin", ".json", ".model", ".txt", ".jinja"})
# Of a whole model, and of an adapter on one.
DESCRIPTIONS = ("config.json", "adapter_config.json")


class LocalModel:
    """A causal language model, loaded when the first prompt comes.

    Under greedy decoding prompts are padded into batches; a prompt alone and in a batch may differ in the last bits,
    and so, on a near tie, in a word. When sampling, prompts go one by one, each under its own seed: no answer depends
    on the others. The wanted shape of an answer is told, never enforced while decoding.

    Raises:
        UsageError: ``extra_body`` has fields other than ``chat_template_kwargs``.
    """

    def __init__(self, settings: LmSettings) -> None:
        unknown = sorted(set(settings.extra_body) - {"chat_template_kwargs"})
        if unknown:
            raise UsageError(
                "extra_body has fields that a local model does not take",
                found=", ".join(unknown),
                expected="chat_template_kwargs",
            )
        self._settings = settings
        self.fingerprint = _fingerprint(Path(settings.model))

    def run(self, exchanges: Iterator[Exchange], finish: Callable[[Exchange, Result], None]) -> None:
        """Bring every exchange to its result.

        Raises:
            InputError: the model cannot be loaded.
        """
        size = self._settings.batch_size * BATCHES_GATHERED if self._settings.temperature == 0 else 1
        while gathered := list(islice(exchanges, size)):
            while gathered:
                gathered = self._round(gathered, finish)

    def _round(self, exchanges: list[Exchange], finish: Callable[[Exchange, Result], None]) -> list[Exchange]:
        """Ask each once; return those that are to be asked again."""
        import torch

        (model, tokenizer), settings = self._model, self._settings
        room, template = _positions(model) - settings.max_tokens, settings.extra_body.get("chat_template_kwargs", {})
        prompts = [prompt_tokens(tokenizer, exchange.messages(), **template) for exchange in exchanges]
        at_once, temperature, tokens = settings.batch_size, exchanges[0].temperature, settings.max_tokens
        again: list[Exchange] = []
        with torch.random.fork_rng():
            torch.manual_seed(exchanges[0].seed)
            for answer in answers(model, tokenizer, prompts, room, tokens, at_once, temperature=temperature):
                exchange, asked = exchanges[answer.prompt], len(prompts[answer.prompt])
                if answer.text is None:
                    detail = f"{asked} prompt tokens; the model has room for {room} beside max_tokens"
                    result: Result | None = exchange.fail(FailureReason.REJECTED, detail)
                else:
                    spent = Usage(prompt_tokens=asked, completion_tokens=answer.tokens)
                    result = exchange.take(
                        RawAnswer(answer.text, "length" if answer.cut else "stop", settings.model, spent)
                    )
                if result is None:
                    again.append(exchange)
                else:
                    finish(exchange, result)
        return again

    @cached_property
    def _model(self) -> tuple[Any, Any]:
        return _load(self._settings)


def load_pretrained(kind: Any, model: str | Path, **options: Any) -> Any:
    """Return what one of transformers' classes loads.

    Raises:
        InputError: there is no such model, or its weights are cut off.
        UsageError: it needs FlashAttention or bitsandbytes, which are looked for only now and not installed.
    """
    hub = os.environ.get("HF_HUB_OFFLINE") == "0" and not Path(model).is_dir()
    reached = not hub or _hub_answers()
    try:
        with reading_weights(model):
            return kind.from_pretrained(str(model), **({} if reached else {"local_files_only": True}), **options)
    except ImportError as error:
        missing = str(error).strip().splitlines()[0]
        raise UsageError("a package that the settings need is not installed", found=missing) from error
    except (OSError, ValueError) as error:
        if not reached:
            do = "check the network and its proxy, or name a folder on this machine"
            raise InputError(
                "the hub cannot be reached, and this model is not in its cache", file=model, do=do
            ) from error
        raise _not_loaded(model, type(error).__name__) from error


@contextmanager
def reading_weights(place: str | Path) -> Iterator[None]:
    """Refuse weights that are cut off or damaged (`InputError`)."""
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        raise InputError("a file of weights is cut off or damaged", file=place, do="train or copy it again") from error


def check_model(model: str | Path) -> None:
    """Refuse what `load_pretrained` could not load, where that shows before torch is imported.

    Raises:
        InputError: neither a folder of a model, nor in the hub's cache where the hub is not asked.
    """
    from huggingface_hub import constants, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    if Path(model).is_dir():
        if not any((Path(model) / name).is_file() for name in DESCRIPTIONS):
            raise _not_loaded(model, f"no {DESCRIPTIONS[0]}")
    elif constants.HF_HUB_OFFLINE:
        try:
            known = any(isinstance(try_to_load_from_cache(str(model), name), str) for name in DESCRIPTIONS)
        except HFValidationError:
            known = False
        if not known:
            raise _not_loaded(model, "no such model here")


def _not_loaded(model: str | Path, found: str) -> InputError:
    absent = Path(model).is_absolute() and not Path(model).exists()
    return InputError(
        "the model cannot be loaded",
        file=str(model),
        found="no such folder" if absent else found,
        expected="a hub name, a folder in transformers' format, or a run folder",
        do="check the path; the hub is asked only where --hub stands before the verb: `ontoground --hub ...`",
    )


@cache
def _hub_answers() -> bool:
    """Ask the hub once whether it is there: transformers repeats its own questions for half a minute."""
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=5)
    except Exception:  # of the client that this version of the library has
        return False
    return True


def _load(settings: LmSettings) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = (load_pretrained(kind, settings.model) for kind in (AutoTokenizer, AutoModelForCausalLM))
    automatic = "cuda" if torch.cuda.is_available() else "cpu"
    return model.to(automatic if settings.device == "auto" else settings.device).eval(), tokenizer


def _positions(model: Any) -> int:
    return int(getattr(model.config.get_text_config(), "max_position_embeddings", None) or 1 << 62)


def _fingerprint(folder: Path) -> str:
    """Return what tells two models at one path apart: names, sizes and times of their files; empty for a hub name.

    A run that is trained anew keeps its folder's name: its answers must not be taken for the old one's.
    """
    if not folder.is_dir():
        return ""
    files = sorted(file for file in folder.iterdir() if file.suffix in MODEL_FILES)
    return content_key({file.name: [file.stat().st_size, file.stat().st_mtime_ns] for file in files})
