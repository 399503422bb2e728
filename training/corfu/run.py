"""CoRFu training: stages one after the other, each against a frozen snapshot of the policy that it begins with.

A run folder holds the adapter (PEFT's format; the whole model at rank 0), the tokenizer, ``training.json`` and the card
``README.md``. While a run goes on, ``checkpoints/`` holds what its resumption needs: the reference's log-probabilities
of each stage, the Trainer's checkpoints, and the record of each stage that is done. It goes when the run is whole.
Every stage has an optimizer and a schedule of its own; the paper says that the updated model is reused, and no more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from evaluation.quadrants.dataset import MedievalDataset
from ground.flow.manifest import to_json
from ground.progress import progress as bars
from ground.storage.files import atomic_path, private_directory, write_text
from training.corfu.data import CorfuStage, CorfuTexts, corfu_stages, encode_texts, largest_row
from training.corfu.stage import LOGGED, CorfuObjective, Values, pair_logps, step_margins, summary
from training.packing.attention import attention_of, attention_of_texts
from training.packing.collate import collate_row
from training.packing.decoders import check_decoder, check_sharing
from training.packing.plan import Item
from training.packing.shared import SharedPolicy
from training.packing.trainer import train_packed
from training.runs.card import write_card
from training.runs.folder import (
    CHECKPOINTS,
    base_record,
    dataset_identity,
    drop_if_refused,
    finish_run,
    is_main,
    join_processes,
    machine_record,
    run_plan,
    start_run,
    wait_for_all,
)
from training.runs.memory import Estimate, estimate_memory, tell_memory
from training.runs.models import (
    adapter_base,
    device_of,
    dropout_note,
    load_config,
    load_model,
    load_tokenizer,
    lora_of,
    restore_weights,
    save_model,
    trained_weights,
    usable_length,
)
from training.runs.quiet import quiet
from training.runs.resuming import last_checkpoint, memory_errors
from training.runs.settings import CorfuSettings, HardwareSettings

__all__ = ["Engine", "sweep_lambda", "train_corfu"]

KIND = "corfu"
Engine = Literal["shared", "trl"]
Advance = Callable[[int], None]
Progress = Callable[[str, int], AbstractContextManager[Advance]]
"""Entered with the name and the number of steps of a piece of work; what it yields is told the steps that are done."""


def _loading(model: str | Path, settings: CorfuSettings, engine: Engine) -> tuple[HardwareSettings, str, bool]:
    """Return how the policy is loaded, its attention, and whether half precision is left to autocast."""
    attention = attention_of(settings.hardware) if engine == "shared" else attention_of_texts(settings.hardware)
    whole = settings.lora.r == 0 and adapter_base(model) is None
    hardware, autocast = trained_weights(settings.hardware, whole=whole)
    return hardware, attention, autocast


@dataclass(frozen=True)
class _Run:
    """What the stages of a run share."""

    policy: Any
    tokenizer: Any
    settings: CorfuSettings
    folder: Path
    autocast: bool
    resume: bool
    progress: Progress


def _kept(file: Path, compute: Callable[[], Values]) -> Values:
    """Return the array in ``file``; where it is not there, every process computes it and the first keeps it."""
    there = file.is_file()
    # Every process has looked before the first one writes.
    wait_for_all()
    if there:
        return np.load(file)  # type: ignore[no-any-return]
    values = compute()
    if is_main():
        private_directory(file.parent)
        with atomic_path(file) as temporary, temporary.open("wb") as handle:
            np.save(handle, values)
    return values


def _run_shared(stage: CorfuStage, run: _Run) -> dict[str, Any]:
    """Train one stage on packed rows; returns its records and its validation."""
    data, module, settings = stage.data, SharedPolicy(run.policy), run.settings

    def logps(items: list[Item], what: str) -> Values:
        with run.progress(f"{stage.name}: {what}", len(items)) as advance:
            budget = settings.packing.tokens_per_row
            return pair_logps(module, data, items, budget, autocast=run.autocast, advance=advance)

    def reference(items: list[Item], what: str) -> Values:
        return _kept(run.folder / f"{stage.name}-{what}.npy", lambda: logps(items, what))

    before = reference(data.train, "reference")
    before_validation = reference(data.validation, "reference-validation")
    plan = data.plan(settings)

    def margins() -> Values:
        return step_margins(module, data, plan[0], before, settings.beta, autocast=run.autocast)

    noise = _kept(run.folder / f"{stage.name}-noise.npy", margins)
    with run.progress(f"{stage.name}: training", len(plan)) as advance:
        records, measured = train_packed(
            module,
            run.tokenizer,
            data.run_data(data.train),
            plan,
            CorfuObjective(before, settings.beta, settings.lambda_),
            run.folder / stage.name,
            optimizer=settings.optimizer,
            hardware=settings.hardware,
            seed=settings.seed,
            autocast=run.autocast,
            resume=run.resume,
            advance=advance,
        )
    after = logps(data.validation, "validation")
    return {
        "validation": summary(after, before_validation, settings.beta, settings.lambda_),
        "records": [{"step": record.step, **record.values} for record in records],
        "noise": {"pairs": len(noise), "largest_margin": float(np.abs(noise).max())},
        "measured": measured.as_dict(),
    }


def _run_trl(stage: CorfuStage, run: _Run) -> dict[str, Any]:
    from training.corfu.engine_trl import train_stage

    folder = run.folder / stage.name
    with run.progress(f"{stage.name}: training", len(stage.data.plan(run.settings))) as advance:
        return train_stage(
            stage.data,
            run.policy,
            run.tokenizer,
            folder,
            run.settings,
            autocast=run.autocast,
            resume=run.resume,
            advance=advance,
        )


RUNNERS: dict[Engine, Callable[[CorfuStage, _Run], dict[str, Any]]] = {"shared": _run_shared, "trl": _run_trl}


def _train_stages(stages: Sequence[CorfuStage], run: _Run, engine: Engine) -> list[dict[str, Any]]:
    """Train the stages in order; one that is done already is read back, with the weights at its end."""
    files = [run.folder / f"{stage.name}.json" for stage in stages]
    records = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()]
    if records:
        restore_weights(
            run.policy, Path(str(last_checkpoint(run.folder / stages[len(records) - 1].name / CHECKPOINTS)))
        )
    wait_for_all()
    for stage, file in list(zip(stages, files, strict=True))[len(records) :]:
        found = RUNNERS[engine](stage, run)
        records.append({"stage": stage.pairs.stage.name, "pairs": stage.pairs.counts(), **found})
        if is_main():
            write_text(file, to_json(records[-1]))
        wait_for_all()
    return records


def train_corfu(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: CorfuSettings,
    *,
    engine: Engine = "shared",
    resume: bool = False,
    progress: Progress = bars,
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Train a policy to prefer supported truths (MediEval, sections 3.3 and 4.3, appendix D) and write its run folder.

    Args:
        dataset: the dataset; pairs are made from its training split, and validated on its validation split.
        model: base model, or a run folder whose adapter goes on training.
        out: the run folder.
        settings: the paper's where left out.
        engine: ``shared`` (packed rows) or ``trl`` (`trl.DPOTrainer`, one pair a pass, same tokens and pairs).
        resume: go on with the run in ``out``; one that is whole is left as it is.
        progress: shows what is done.
        say: takes the memory estimate (of the engine ``shared``) and other messages.

    Returns:
        What ``training.json`` holds.

    Raises:
        UsageError: ``out`` holds another run, the model cannot share contexts, or a pair does not fit a packed row.
        InputError: the model cannot be loaded, or a stage has no pair.
        TrainingError: the loss is no number, training diverges, or memory is short.
    """
    join_processes(device_of(settings.hardware))
    settings = settings.model_copy(update={"lora": lora_of(model, settings.lora)})
    plan = run_plan(KIND, model, dataset_identity(dataset), settings, engine=engine)
    if (whole := start_run(out, plan, resume=resume)) is not None:
        return whole
    with drop_if_refused(out), quiet():
        tokenizer = load_tokenizer(model)
        if engine == "shared":
            check_decoder(load_config(model))
        max_length = usable_length(load_config(model), settings.packing.max_length)
        texts = encode_texts(dataset, tokenizer, settings, max_length)
        stages = corfu_stages(dataset, texts, tokenizer.pad_token_id, settings)
        hardware, attention, autocast = _loading(model, settings, engine)
        memory = _memory(stages, model, settings, hardware, attention, autocast) if engine == "shared" else None
        if memory is not None:
            tell_memory(memory, settings.hardware, say)
        with memory_errors("set hardware.quantize = 'nf4', or choose a smaller base model"):
            policy = load_model(
                model, "causal", hardware, lora=settings.lora, seed=settings.seed, attention=attention, trainable=True
            )
        if say is not None and is_main() and (note := dropout_note(policy, settings.lora)):
            say(note)
        if engine == "shared":
            check_sharing(policy)
        run = _Run(policy, tokenizer, settings, out / CHECKPOINTS, autocast, resume, progress)
        records = _train_stages(stages, run, engine)
        record = plan | _findings(run, dataset, texts, records)
        record["memory"] = memory.as_dict() if memory is not None else None

        def write(folder: Path) -> None:
            save_model(policy, tokenizer, folder)
            write_card(folder, record)

        return finish_run(out, record, write)


