"""Time training and evaluation with shared contexts against trl and transformers, same model, items and precision.

Every figure is measured in a process of its own, so that peak memory is that of one engine, on random tokens and
freshly drawn weights: speed and memory do not depend on what the words are. `python -m benchmarks.training`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import parser, run
from benchmarks.measuring import RESULTS, machine, peak_bytes
from ground.errors import InputError
from ground.storage.files import write_text
from ontoground.cli.render import Cell, console, note, table

__all__ = ["MODELS", "PACKAGES", "Sizes", "main", "matrix_rate", "measured", "random_model"]

MODELS: dict[str, dict[str, int]] = {
    "probe": {"hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 4, "heads": 8, "vocab_size": 8000},
    "wide": {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 8, "heads": 8, "vocab_size": 16000},
    "0.5b": {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "heads": 16, "vocab_size": 64000},
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "heads": 32, "vocab_size": 128256},
    "8b": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "heads": 32, "vocab_size": 128256},
    "qwen3-8b": {"hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36, "heads": 32,
                 "vocab_size": 151936},
}  # fmt: skip
"""Llama and Qwen3 configurations; 1b, 8b and qwen3-8b have the shapes of Llama 3.2 1B, Llama 3.1 8B and Qwen3 8B."""
PACKAGES = ("torch", "transformers", "peft", "trl", "accelerate")
SEED = 42
EXACT = 1e-6
ROWS_AT_ONCE = 4


@dataclass(frozen=True)
class Sizes:
    """What is trained on: ``n_contexts`` contexts, each with ``n_items`` pairs or statements.

    ``recompute`` says whether activations are computed again in the backward pass.
    """

    model: str
    device: str
    context: int
    statement: int
    n_items: int
    n_contexts: int
    recompute: bool = False


def _ids(numbers: np.random.Generator, sizes: Sizes, length: int) -> Any:
    return numbers.integers(3, MODELS[sizes.model]["vocab_size"], length)


def _texts(sizes: Sizes, per_item: int) -> tuple[Any, Any, list[Any]]:
    """Draw contexts, statements and items; no two items share a statement."""
    from training.packing.plan import Item
    from training.packing.tokens import EncodedTexts

    numbers = np.random.default_rng(SEED)
    contexts = EncodedTexts.of([_ids(numbers, sizes, sizes.context) for _ in range(sizes.n_contexts)])
    n = sizes.n_contexts * sizes.n_items
    statements = EncodedTexts.of([_ids(numbers, sizes, sizes.statement) for _ in range(n * per_item)])
    items = [
        Item(f"i{i}", i // sizes.n_items, tuple(range(i * per_item, (i + 1) * per_item))) for i in range(n)
    ]  # fmt: skip
    return contexts, statements, items


def _hardware(sizes: Sizes) -> Any:
    from training.runs.settings import HardwareSettings

    return HardwareSettings(device="cuda" if sizes.device == "cuda" else "cpu", gradient_checkpointing=sizes.recompute)


def _autocast(sizes: Sizes) -> bool:
    from training.runs.models import trained_weights

    return trained_weights(_hardware(sizes), whole=False)[1]


def _compiled(model: Any) -> Any:
    """Compile a model's layers where runs do."""
    from training.runs.models import compile_layers, implementation_of

    if implementation_of(model) == "flex_attention":
        compile_layers(model)
    return model


