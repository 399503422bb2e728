"""Continuous batching says what padded batches say, and an answer that is cut is told from one that ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ground.errors import OntogroundError, UsageError
from ground.lm.sampling import Sampled, answers, end_tokens, sampled

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PROMPTS = [[1, *range(5, 9)], [1, *range(20, 60)], [1, 7], [1, *range(90, 107)]]


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(3)
    config = transformers.AutoConfig.for_model(
        "llama",
        vocab_size=120,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
    )
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def greedy(model: Any, ends: list[int], batching: Any, at_once: int = 2) -> list[Sampled]:
    config = transformers.GenerationConfig(max_new_tokens=6, do_sample=False, pad_token_id=0, eos_token_id=ends)
    return sorted(sampled(model, PROMPTS, config, at_once, batching))


def test_each_way_gives_the_greedy_answer_of_a_prompt_alone(model: Any) -> None:
    alone = greedy(model, [2], "padded", 1)
    assert [said.prompt for said in alone] == [0, 1, 2, 3]
    assert len({tuple(said.tokens) for said in alone}) > 1
    end = alone[0].tokens[3]
    cut = greedy(model, [2, end], "padded")
    stop = alone[0].tokens.index(end)
    assert cut[0] == Sampled(0, alone[0].tokens[:stop], end)
    assert greedy(model, [2], "padded", 3) == alone
    assert greedy(model, [2, end], "continuous") == cut


def test_a_prompt_without_room_has_no_answer(model: Any) -> None:
    tokenizer = SimpleNamespace(pad_token_id=None, eos_token_id=2, decode=lambda ids, **_: " ".join(map(str, ids)))
    said = {room: sorted(answers(model, tokenizer, PROMPTS, room, 3, 2, "padded", temperature=0)) for room in (1, 5)}
    assert {room: [one.text is not None for one in found] for room, found in said.items()} == {
        1: [False] * 4,
        5: [True, False, True, False],
    }
    assert all(len(one.text.split()) == one.tokens - (not one.cut) for one in said[5] if one.text is not None)


def test_ends_are_those_of_the_model_and_of_the_tokenizer(model: Any) -> None:
    model.generation_config.eos_token_id = [4, 2]
    assert end_tokens(model, SimpleNamespace(eos_token_id=9)) == [2, 4, 9]
    model.generation_config.eos_token_id = None
    assert end_tokens(model, SimpleNamespace(eos_token_id=None)) == []


def test_a_model_without_continuous_batching_is_told(model: Any) -> None:
    with pytest.raises(UsageError, match="no continuous batching"):
        next(sampled(object(), PROMPTS, transformers.GenerationConfig(eos_token_id=2), 1, "continuous"))


def test_answers_that_are_missing_are_no_answers(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(model), "generate_batch", lambda *_, **__: {})
    with pytest.raises(OntogroundError, match="broke off"):
        greedy(model, [2], "continuous")