def _memory(
    stages: Sequence[CorfuStage],
    model: str | Path,
    settings: CorfuSettings,
    hardware: HardwareSettings,
    attention: str,
    autocast: bool,
) -> Estimate:
    data, plan = largest_row(stages, settings)
    row, _, _ = collate_row(plan, data.train, data.contexts, data.statements)
    return estimate_memory(
        str(model),
        "causal",
        lambda policy: SharedPolicy(policy)(row).sum(),
        settings.lora,
        hardware,
        attention=attention,
        autocast=autocast,
        sizes=row.sizes,
    )


def _findings(
    run: _Run, dataset: MedievalDataset, texts: CorfuTexts, records: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "licence_tier": dataset.licence_tier,
        **base_record(run.policy),
        "seed": run.settings.seed,
        "rows": {f"pairs of {stage['stage']}": stage["pairs"]["pairs"] for stage in records},
        "truncation": texts.truncation.as_dict(),
        "machine": machine_record(run.policy, run.settings.hardware, autocast=run.autocast),
        "steps": sum(len(stage["records"]) for stage in records),
        "stages": list(records),
    }


def sweep_lambda(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: CorfuSettings,
    lambdas: Sequence[float],
    *,
    engine: Engine = "shared",
    resume: bool = False,
    progress: Progress = bars,
    say: Callable[[str], None] | None = None,
) -> pl.DataFrame:
    """Train one run for each lambda (appendix F), into ``out/lambda-VALUE``; lambda 0 is DPO.

    Returns:
        The table that ``out/lambda.tsv`` holds: lambda, run, stage, validation pairs, loss and logged values. Losses
        of different lambdas are not comparable, the other columns are.
    """
    rows = []
    for value in lambdas:
        run = f"lambda-{value:g}"
        changed = settings.model_copy(update={"lambda_": value})
        record = train_corfu(
            dataset, model, out / run, changed, engine=engine, resume=resume, progress=progress, say=say
        )
        rows += [
            {
                "lambda": float(value),
                "run": run,
                "stage": stage["stage"],
                **{name: stage["validation"].get(name) for name in ("pairs", "loss", *LOGGED)},
            }
            for stage in record["stages"]
        ]
    table = pl.DataFrame(rows, infer_schema_length=None)
    with atomic_path(out / "lambda.tsv") as temporary:
        table.write_csv(temporary, separator="\t")
    return table