def random_model(sizes: Sizes, task: str, attention: str, *, double: bool = False) -> Any:
    """Draw a Llama with a LoRA adapter of the paper's rank for the task."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification

    from training.runs.models import precision_of
    from training.runs.settings import ClassifierSettings, CorfuSettings

    shape = MODELS[sizes.model]
    heads = shape["heads"]
    config = AutoConfig.for_model(
        "qwen3" if sizes.model.startswith("qwen3") else "llama",
        **{name: value for name, value in shape.items() if name != "heads"},
        num_attention_heads=heads,
        num_key_value_heads=heads // 4 if heads > 8 else heads // 2,
        max_position_embeddings=8192,
        pad_token_id=0,
        num_labels=4,
    )
    kind = AutoModelForCausalLM if task == "causal" else AutoModelForSequenceClassification
    dtype = torch.float64 if double else precision_of(_hardware(sizes))
    torch.manual_seed(SEED)
    with torch.device(sizes.device):
        model = kind.from_config(config, dtype=dtype, attn_implementation=attention)
    lora = CorfuSettings().lora if task == "causal" else ClassifierSettings().lora
    return _adapted(model, task, lora.model_copy(update={"dropout": 0.0}) if double else lora, sizes)


def _adapted(model: Any, task: str, lora: Any, sizes: Sizes) -> Any:
    from peft import LoraConfig, TaskType, get_peft_model

    kind = TaskType.CAUSAL_LM if task == "causal" else TaskType.SEQ_CLS
    config = LoraConfig(
        task_type=kind, r=lora.r, lora_alpha=lora.alpha, lora_dropout=lora.dropout, target_modules="all-linear"
    )
    adapted = get_peft_model(model, config)
    if sizes.recompute:
        adapted.gradient_checkpointing_enable({"use_reentrant": False})
        adapted.enable_input_require_grads()
    return adapted


def _attention(sizes: Sizes) -> str:
    from training.packing.attention import attention_of

    return attention_of(_hardware(sizes))


def _tokenizer(folder: Path) -> Any:
    """Make a tokenizer that trainers can save; it never reads a text here."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {"<pad>": 0, "<s>": 1, "</s>": 2}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="<pad>")),
        pad_token="<pad>", bos_token="<s>", eos_token="</s>",
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    return tokenizer


class Clock:
    """Notes when a trainer finishes each optimizer step."""

    def __init__(self) -> None:
        self.at = [time.perf_counter()]

    def __call__(self, _n: int) -> None:
        self.at.append(time.perf_counter())


def _stage(sizes: Sizes) -> Any:
    from training.packing.collate import RunData

    return RunData.alike(*_texts(sizes, per_item=2))


def _corfu_settings(sizes: Sizes) -> Any:
    from training.runs.settings import CorfuSettings, PackingSettings

    rows = sizes.context + 2 * sizes.n_items * sizes.statement
    return CorfuSettings(
        seed=SEED,
        batch_size=sizes.n_items,
        packing=PackingSettings(max_length=rows, tokens_per_row=rows, max_per_context=sizes.n_items),
        hardware=_hardware(sizes).model_copy(update={"save_steps": 10**6}),
    )


def corfu_shared(sizes: Sizes, folder: Path) -> dict[str, float]:
    """Train on pairs with the engine `shared`: the reference first, then one step a context."""
    from training.corfu.stage import CorfuObjective, pair_logps
    from training.packing.packed_rows import plan_steps
    from training.packing.shared import SharedPolicy
    from training.packing.trainer import train_packed

    stage, settings = _stage(sizes), _corfu_settings(sizes)
    policy = SharedPolicy(_compiled(random_model(sizes, "causal", _attention(sizes))))
    autocast, references = _autocast(sizes), []

    def ask() -> None:
        references.append(pair_logps(policy, stage, settings.packing.tokens_per_row, autocast=autocast))

    reference_share, clock = _timed(ask, 1)["seconds"] / sizes.n_contexts, Clock()
    train_packed(
        policy, _tokenizer(folder), stage, plan_steps(stage, settings, _attention(sizes)),
        CorfuObjective(references[-1], settings.beta, settings.lambda_), folder, settings, autocast=autocast,
        advance=clock,
    )  # fmt: skip
    return {"seconds": reference_share + _step_seconds(clock.at), "items": sizes.n_items}


def corfu_trl(sizes: Sizes, folder: Path) -> dict[str, float]:
    """Train on the same pairs with trl's DPOTrainer: the paper's batch of 1, accumulated."""
    from transformers import TrainerCallback

    from training.corfu.engine_trl import pair_trainer

    clock = Clock()

    class Advance(TrainerCallback):
        def on_train_begin(self, *_: Any, **__: Any) -> None:
            clock.at = [time.perf_counter()]

        def on_step_end(self, *_: Any, **__: Any) -> None:
            clock(1)

    stage, settings = _stage(sizes), _corfu_settings(sizes)
    policy = random_model(sizes, "causal", "sdpa")
    pair_trainer(
        stage, policy, _tokenizer(folder), folder, settings, callbacks=[Advance()], autocast=_autocast(sizes)
    ).train()
    return {"seconds": _step_seconds(clock.at), "items": sizes.n_items}


def _step_seconds(at: list[float]) -> float:
    """Return the median time of a step, the first left out where there are several."""
    steps = np.diff(at)
    return float(np.median(steps[1:] if len(steps) > 1 else steps))


