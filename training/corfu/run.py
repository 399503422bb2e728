"""CoRFu training: stages one after the other, each against a frozen snapshot of the policy that it begins with.

A run folder holds the adapter (PEFT's format; the whole model at rank 0), the tokenizer, ``training.json`` and the card
``README.md``. While a run goes on, ``checkpoints/`` holds what its resumption needs: the reference's log-probabilities
of each stage, the Trainer's checkpoints, and the record of each stage that is done. It goes when the run is whole.
Every stage has an optimizer and a schedule of its own; the paper says that the updated model is reused, and no more.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, Literal

import numpy as np
import polars as pl

from evaluation.datasets import MedievalDataset
from ground.flow.manifest import to_json
from ground.progress import progress
from ground.storage.files import atomic_path, private_directory, write_text
from training.corfu.stage import (
    LOGGED,
    CorfuObjective,
    CorfuStage,
    Policy,
    Values,
    corfu_stages,
    pair_logps,
    step_margins,
    summary,
)
from training.packing.attention import attention_of
from training.packing.collate import RunData
from training.packing.decoders import check_decoder, check_sharing
from training.packing.packed_rows import largest_row, plan_steps
from training.packing.shared import SharedPolicy
from training.packing.trainer import SHORT_OF_MEMORY, train_packed
from training.runs.folder import CHECKPOINTS, Run, open_run
from training.runs.models import (
    implementation_of,
    load_config,
    load_tokenizer,
    restore_weights,
    save_model,
    usable_length,
)
from training.runs.processes import is_main, wait_for_all
from training.runs.resuming import last_checkpoint
from training.runs.settings import CorfuSettings
from training.runs.text_runs import texts_attention

__all__ = ["Engine", "sweep_lambda", "train_corfu"]

KIND = "corfu"
Engine = Literal["shared", "trl"]


def train_corfu(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: CorfuSettings,
    *,
    engine: Engine = "shared",
    resume: bool = False,
    say: Callable[[str], None] | None = None,
    references: Path | None = None,
) -> dict[str, Any]:
    """Train a policy to prefer supported truths (MediEval, sections 3.3 and 4.3, appendix D) and write its run folder.

    Args:
        dataset: the dataset; pairs are made from its training split, and validated on its validation split.
        model: base model, or a run folder whose adapter goes on training: of a policy, of a detector or validator, or
            of a classifier, whose head is left out. The paper starts from the base model, which is then the reference
            too; an adapter that goes on is the reference as it was given.
        out: the run folder; ``settings``, ``resume``, ``say``, result and errors as of `open_run`.
        engine: ``shared`` (packed rows) or ``trl`` (`trl.DPOTrainer`, one pair a pass, same tokens and pairs).
        references: a folder in which runs that differ in lambda alone keep what the first stage's reference says.
    """
    with open_run(KIND, model, out, dataset.identity, settings, resume=resume, say=say, engine=engine) as run:
        if run.whole is not None:
            return run.whole
        tokenizer, config = load_tokenizer(model), load_config(model)
        if engine == "shared":
            check_decoder(config)
        length = usable_length(config, settings.packing.max_length)
        stages, truncation = corfu_stages(dataset, tokenizer, settings, length)
        attention = attention_of(settings.hardware) if engine == "shared" else texts_attention(settings.hardware)[0]
        if engine == "shared":
            data = [stage.train for stage in stages]
            rows = [largest_row(part, plan_steps(part, settings, attention), attention) for part in data]
            row = max(rows, key=lambda row: (row.input_ids.numel(), len(row.targets)))
            run.estimate(
                "causal",
                lambda policy: SharedPolicy(policy)(row.to(policy.device)).sum(),
                SHORT_OF_MEMORY,
                choose_later=True,
                attention=attention,
            )
        policy = run.load("causal", attention=attention, lora=run.settings.lora)
        if engine == "shared":
            check_sharing(policy)
            run.compile(policy)
            run.rehearse(policy)
        records = _train_stages(stages, Policy(policy, tokenizer, run, _of_run(references, run)), engine)
        results = {
            "rows": {f"pairs of {stage['stage']}": stage["pairs"]["pairs"] for stage in records},
            "truncation": truncation.as_dict(),
            "steps": sum(len(stage["records"]) for stage in records),
            "stages": records,
        }
        return run.finish(policy, results, partial(save_model, policy, tokenizer))


def _of_run(references: Path | None, run: Run) -> Path:
    """Return the folder of what the first reference says: the same for runs that differ in lambda alone."""
    alike = {**run.plan, "settings": {**run.plan["settings"], "lambda": None}}
    return references / sha256(to_json(alike).encode()).hexdigest()[:16] if references else run.checkpoints


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


def _run_shared(stage: CorfuStage, policy: Policy) -> dict[str, Any]:
    """Train one stage on packed rows; returns its records and its validation."""
    run, settings, autocast = policy.run, policy.run.settings, policy.run.weights[1]
    module, budget = policy.shared, settings.packing.tokens_per_row
    # The first stage's reference is the policy as it was given, whatever the lambda.
    kept = policy.references if stage.name == "stage-1" else run.checkpoints

    def logps(data: RunData, what: str) -> Values:
        with progress(f"{stage.name}: {what}", len(data.items)) as advance:
            return pair_logps(module, data, budget, autocast=autocast, advance=advance)

    def reference(data: RunData, what: str) -> Values:
        return _kept(kept / f"{stage.name}-{what}.npy", lambda: logps(data, what))

    plan = plan_steps(stage.train, settings, implementation_of(policy.model))
    begin, rehearsed = monotonic(), plan[: settings.hardware.rehearsal or None]
    if settings.hardware.rehearsal:
        # The reference of what is rehearsed alone: that of all pairs takes a third of a run.
        before, own = np.zeros((len(stage.train.items), 2)), sorted({item for step in rehearsed for item in step.items})
        before[own] = logps(replace(stage.train, items=[stage.train.items[at] for at in own]), "reference")
    else:
        before = reference(stage.train, "reference")
    seconds_a_step = (monotonic() - begin) / len(rehearsed)
    before_validation = reference(stage.validation, "reference-validation")
    noise = _kept(
        kept / f"{stage.name}-noise.npy",
        lambda: step_margins(module, stage.train, plan[0], before, settings.beta, autocast=autocast),
    )
    objective = CorfuObjective(before, settings.beta, settings.lambda_)
    options: dict[str, Any] = {"autocast": autocast, "resume": run.resume}
    with progress(f"{stage.name}: training", len(plan)) as advance:
        records, measured = train_packed(
            module, policy.tokenizer, stage.train, plan, objective, run.checkpoints / stage.name,
            settings, advance=advance, **options,
        )  # fmt: skip
    measured["seconds_a_step"] += seconds_a_step
    after = logps(stage.validation, "validation")
    return {
        "validation": summary(after, before_validation, settings.beta, settings.lambda_),
        "records": records,
        "noise": {"pairs": len(noise), "largest_margin": float(np.abs(noise).max())},
        "measured": measured,
    }


def _train_stages(stages: Sequence[CorfuStage], policy: Policy, engine: Engine) -> list[dict[str, Any]]:
    """Train the stages in order; one that is done already is read back, with the weights at its end."""
    train_stage = _run_shared
    if engine == "trl":
        from training.corfu.engine_trl import train_stage
    folder = policy.run.checkpoints
    files = [folder / f"{stage.name}.json" for stage in stages]
    records = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()]
    if records:
        done = last_checkpoint(folder / stages[len(records) - 1].name / CHECKPOINTS)
        restore_weights(policy.model, Path(str(done)))
    wait_for_all()
    for stage, file in list(zip(stages, files, strict=True))[len(records) :]:
        measured = train_stage(stage, policy)
        records.append({"stage": stage.pairs.stage.name, "pairs": stage.pairs.counts(), **measured})
        if is_main():
            write_text(file, to_json(records[-1]))
        wait_for_all()
    return records


def sweep_lambda(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: CorfuSettings,
    lambdas: Sequence[float],
    *,
    engine: Engine = "shared",
    resume: bool = False,
    say: Callable[[str], None] | None = None,
) -> pl.DataFrame:
    """Train one run for each lambda (appendix F), into ``out/lambda-VALUE``; lambda 0 is DPO.

    What the reference of the first stage says is the same for all, and computed once.

    Returns:
        The table that ``out/lambda.tsv`` holds: lambda, run, stage, validation pairs, loss and logged values. Losses
        of different lambdas are not comparable, the other columns are.
    """
    rows, references = [], out / "references"
    for value in lambdas:
        run = f"lambda-{value:g}"
        changed = settings.model_copy(update={"lambda_": value})
        same: dict[str, Any] = {"engine": engine, "resume": resume, "say": say}
        record = train_corfu(dataset, model, out / run, changed, references=references, **same)
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
    if is_main():
        shutil.rmtree(references, ignore_errors=True)
        with atomic_path(out / "lambda.tsv") as temporary:
            table.write_csv(temporary, separator="\t")
    return table
