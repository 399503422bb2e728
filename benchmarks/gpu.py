"""Everything that only a card can tell: exactness, memory, speed and share of the matrix rate, part by part.

``make gpu`` runs the parts in order, each in a process of its own and within a limit of its own. What a part has found
is kept at once in ``benchmarks/results/gpu-PART.json``: a run that was stopped, or whose time was up, goes on with the
parts that are left. What another card has found is not this one's, and is found again. Without a card it says so and
does nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import parser, run
from benchmarks.measuring import RESULTS, machine
from benchmarks.training import MODELS, PACKAGES, Sizes, matrix_rate, measured, random_model
from benchmarks.whole_runs import VERBS, whole_run
from ground.errors import InputError
from ground.lm.tiny import tiny_tokenizer
from ground.storage.files import private_directory, write_text
from ontoground.cli.render import note

__all__ = ["PARTS", "main"]

CONTEXT, STATEMENT, ITEMS = 4096, 25, 16
ROWS, ANSWER, SAMPLED = 2, 512, 128
"""Rows of one text each that MedHal and GRPO read at once, and the tokens of one that are learnt, and sampled."""
LOGS = Path("work/gpu")
"""What parts that failed wrote."""
DATASETS = Path("work/demo/datasets")
"""The open world's datasets (``make demo``) that are trained on."""
WORLD = DATASETS / "medieval"
NOISE = 3.0
"""Packed rows may differ from separate ones by this many times what separate ones differ by among themselves."""


@dataclass(frozen=True)
class Part:
    """One part: how long it may take, what finds its figures on a device, and the folder that it needs, if any."""

    seconds: int
    work: Callable[[str], dict[str, Any]]
    needs: Path | None = None


def masks(device: str) -> dict[str, Any]:
    """Compare compiled FlexAttention with SDPA under the dense mask: outputs and gradients, relative differences.

    Rows of several lengths, as runs have them: the second makes kernels for any length, which the third uses.
    """
    import numpy as np
    import torch
    from torch.nn.attention.flex_attention import flex_attention

    from training.packing.attention import attention_mask, visible
    from training.packing.collate import packed_row

    numbers = np.random.default_rng(0)
    compiled, differences = torch.compile(flex_attention), {}
    for contexts in (900, 300), (1500, 300), (1100, 800):
        groups = [(numbers.integers(3, 90, n), list(numbers.integers(3, 90, (ITEMS, STATEMENT)))) for n in contexts]
        row = packed_row(groups, multiple=128).to(device)
        block, dense = attention_mask(row, "flex_attention", torch.float32), visible(row)[None, None]
        drawn = torch.randn(3, 1, 4, dense.shape[-1], 64, generator=torch.Generator().manual_seed(0))
        for dtype in (torch.float32, torch.bfloat16):
            wide = drawn.to(device, dtype).requires_grad_(device == "cuda")
            query, key, value = wide
            outputs = [compiled(query, key, value, block_mask=block)]
            outputs.append(torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=dense))
            name = f"{sum(contexts)}_{dtype}".replace("torch.", "")
            differences[f"{name}_output"] = _difference(*outputs)
            if device == "cuda":
                gradients = [torch.autograd.grad(output.float().square().sum(), wide)[0] for output in outputs]
                differences[f"{name}_gradient"] = _difference(*gradients)
    return differences


def _difference(values: Any, other: Any) -> float:
    return float(((values.double() - other.double()).norm() / other.double().norm()).detach())