def _classifier(sizes: Sizes) -> tuple[Any, Any, Any]:
    from training.classifier.items import QuadrantData
    from training.packing.collate import RunData
    from training.packing.plan import plan_epochs
    from training.packing.tokens import Truncation
    from training.runs.settings import ClassifierSettings

    contexts, statements, items = _texts(sizes, per_item=1)
    data = RunData(contexts, statements, items, np.ones(len(items)))
    labels = np.arange(len(items)) % 4
    settings = ClassifierSettings(seed=SEED, hardware=_hardware(sizes).model_copy(update={"save_steps": 10**6}))
    plan = plan_epochs(
        items, contexts.lengths, statements.lengths, batch_size=sizes.n_items, max_per_context=sizes.n_items,
        tokens_per_row=sizes.context + sizes.n_items * sizes.statement, epochs=1, seed=SEED,
    )  # fmt: skip
    rows = QuadrantData(data, [item.name for item in items], labels, Truncation(len(contexts), 0, 0, 0))
    return rows, plan, settings


def classifier_shared(sizes: Sizes, folder: Path) -> dict[str, float]:
    """Train the quadrant classifier with the engine `shared`."""
    from training.classifier.items import QuadrantLoss
    from training.packing.shared import SharedClassifier
    from training.packing.trainer import train_packed

    rows, plan, settings = _classifier(sizes)
    module, clock = SharedClassifier(_compiled(random_model(sizes, "quadrants", _attention(sizes)))), Clock()
    train_packed(
        module, _tokenizer(folder), rows.data, plan, QuadrantLoss(rows.labels), folder, settings,
        autocast=_autocast(sizes), advance=clock,
    )  # fmt: skip
    return {"seconds": _step_seconds(clock.at), "items": sizes.n_items}


def classifier_plain(sizes: Sizes, folder: Path) -> dict[str, float]:
    """Train it with transformers' Trainer, one statement a row, the paper's batch of 4."""
    import torch
    from torch.nn.utils.rnn import pad_sequence
    from transformers import Trainer, TrainingArguments

    from training.runs.models import checkpoint_activations
    from training.runs.resuming import run_trainer, trainer_arguments

    rows, plan, settings = _classifier(sizes)
    model, clock = random_model(sizes, "quadrants", "sdpa"), Clock()
    if settings.hardware.gradient_checkpointing:
        checkpoint_activations(model)

    def collate(items: list[int]) -> dict[str, torch.Tensor]:
        data, chosen = rows.data, [rows.data.items[index] for index in items]
        parts = [(data.contexts[item.context], data.statements[item.statements[0]]) for item in chosen]
        texts = [torch.from_numpy(np.concatenate(part)) for part in parts]
        seen = pad_sequence([torch.ones_like(text) for text in texts], batch_first=True)
        ids = pad_sequence(texts, batch_first=True, padding_value=data.pad_id)
        return {"input_ids": ids, "attention_mask": seen, "labels": torch.from_numpy(rows.labels[items])}

    arguments = trainer_arguments(
        TrainingArguments, folder, settings, autocast=_autocast(sizes), max_steps=len(plan),
        per_device_train_batch_size=ROWS_AT_ONCE, gradient_accumulation_steps=-(-sizes.n_items // ROWS_AT_ONCE),
        remove_unused_columns=False, dataloader_pin_memory=False, train_sampling_strategy="sequential",
    )  # fmt: skip
    trainer = Trainer(
        model=model, args=arguments, train_dataset=[index for step in plan for index in step.items],
        data_collator=collate, processing_class=_tokenizer(folder),
    )  # fmt: skip
    run_trainer(trainer, clock, resume=False, short_of_memory="take a smaller model")
    return {"seconds": _step_seconds(clock.at), "items": sizes.n_items}


def predict_shared(sizes: Sizes, _folder: Path) -> dict[str, float]:
    """Predict quadrants with the engine `shared`."""
    from training.packing.packed_rows import row_values
    from training.packing.plan import plan_rows
    from training.packing.shared import SharedClassifier

    rows, _, settings = _classifier(sizes)
    data = rows.data
    module = SharedClassifier(random_model(sizes, "quadrants", _attention(sizes)))
    plans = plan_rows(
        range(len(data.items)), data.items, data.contexts.lengths, data.statements.lengths,
        max(settings.packing.tokens_per_row, sizes.context + sizes.n_items * sizes.statement),
    )  # fmt: skip
    return _timed(lambda: row_values(module, data, plans), len(data.items))


def predict_plain(sizes: Sizes, _folder: Path) -> dict[str, float]:
    """Predict them one statement a row."""
    from training.packing.packed_rows import row_values
    from training.packing.plan import apart
    from training.packing.shared import SharedClassifier

    data = _classifier(sizes)[0].data
    module, plans = (
        SharedClassifier(random_model(sizes, "quadrants", "sdpa")),
        apart(range(len(data.items)), data.items),
    )
    return _timed(lambda: row_values(module, data, plans), len(data.items))


def _timed(work: Callable[[], object], items: int) -> dict[str, float]:
    """Time the second of two runs: the first makes buffers and threads that stay."""
    work()
    begin = time.perf_counter()
    work()
    return {"seconds": time.perf_counter() - begin, "items": items}


def exactness(sizes: Sizes, folder: Path) -> dict[str, float]:
    """Compare CoRFu's loss and gradient on packed rows with those on separate rows, in float64, dropout 0."""
    import torch

    from training.corfu.stage import pair_values
    from training.packing.collate import packed_row
    from training.packing.shared import SharedPolicy

    contexts, statements, _ = _texts(sizes, per_item=2)
    model = random_model(sizes, "causal", "sdpa", double=True)
    module = SharedPolicy(model)
    with torch.no_grad():
        # An adapter begins at zero, where half of its gradients vanish.
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(0, 0.05)
    groups = [
        (contexts[c], [statements[c * 2 * sizes.n_items + i] for i in range(2 * sizes.n_items)])
        for c in range(sizes.n_contexts)
    ]

    def measured(rows: list[Any]) -> tuple[float, torch.Tensor]:
        model.zero_grad()
        logps = torch.cat([module(packed_row([row]).to(sizes.device)) for row in rows]).view(-1, 2)
        loss = pair_values(logps, torch.zeros_like(logps) - 0.1, 0.1, 0.5)[0].mean()
        loss.backward()
        return float(loss.detach()), torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])

    loss, gradient = measured(groups)
    other, separate = measured([(context, [part]) for context, parts in groups for part in parts])
    return {
        "loss_difference": abs(loss - other) / abs(other),
        "gradient_difference": float((gradient - separate).norm() / separate.norm()),
        "seconds": 0.0,
        "items": 0,
    }


