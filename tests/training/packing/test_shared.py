"""Packed rows are exact: sums of log-probabilities, logits and gradients equal those of separate rows.

Models run in float64; transformers computes norms and rotary angles in float32 even so, whence bounds of 1e-7.
"""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ground.errors import UsageError
from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from tests.training.weights import relative
from training.packing import attention
from training.packing.attention import SPLIT, attention_mask, attention_of, register_split, visible
from training.packing.collate import packed_row
from training.packing.decoders import check_decoder, check_sharing
from training.packing.shared import SharedClassifier, SharedPolicy
from training.runs.models import add_adapter, checkpoint_activations, compile_layers, implementation_of
from training.runs.settings import HardwareSettings, LoraSettings
from training.runs.text_runs import texts_attention

KINDS = ("llama", "qwen3", "mistral")
TEXTS = ["Aspirin prevents stroke.", "The patient has hypertension and takes lisinopril.", "No chest pain."]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("decoders")
    tokenizer = tiny_tokenizer(TEXTS, root / "tokenizer")
    return {kind: tiny_decoder(kind, tokenizer, root / kind) for kind in KINDS}  # type: ignore[arg-type]


def causal(folder: Path, attention: str = "sdpa") -> Any:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation=attention)
    return enlarge(model)


def enlarge(model: Any) -> Any:
    """Make attention matter: freshly drawn weights are so small that a wrong mask would hardly show."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(4)
    return model


def drawn(seed: int = 0) -> list[tuple[Any, list[Any]]]:
    """Draw two contexts with three and two statements."""
    numbers = np.random.default_rng(seed)
    return [
        (numbers.integers(3, 200, n), [numbers.integers(3, 200, m) for m in lengths])
        for n, lengths in ((17, (5, 1, 6)), (11, (4, 3)))
    ]


def separate_logps(model: Any, groups: list[tuple[Any, list[Any]]]) -> torch.Tensor:
    found = []
    for context, statements in groups:
        for statement in statements:
            ids = torch.tensor(np.concatenate([context, statement]))[None]
            logps = model(input_ids=ids).logits[0].log_softmax(-1)
            at = torch.arange(len(context) - 1, ids.shape[1] - 1)
            found.append(logps[at, ids[0, len(context) :]].sum())
    return torch.stack(found)


def gradients(model: Any, loss: torch.Tensor) -> torch.Tensor:
    model.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", KINDS)
def test_log_probabilities_and_gradients_equal_those_of_separate_rows(
    folders: dict[str, Path], kind: str, attention: str
) -> None:
    model = causal(folders[kind], attention)
    groups = drawn()
    weights = torch.linspace(-1, 1, 5, dtype=torch.float64)
    apart = separate_logps(model, groups)
    apart_gradient = gradients(model, (apart * weights).sum())
    together = SharedPolicy(model)(packed_row(groups))
    # Eager attention of transformers takes its softmax in single precision, whatever the model's is.
    nearly = 1e-6 if attention == "eager" else 1e-7
    assert relative(together, apart) < nearly
    assert relative(gradients(model, (together * weights).sum()), apart_gradient) < nearly


@pytest.mark.parametrize("kind", KINDS)
def test_quadrant_logits_equal_those_of_separate_rows(folders: dict[str, Path], kind: str) -> None:
    from transformers import AutoModelForSequenceClassification

    model = enlarge(
        AutoModelForSequenceClassification.from_pretrained(folders[kind], num_labels=4, dtype=torch.float64)
    )
    groups = drawn(1)
    apart = torch.cat(
        [
            model(input_ids=torch.tensor(np.concatenate([context, statement]))[None]).logits
            for context, statements in groups
            for statement in statements
        ]
    )
    together = SharedClassifier(model)(packed_row(groups))
    assert together.shape == (5, 4)
    assert relative(together, apart) < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_split_attention_gives_what_the_dense_mask_gives(folders: dict[str, Path], kind: str) -> None:
    register_split()
    split, dense = causal(folders[kind], SPLIT), causal(folders[kind], "sdpa")
    assert check_sharing(split) < 1e-7
    row = packed_row(drawn()[:1])
    one, other = SharedPolicy(split)(row), SharedPolicy(dense)(row)
    assert relative(one, other) < 1e-7
    assert relative(gradients(split, one.sum()), gradients(dense, other.sum())) < 1e-7
    padded = {"input_ids": torch.tensor([[0, 0, 5, 6, 7]]), "attention_mask": torch.tensor([[0, 0, 1, 1, 1]])}
    assert torch.allclose(split(**padded).logits[:, 2:], dense(**padded).logits[:, 2:])
    with pytest.raises(UsageError, match="one context a row"):
        SharedPolicy(split)(packed_row(drawn()))


def test_padding_changes_nothing(folders: dict[str, Path]) -> None:
    model = causal(folders["llama"])
    groups = drawn()
    plain, padded = (SharedPolicy(model)(packed_row(groups, multiple=multiple)) for multiple in (1, 64))
    assert relative(padded, plain) < 1e-12


def test_the_order_of_statements_changes_nothing(folders: dict[str, Path]) -> None:
    model = causal(folders["qwen3"])
    (context, statements), _ = drawn()
    forward = SharedPolicy(model)(packed_row([(context, statements)]))
    backward = SharedPolicy(model)(packed_row([(context, statements[::-1])]))
    assert relative(backward.flip(0), forward) < 1e-12


def test_a_statement_sees_its_context_and_its_own_past_only() -> None:
    row = packed_row([(np.arange(2), [np.arange(2), np.arange(1)]), (np.arange(1), [np.arange(1)])], multiple=4)
    assert visible(row).int().tolist() == [
        [1, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 1, 0],
        [0, 0, 0, 0, 0, 0, 0, 1],
    ]
    assert row.position_ids[0].tolist() == [0, 1, 2, 3, 2, 0, 1, 0]
    assert row.predictors.tolist() == [1, 2, 1, 5]
    assert row.last.tolist() == [3, 4, 6]


def test_the_block_mask_of_flex_attention_shows_what_the_dense_mask_shows() -> None:
    row = packed_row(drawn(), multiple=128)
    block = attention_mask(row, "flex_attention", torch.float32)
    n = row.context_of.shape[0]
    order = torch.arange(n)
    dense = block.mask_mod(0, 0, order[:, None].expand(n, n), order[None].expand(n, n))
    assert torch.equal(dense, visible(row))
    assert block.to_dense().shape[-2:] == (1, 1)


def test_the_blocks_are_those_that_torch_finds_in_the_whole_mask() -> None:
    from torch.nn.attention.flex_attention import create_block_mask

    numbers = np.random.default_rng(0)
    lengths = ((300, [40] * 9), (150, [25] * 5))
    groups = [(numbers.integers(3, 200, n), [numbers.integers(3, 200, m) for m in parts]) for n, parts in lengths]
    row = packed_row(groups, multiple=128)
    block, n = attention_mask(row, "flex_attention", torch.float32), row.context_of.shape[0]
    reference = create_block_mask(block.mask_mod, B=None, H=None, Q_LEN=n, KV_LEN=n, device="cpu")
    assert torch.equal(block.to_dense(), reference.to_dense()) and not block.to_dense().all()
    whole, expected = block.full_kv_num_blocks, reference.full_kv_num_blocks
    assert whole is not None and expected is not None
    assert torch.equal(whole, expected) and whole.sum() > 0


def test_without_a_compiler_packed_rows_take_split_attention_on_a_gpu_with_one_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert attention_of(HardwareSettings(device="cpu")) == SPLIT
    monkeypatch.setattr(attention, "device_of", lambda _: "cuda")
    for there, name in ((False, SPLIT), (True, "flex_attention")):
        monkeypatch.setattr(attention, "compiles", lambda there=there: there)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert attention_of(HardwareSettings()) == name
        assert [one.category for one in said] == [RuntimeWarning] * (name == SPLIT)


def test_flash_attention_is_for_rows_of_one_text() -> None:
    hardware = HardwareSettings(device="cpu", attention="flash_attention_2")
    assert texts_attention(hardware)[0] == "flash_attention_2"
    with pytest.raises(UsageError, match="takes no mask"):
        attention_of(hardware)


def test_noise_of_half_precision_is_told_apart_from_a_mask_that_is_ignored(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer(TEXTS, tmp_path / "tokenizer")
    deep = tiny_decoder("llama", tokenizer, tmp_path / "deep", hidden=256, layers=8)
    model = causal(deep).to(torch.bfloat16)
    with pytest.warns(RuntimeWarning, match="the noise of torch.bfloat16 explains it"):
        noise = check_sharing(model)
    assert 0.01 < noise < 0.05
    forward = model.model.forward
    model.model.forward = functools.wraps(forward)(lambda **given: forward(**{**given, "attention_mask": None}))
    with pytest.raises(UsageError, match="mask or positions ignored"):
        check_sharing(model)


def test_flex_attention_gives_what_sdpa_gives(folders: dict[str, Path]) -> None:
    groups = drawn()
    plain = SharedPolicy(causal(folders["llama"], "sdpa"))(packed_row(groups)).detach()
    # On a CPU FlexAttention has no backward pass.
    flex = SharedPolicy(causal(folders["llama"], "flex_attention").requires_grad_(False))
    with torch.compiler.set_stance("force_eager"):
        assert relative(flex(packed_row(groups, multiple=128)), plain) < 1e-7


def test_the_probe_compiles_flex_attention_for_its_packed_row_alone(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers.integrations.flex_attention as flex

    read, forward = [], flex.compile_friendly_flex_attention

    def told(query: torch.Tensor, *others: Any, **named: Any) -> Any:
        read.append(query.shape[2])
        return forward(query, *others, **named)

    monkeypatch.setattr(flex, "compile_friendly_flex_attention", told)
    assert attention_of(HardwareSettings(device="cpu", attention="flex_attention")) == "flex_attention"
    assert torch._dynamo.config.recompile_limit >= 64
    model = causal(folders["llama"], "flex_attention")
    with torch.compiler.set_stance("force_eager"):
        assert check_sharing(model) < 1e-7
    assert set(read) == {128} and implementation_of(model) == "flex_attention"


@pytest.mark.parametrize("kind", KINDS)
def test_the_probe_accepts_decoders_that_obey_mask_and_positions(folders: dict[str, Path], kind: str) -> None:
    model = causal(folders[kind])
    check_decoder(model.config)
    assert check_sharing(model) < 1e-12


def test_sliding_windows_are_refused() -> None:
    from transformers import AutoConfig

    with pytest.raises(UsageError, match="sliding-window attention of 4096 tokens"):
        check_decoder(AutoConfig.for_model("mistral", sliding_window=4096))
    with pytest.raises(UsageError, match="sliding"):
        check_decoder(AutoConfig.for_model("gemma2"))
    with pytest.raises(UsageError, match="encoder-decoder"):
        check_decoder(AutoConfig.for_model("t5"))


SIZES = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("bert", SIZES | {"intermediate_size": 64}),
        ("bloom", {"vocab_size": 99, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    ],
)
def test_the_probe_refuses_models_for_which_packing_is_not_exact(kind: str, sizes: dict[str, int]) -> None:
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    model = enlarge(AutoModel.from_config(AutoConfig.for_model(kind, **sizes), dtype=torch.float64))
    with pytest.raises(UsageError, match="contexts cannot be shared"):
        check_sharing(model)


def test_logits_that_are_scaled_behind_the_head_are_refused() -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    sizes = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "pad_token_id": 0}
    config = AutoConfig.for_model("granite", **sizes, **heads, logits_scaling=8.0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").double()
    with pytest.raises(UsageError, match="scaled or capped"):
        check_sharing(model)


@torch.no_grad()
def test_log_probabilities_of_half_precision_are_not_rounded_behind_the_head(folders: dict[str, Path]) -> None:
    model = causal(folders["llama"]).to(torch.bfloat16).eval()
    # Logits of some 20, as those of trained models are.
    model.lm_head.weight.mul_(60)
    row = packed_row(drawn()[:1])
    found = SharedPolicy(model)(row)
    states = []
    model.model.register_forward_hook(lambda *given: states.append(given[2].last_hidden_state[0]))
    SharedPolicy(model)(row)
    logits = states[0][row.predictors].double() @ model.lm_head.weight.double().T
    assert float(logits.abs().max()) > 10
    exact = logits.log_softmax(-1).gather(-1, row.targets[:, None])[:, 0]
    sums = exact.new_zeros(len(row.last)).index_add(0, row.statement_of, exact)
    assert torch.allclose(found.double(), sums, atol=1e-4)


def test_compiled_layers_give_the_same_and_share_their_forms_for_all_lengths(folders: dict[str, Path]) -> None:
    """Captured as for a card (no breaks, forms shared), activations computed again, and run by torch's own kernels."""
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    plain, compiled = (add_adapter(causal(folders["llama"]), "causal", LoraSettings(dropout=0)) for _ in range(2))
    compiled.load_state_dict(plain.state_dict())
    compile_layers(compiled, backend="aot_eager", fullgraph=True)
    for model in (plain, compiled):
        checkpoint_activations(model)
        model.train()
    numbers = np.random.default_rng(0)
    for n in (17, 40, 23):
        row = packed_row([(numbers.integers(3, 200, n), [numbers.integers(3, 200, m) for m in (5, n // 2)])])
        sums, others = SharedPolicy(compiled)(row), SharedPolicy(plain)(row)
        assert relative(sums.detach(), others.detach()) < 1e-6
        assert relative(gradients(compiled, sums.sum()), gradients(plain, others.sum())) < 1e-5
    assert counters["stats"]["unique_graphs"] == 2
