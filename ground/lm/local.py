"""A transformers model in this process: prompts in batches, greedy by default."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ground.errors import InputError, UsageError
from ground.lm.cache import content_key
from ground.lm.exchange import Answer, Exchange
from ground.lm.results import FailureReason, Result, Usage
from ground.lm.sampling import Sampled, sampled
from ground.lm.settings import LmSettings

__all__ = ["LocalModel"]

# Prompts are gathered and sorted by length, so that those of a batch need little padding.
BATCHES_GATHERED = 16
# Weights, configuration, tokenizer and template; a run folder gets other files (predictions, reports) later.
MODEL_FILES = frozenset({".safetensors", ".bin", ".json", ".model", ".txt", ".jinja"})


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
        self._loaded: tuple[Any, Any] | None = None
        self.fingerprint = _fingerprint(Path(settings.model))

    def run(self, exchanges: Iterator[Exchange], finish: Callable[[Exchange, Result], None]) -> None:
        """Bring every exchange to its result.

        Raises:
            InputError: the model cannot be loaded.
        """
        size = self._settings.batch_size if self._settings.temperature == 0 else 1
        while gathered := list(islice(exchanges, size * BATCHES_GATHERED)):
            while gathered:
                gathered = self._round(gathered, size, finish)

    def _round(
        self, exchanges: list[Exchange], size: int, finish: Callable[[Exchange, Result], None]
    ) -> list[Exchange]:
        """Ask each once; return those that are to be asked again."""
        model, tokenizer = self._model()
        room = _positions(model) - self._settings.max_tokens
        prompts: list[tuple[Exchange, list[int]]] = []
        for exchange in exchanges:
            tokens = self._encode(tokenizer, exchange)
            if len(tokens) > room:
                detail = f"{len(tokens)} prompt tokens; the model has room for {room} beside max_tokens"
                finish(exchange, exchange.fail(FailureReason.REJECTED, detail))
            else:
                prompts.append((exchange, tokens))
        prompts.sort(key=lambda pair: (len(pair[1]), pair[0].key))
        again: list[Exchange] = []
        for first in range(0, len(prompts), size):
            batch = prompts[first : first + size]
            for (exchange, _), answer in zip(batch, self._generate(model, tokenizer, batch), strict=True):
                result = exchange.take(answer)
                if result is None:
                    again.append(exchange)
                else:
                    finish(exchange, result)
        return again

    def _encode(self, tokenizer: Any, exchange: Exchange) -> list[int]:
        messages = exchange.messages()
        if tokenizer.chat_template:
            chosen = self._settings.extra_body.get("chat_template_kwargs", {})
            text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **chosen)
            # The template has written the special tokens itself.
            return list(tokenizer(text, add_special_tokens=False)["input_ids"])
        text = "\n\n".join(message["content"] for message in messages) + "\n\n"
        return list(tokenizer(text)["input_ids"])

    def _generate(self, model: Any, tokenizer: Any, batch: list[tuple[Exchange, list[int]]]) -> list[Answer]:
        import torch

        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0
        config = self._generation(model, pad, batch[0][0])
        prompts = [tokens for _, tokens in batch]
        with torch.random.fork_rng():
            torch.manual_seed(batch[0][0].seed)
            found = sorted(sampled(model, prompts, config, len(batch)))
        return [self._answer(tokenizer, one, len(prompts[one.prompt])) for one in found]

    def _generation(self, model: Any, pad: int, exchange: Exchange) -> Any:
        config = copy.deepcopy(model.generation_config)
        config.max_new_tokens, config.max_length, config.pad_token_id = self._settings.max_tokens, None, pad
        if exchange.temperature == 0:
            config.do_sample, config.temperature, config.top_p, config.top_k = False, None, None, None
        elif exchange.temperature is not None:
            config.do_sample, config.temperature = True, exchange.temperature
        return config

    def _answer(self, tokenizer: Any, said: Sampled, prompt_tokens: int) -> Answer:
        return Answer(
            text=tokenizer.decode(said.tokens, skip_special_tokens=True),
            finish_reason="length" if said.end is None else "stop",
            model=self._settings.model,
            usage=Usage(prompt_tokens=prompt_tokens, completion_tokens=len(said.tokens) + (said.end is not None)),
        )

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            self._loaded = _load(self._settings)
        return self._loaded


def _load(settings: LmSettings) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(settings.model)
        model = AutoModelForCausalLM.from_pretrained(settings.model)
    except (OSError, ValueError) as error:
        raise InputError(
            "the model cannot be loaded",
            found=f"{settings.model}: {type(error).__name__}",
            expected="a folder that holds a causal language model and its tokenizer",
            do="check the path; the hub is asked only where --hub stands before the verb: `ontoground --hub ...`",
        ) from error
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