ENGINES = {
    work.__name__: work
    for work in (
        corfu_shared, corfu_trl, classifier_shared, classifier_plain, predict_shared, predict_plain, exactness,
    )
}  # fmt: skip


def _peak(sizes: Sizes) -> int:
    if sizes.device == "cuda":
        import torch

        return int(torch.cuda.max_memory_allocated())
    return peak_bytes()


def _in_process(name: str, sizes: Sizes) -> dict[str, Any]:
    """Run one measurement in a process of its own, and return what it prints."""
    note(f"{name}: context {sizes.context:,}, {sizes.n_items} x {sizes.n_contexts} ...")
    command = [sys.executable, "-m", "benchmarks.training", "--one", name, "--sizes", json.dumps(vars(sizes))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"{name} failed", found=done.stderr.strip().splitlines()[-1] if done.stderr else None)
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def measured(name: str, sizes: Sizes) -> dict[str, Any]:
    """Take one measurement in this process: seconds, items, and bytes at the peak and before."""
    from training.runs.models import quiet

    with tempfile.TemporaryDirectory() as folder, quiet():
        base = peak_bytes()
        figures = ENGINES[name](sizes, Path(folder))
    return {**figures, "peak_bytes": _peak(sizes), "base_bytes": base}


def _compare(shared: str, other: str, sizes: Sizes, slow: Sizes) -> dict[str, Any]:
    """Measure both engines; the slow one on fewer contexts, since every one costs the same."""
    ours, theirs = _in_process(shared, sizes), _in_process(other, slow)
    speed = [figures["items"] / figures["seconds"] for figures in (ours, theirs)]
    return {
        "shared": ours,
        "other": theirs,
        "items_per_second": speed,
        "times_faster": speed[0] / speed[1],
        "memory_share": ours["peak_bytes"] / theirs["peak_bytes"],
    }