def packed(device: str, shape: str, quantize: str) -> dict[str, Any]:
    """Compare log-probabilities of packed rows with those of separate ones, and these with themselves when padded."""
    import torch

    from training.packing.attention import attention_of
    from training.packing.collate import packed_row
    from training.packing.shared import SharedPolicy
    from training.runs.models import load_model
    from training.runs.settings import HardwareSettings

    hardware = HardwareSettings.model_validate({"device": device, "quantize": quantize})
    sizes = Sizes(shape, device, 600, STATEMENT, 4, 1)
    model, tokens = random_model(sizes, "causal", attention_of(hardware)), torch.Generator().manual_seed(0)
    if quantize != "none":
        with tempfile.TemporaryDirectory() as folder:
            model.unload().save_pretrained(folder)
            tiny_tokenizer(["a patient record and a statement"], Path(folder))
            model = load_model(folder, "causal", hardware, attention=attention_of(hardware))
    context = torch.randint(3, 1000, (sizes.context,), generator=tokens).numpy()
    parts = [torch.randint(3, 1000, (STATEMENT,), generator=tokens).numpy() for _ in range(sizes.n_items)]
    policy = SharedPolicy(model.eval())

    def logps(statements: list[Any], multiple: int) -> Any:
        with torch.no_grad():
            return policy(packed_row([(context, statements)], multiple=multiple).to(device))

    together = logps(parts, 128)
    separate = torch.cat([logps([part], 128) for part in parts])
    padded = torch.cat([logps([part], 1024) for part in parts])
    figures = {"difference": _difference(together, separate), "noise": _difference(padded, separate)}
    return {**figures, "within_noise": figures["difference"] <= max(1e-3, NOISE * figures["noise"])}


def speed(device: str, shape: str, name: str) -> dict[str, Any]:
    """Time steps of one engine behind a context of 4,096 tokens: items and tokens a second, memory, share of the rate.

    Activations are computed again where a row has one statement (16,000 tokens at once would not fit), as trl does by
    itself; packed rows fit without, and their layers are compiled, as runs choose for themselves.

    The share counts products with the weights and attention, 2 FLOP each, forward and once backward (the weights below
    an adapter have no gradient); what is computed again is not counted.
    """
    apart = name.endswith(("plain", "trl"))
    context, items, steps = (CONTEXT, ITEMS, 2 if apart else 4) if device == "cuda" else (200, 2, 1)
    sizes = Sizes(shape, device, context, STATEMENT, items, steps, recompute=apart)
    figures = measured(name, sizes)
    per_item = STATEMENT * (2 if name.startswith("corfu") else 1)
    rows = sizes.n_items if apart else 1
    # trl and the plain engine read the context for each statement.
    copies = rows * (2 if name == "corfu_trl" else 1)
    tokens = (copies if rows > 1 else 1) * sizes.context + sizes.n_items * per_item
    passes = 3 if name.startswith("corfu") else 2
    flop = passes * _forward_flop(shape, sizes.context) * tokens
    return {
        **figures,
        "items_per_second": figures["items"] / figures["seconds"],
        "tokens_per_second": tokens / figures["seconds"],
        "share_of_matrix_rate": flop / figures["seconds"] / matrix_rate(device),
    }


def texts(device: str, shape: str, *, grpo: bool) -> dict[str, Any]:
    """Time MedHal's or GRPO's step on rows of one text: tokens a second, memory, share of the matrix rate (`speed`).

    The step is the one that runs estimate and rehearse, with AdamW behind it. GRPO samples the answers before, and asks
    the reference, which is the model without its adapter. Weights are bfloat16, the adapter's products too, as trl's
    trainers take them, and the attention is SDPA.
    """
    import torch
    from transformers import GenerationConfig

    from ground.lm.sampling import sampled
    from training.runs.models import evaluating
    from training.runs.resuming import peak_memory
    from training.runs.text_runs import add_head, texts_step

    tokens, answer, sampled_tokens, times = (CONTEXT, ANSWER, SAMPLED, 3) if device == "cuda" else (200, 8, 8, 1)
    model = random_model(Sizes(shape, device, tokens, STATEMENT, ROWS, 1, recompute=True), "causal", "sdpa")
    add_head(model)
    step = texts_step(ROWS, tokens, answer)
    optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad], lr=1e-5)

    def learn() -> None:
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            if grpo:
                with torch.no_grad(), model.disable_adapter():
                    step(model)
            loss = step(model.train())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    how = GenerationConfig(
        max_new_tokens=sampled_tokens, min_new_tokens=sampled_tokens, do_sample=True, pad_token_id=0, eos_token_id=2
    )  # fmt: skip
    prompts = [[3] * (tokens - answer)] * ROWS

    def sample() -> None:
        with evaluating(model):
            list(sampled(model, prompts, how, ROWS))

    seconds = _median_seconds(learn, times, device)
    figures = {"seconds": seconds, "tokens_per_second": ROWS * tokens / seconds}
    if grpo:
        figures["sampled_tokens_per_second"] = ROWS * sampled_tokens / _median_seconds(sample, 1, device)
    flop = (3 if grpo else 2) * _forward_flop(shape, tokens) * ROWS * tokens
    share = flop / seconds / matrix_rate(device)
    return {**figures, "peak_bytes": peak_memory(device), "share_of_matrix_rate": share}