def matrix_rate(device: str) -> float:
    """Measure the device's rate of large matrix products. In FLOP per second."""
    import torch

    n, dtype = (8192, torch.bfloat16) if device == "cuda" else (2048, torch.float32)
    a, b = (torch.randn(n, n, dtype=dtype, device=device) for _ in range(2))

    def product() -> float:
        begin = time.perf_counter()
        a @ b
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - begin

    product()
    return float(2 * n**3 / np.median([product() for _ in range(7)]))


def measure_all(model: str, device: str, context: int, n_items: int) -> dict[str, Any]:
    """Take every measurement of the table in docs/benchmarks.md."""

    def sizes(n_contexts: int, length: int = context, shape: str = model, items: int = n_items) -> Sizes:
        return Sizes(shape, device, length, 25, items, n_contexts, recompute=MODELS[shape]["hidden_size"] >= 1024)

    small = Sizes("probe", device, 200, 25, 4, 2)
    return {
        "exactness": _in_process("exactness", small),
        "corfu": _compare("corfu_shared", "corfu_trl", sizes(4), sizes(1 if device == "cpu" else 3)),
        "classifier": _compare("classifier_shared", "classifier_plain", sizes(4), sizes(1 if device == "cpu" else 3)),
        "evaluation": _compare("predict_shared", "predict_plain", sizes(8), sizes(2)),
        "memory_4096": _compare("corfu_shared", "corfu_trl", sizes(1, 4096, items=1), sizes(1, 4096, items=1)),
        "matrix_flops": matrix_rate(device),
    }


def _paint(figures: dict[str, Any]) -> None:
    exact = figures["exactness"]
    out = console()
    out.print(
        f"loss and gradient of packed against separate rows, float64: relative differences "
        f"{exact['loss_difference']:.1e} and {exact['gradient_difference']:.1e} (to reach: under {EXACT:.0e})"
    )
    titles = {
        "corfu": "CoRFu training, pairs/s (trl.DPOTrainer)",
        "classifier": "classifier training, statements/s (transformers.Trainer)",
        "evaluation": "prediction, statements/s (one statement a row)",
        "memory_4096": "CoRFu at 4,096 tokens, pairs/s (trl.DPOTrainer)",
    }
    rows: list[tuple[Cell, ...]] = []
    for key, title in titles.items():
        compared = figures[key]
        ours, theirs = compared["items_per_second"]
        gib = [compared[who]["peak_bytes"] / 2**30 for who in ("shared", "other")]
        rows.append(
            (title, f"{ours:.3g}", f"{theirs:.3g}", f"{compared['times_faster']:.1f}", *(f"{g:.2f}" for g in gib),
             f"{compared['memory_share']:.2f}")
        )  # fmt: skip
    out.print(
        table(("what (yardstick)", "ours", "theirs", "times", "GiB", "theirs", "share"), rows, title="shared contexts")
    )


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser("training", __doc__ or "", "python -m benchmarks.training --model 1b --device cuda --save")
    options.add_argument("--model", choices=sorted(MODELS), default="probe", help="size of the model (default probe)")
    options.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where it runs (default cpu)")
    options.add_argument("--context", type=int, default=1200, help="tokens of a context (default 1200)")
    options.add_argument("--items", type=int, default=16, help="pairs, or statements, of a context (default 16)")
    options.add_argument("--save", action="store_true", help="write benchmarks/results/training-MODEL-DEVICE.json")
    options.add_argument("--one", choices=sorted(ENGINES), help=argparse.SUPPRESS)
    options.add_argument("--sizes", help=argparse.SUPPRESS)
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Measure and print one table; 1 where packed and separate rows disagree."""
    arguments = _arguments(values)
    if arguments.one:
        print(json.dumps(measured(arguments.one, Sizes(**json.loads(arguments.sizes)))))  # noqa: T201
        return 0
    figures = measure_all(arguments.model, arguments.device, arguments.context, arguments.items)
    _paint(figures)
    if arguments.save:
        described = machine()
        described["packages"] |= {name: version(name) for name in PACKAGES}
        settings = {name: getattr(arguments, name) for name in ("model", "device", "context", "items")}
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"training-{arguments.model}-{arguments.device}.json"
        write_text(path, json.dumps({"settings": settings, "machine": described, "measures": figures}, indent=2) + "\n")
        note(f"written: {path}")
    exact = figures["exactness"]
    return 0 if max(exact["loss_difference"], exact["gradient_difference"]) < EXACT else 1


if __name__ == "__main__":
    run(main)