def _median_seconds(work: Callable[[], None], times: int, device: str) -> float:
    """Time work after a first run, which makes buffers and kernels that stay."""
    import torch

    seconds = []
    for _ in range(times + 1):
        begin = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return float(median(seconds[1:]))


def learning(_device: str) -> dict[str, Any]:
    """Do the study of `benchmarks.learning`; what is trained is used again."""
    from benchmarks.learning import STUDY, main

    if main(["--workspace", str(DATASETS.parent)]):
        raise InputError("the study did not end", found="a cell failed", do=f"see {DATASETS.parent}/studies")
    report = DATASETS.parent / "studies" / STUDY.stem / "report" / "quadrants" / "report.json"
    kept = ("name", "kind", "seeds", "metrics")
    return {"models": [{key: model[key] for key in kept} for model in json.loads(report.read_bytes())["models"]]}


def _forward_flop(shape: str, context: int) -> float:
    """Return the FLOP of one token's forward pass: two for each weight, and causal attention over the context."""
    of = MODELS[shape]
    hidden, layers, heads = of["hidden_size"], of["num_hidden_layers"], of["heads"]
    shared = (heads // 4 if heads > 8 else heads // 2) / heads
    weights = layers * ((2 + 2 * shared) * hidden**2 + 3 * hidden * of["intermediate_size"])
    return 2 * weights + layers * 4 * hidden * context / 2


def _shape(shape: str) -> dict[str, Part]:
    """Return the parts that time the steps of a shape."""
    engines = ("classifier_shared", "corfu_shared", "classifier_plain", "corfu_trl")
    packed_steps = {name.replace("_", "-"): Part(120, partial(speed, shape=shape, name=name)) for name in engines}
    text_steps = {name: Part(90, partial(texts, shape=shape, grpo=name == "grpo")) for name in ("medhal", "grpo")}
    return {f"{name}-{shape}": part for name, part in {**packed_steps, **text_steps}.items()}


def _run(verb: str) -> Part:
    dataset = DATASETS / ("medhal" if verb == "medhal" else "medieval")
    return Part(180, partial(whole_run, verb=verb, dataset=dataset), needs=dataset)


PARTS: dict[str, Part] = {
    "masks": Part(90, masks),
    "packed-bfloat16": Part(60, partial(packed, shape="0.5b", quantize="none")),
    "packed-nf4": Part(60, partial(packed, shape="0.5b", quantize="nf4")),
    **{f"run-{verb}": _run(verb) for verb in VERBS},
    **_shape("8b"),
    **_shape("1b"),
    **_shape("0.5b"),
    **_shape("qwen3-8b"),
    "learning": Part(420, learning, needs=WORLD),
}
"""What is measured, the most telling first."""


def _path(name: str, results: Path) -> Path:
    return results / f"gpu-{name}.json"


def _begun(name: str, device: str) -> subprocess.Popen[str]:
    """Begin a part in a process of its own, which waits for a line once it has imported what it needs."""
    command = [sys.executable, "-m", "benchmarks.gpu", "--one", name, "--device", device]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _in_time(name: str, process: subprocess.Popen[str], seconds: float) -> dict[str, Any]:
    """Let a part go on, and return what it has found; what went wrong, or took too long, is what was found."""
    begin, log = time.perf_counter(), LOGS / f"{name}.log"
    try:
        out, errors_text = process.communicate("go\n", timeout=seconds)
        errors = [line for line in errors_text.splitlines() if re.match(r"[\w.]*(Error|Exception|Interrupt)\b", line)]
        failed = (errors or ["no message"])[-1] if process.returncode else None
    except subprocess.TimeoutExpired:
        process.kill()
        out, errors_text = process.communicate()
        failed = f"not done in {seconds:.0f} s"
    if failed:
        private_directory(LOGS)
        write_text(log, errors_text)
        return {"failed": failed, "log": str(log)}
    figures = dict(json.loads(out.strip().splitlines()[-1]))
    return figures | {"part_seconds": round(time.perf_counter() - begin, 1)}


def _alone(name: str, device: str) -> dict[str, Any]:
    """Run one part here, when it is its turn; the device is not touched before."""
    import training.classifier.train
    import training.corfu.engine_trl  # noqa: F401
    from training.runs.processes import prepare_device

    if not sys.stdin.readline():
        raise SystemExit("the run that this part belongs to is over")
    if name != "masks":
        # These compare float32 as it is.
        prepare_device(device)
    return PARTS[name].work(device)


def _card(device: str) -> str | None:
    import torch

    return torch.cuda.get_device_name() if device == "cuda" else None


def _described(device: str) -> dict[str, Any]:
    described = machine()
    described["packages"] |= {name: version(name) for name in PACKAGES}
    return described | {"card": _card(device)}


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser("gpu", __doc__ or "", "make gpu", "python -m benchmarks.gpu --parts masks packed-nf4 --again")
    options.add_argument("--parts", nargs="+", choices=sorted(PARTS), metavar="PART", help="these parts only")
    options.add_argument("--again", action="store_true", help="measure parts again that are there")
    options.add_argument("--minutes", type=float, default=10, help="no part begins that could end later (default 10)")
    options.add_argument("--results", type=Path, default=RESULTS, help="folder of the figures")
    options.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu tries the program itself")
    options.add_argument("--one", choices=sorted(PARTS), help=argparse.SUPPRESS)
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Run the parts that are left; 1 where one failed."""
    import torch

    given = _arguments(values)
    if given.device == "cuda" and not torch.cuda.is_available():
        note("skipped: there is no CUDA device here, and nothing was measured")
        return 0
    if given.one:
        print(json.dumps(_alone(given.one, given.device)))  # noqa: T201
        return 0
    return int(not _measured(_left(given), given))


def _left(given: argparse.Namespace) -> list[str]:
    """Return the parts that are to be measured."""
    chosen, card = [name for name in PARTS if name in (given.parts or PARTS)], _card(given.device)

    def kept(file: Path) -> bool:
        return file.is_file() and json.loads(file.read_text(encoding="utf-8"))["machine"].get("card") == card

    left = [name for name in chosen if given.again or not kept(_path(name, given.results))]
    for name in list(left):
        needs = PARTS[name].needs
        if needs is not None and not needs.is_dir():
            command = "make demo" if needs == WORLD else "ontoground build medhal --sources mimic --workspace work/demo"
            note(f"{name}: skipped, since {needs} is not there ({command})")
            left.remove(name)
    return left


def _measured(left: list[str], given: argparse.Namespace) -> bool:
    """Measure parts one after the other, while the one that follows imports; says whether all went well."""
    given.results.mkdir(parents=True, exist_ok=True)
    ends, well = time.monotonic() + 60 * given.minutes, True
    waiting = [_begun(name, given.device) for name in left[:1]]
    for at, name in enumerate(left):
        process = waiting.pop()
        waiting += [_begun(after, given.device) for after in left[at + 1 : at + 2]]
        if time.monotonic() + PARTS[name].seconds > ends:
            note(f"{name}: left for the next call, since it may take {PARTS[name].seconds} s")
            process.kill()
            continue
        figures = _in_time(name, process, PARTS[name].seconds)
        note(f"{name}: {json.dumps(figures)}")
        if "failed" in figures:
            well = False
            continue
        record = {"device": given.device, "machine": _described(given.device), "figures": figures}
        write_text(_path(name, given.results), json.dumps(record, indent=2) + "\n")
    return well


if __name__ == "__main__":
    run(main)
