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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import torch

from ontoground.files import atomic_path, private_directory, write_text
from ontoground.manifest import to_json
from training.corfu_stage import CorfuObjective, StageData, Values, pair_logps, summary
from training.dataset import MedievalDataset, Split
from training.decoders import base_of, check_decoder, check_sharing
from training.models import adapter_base, device_of, load_model, load_tokenizer, precision_of, save_model
from training.pairs import REGIMES, StagePairs, pair_items, stage_pairs
from training.run_folder import CHECKPOINTS, RECORD, open_run
from training.settings import CorfuSettings
from training.sft.record import software
from training.shared import SharedPolicy
from training.tokens import EncodedTexts, Truncation, encode_contexts, encode_statements
from training.trainer import restore_weights, train_packed

__all__ = ["Engine", "sweep_lambda", "train_corfu"]

Engine = Literal["shared", "trl"]
Advance = Callable[[int], None]
Progress = Callable[[str, int], Advance]
"""Called with the name and the number of steps of a piece of work; what it returns is told the steps that are done."""


@dataclass(frozen=True)
class _Texts:
    """The encoded texts of a run and where each is found."""

    contexts: EncodedTexts
    statements: EncodedTexts
    context_of: dict[int, int]
    statement_of: dict[str, int]
    truncation: Truncation


@dataclass(frozen=True)
class _Stage:
    number: int
    pairs: StagePairs
    data: StageData

    @property
    def name(self) -> str:
        return f"stage-{self.number}"


def _encode(dataset: MedievalDataset, tokenizer: Any, settings: CorfuSettings) -> _Texts:
    """Encode each distinct statement and each context of training and validation once.

    A packed row holds a context with both statements of a pair, so that contexts leave room for two of the longest.
    """
    texts = dataset.rows["statement"].unique().sort().to_list()
    statements = encode_statements(tokenizer, texts, end=True)
    used = dataset.rows.filter(pl.col(settings.split_column) != "test").select("hadm_id").unique()
    contexts = dataset.contexts.join(used, on="hadm_id", how="semi")
    room = settings.packing.max_length - 2 * int(statements.lengths.max())
    encoded, truncation = encode_contexts(tokenizer, contexts["context"].to_list(), max_tokens=room)
    return _Texts(
        contexts=encoded,
        statements=statements,
        context_of={hadm_id: index for index, hadm_id in enumerate(contexts["hadm_id"])},
        statement_of={text: index for index, text in enumerate(texts)},
        truncation=truncation,
    )


def _stages(dataset: MedievalDataset, texts: _Texts, pad_id: int, settings: CorfuSettings) -> list[_Stage]:
    column = settings.split_column
    there = set(dataset.rows[column].unique())
    found = []
    for number, stage in enumerate(REGIMES[settings.regime], 1):

        def pairs(split: Split, stage: Any = stage) -> StagePairs:
            rows = dataset.split_rows(split, column)
            return stage_pairs(rows, stage, pairs_per_winner=settings.pairs_per_winner, seed=settings.seed)

        training = pairs("train")
        items = [
            pair_items(part, texts.context_of, texts.statement_of)
            for part in (training, *([pairs("validation")] if "validation" in there else []))
        ]
        validation = items[1] if len(items) > 1 else []
        found.append(
            _Stage(number, training, StageData(texts.contexts, texts.statements, items[0], validation, pad_id))
        )
    return found


def _policy(model: str | Path, settings: CorfuSettings, engine: Engine) -> Any:
    hardware = settings.hardware
    attention: str | None = hardware.attention
    if attention == "auto":
        attention = "flex_attention" if engine == "shared" and device_of(hardware) == "cuda" else "sdpa"
    policy = load_model(
        model, "causal", hardware, lora=settings.lora, seed=settings.seed, attention=attention, trainable=True
    )
    if engine == "shared":
        check_decoder(base_of(policy).config)
        check_sharing(policy)
    if hardware.gradient_checkpointing:
        policy.gradient_checkpointing_enable({"use_reentrant": False})
        policy.enable_input_require_grads()
    return policy


def _kept(file: Path, compute: Callable[[], Values], processes: Any) -> Values:
    """Return the array in ``file``, computed and kept by the first process where it is not there."""
    with processes.main_process_first():
        if file.is_file():
            return np.load(file)  # type: ignore[no-any-return]
        values = compute()
        if processes.is_main_process:
            private_directory(file.parent)
            with atomic_path(file) as temporary, temporary.open("wb") as handle:
                np.save(handle, values)
        return values


def _run_shared(
    stage: _Stage, policy: Any, tokenizer: Any, folder: Path, settings: CorfuSettings, resume: bool, progress: Progress
) -> dict[str, Any]:
    """Train one stage on packed rows; returns its records and its validation."""
    from accelerate import PartialState

    data, module, budget = stage.data, SharedPolicy(policy), settings.packing.tokens_per_row
    autocast = precision_of(settings.hardware) == torch.bfloat16
    processes = PartialState(cpu=device_of(settings.hardware) == "cpu")

    def logps(items: Any, what: str) -> Values:
        advance = progress(f"{stage.name}: {what}", len(items))
        return pair_logps(module, data, items, budget, autocast=autocast, advance=advance)

    def reference(items: Any, name: str) -> Values:
        return _kept(folder / f"{stage.name}-{name}.npy", lambda: logps(items, name), processes)

    before = {part: reference(items, name) for part, items, name in (
        ("train", data.train, "reference"), ("validation", data.validation, "reference-validation"),
    )}  # fmt: skip
    plan = data.plan(settings)
    records = train_packed(
        module,
        tokenizer,
        data.run_data(data.train),
        plan,
        CorfuObjective(before["train"], settings.beta, settings.lambda_),
        folder / stage.name,
        optimizer=settings.optimizer,
        hardware=settings.hardware,
        seed=settings.seed,
        autocast=autocast,
        resume=resume,
        advance=progress(f"{stage.name}: training", len(plan)),
    )
    after = logps(data.validation, "validation")
    return {
        "validation": summary(after, before["validation"], settings.beta, settings.lambda_),
        "records": [{"step": record.step, **record.values} for record in records],
    }


def _run_trl(
    stage: _Stage, policy: Any, tokenizer: Any, folder: Path, settings: CorfuSettings, resume: bool, progress: Progress
) -> dict[str, Any]:
    from training.engine_trl import train_stage

    advance = progress(f"{stage.name}: training", len(stage.data.plan(settings)))
    return train_stage(stage.data, policy, tokenizer, folder / stage.name, settings, resume=resume, advance=advance)


RUNNERS = {"shared": _run_shared, "trl": _run_trl}


def _plan(dataset: MedievalDataset, model: str | Path, settings: CorfuSettings, engine: Engine) -> dict[str, Any]:
    """What makes two runs the same run."""
    local = Path(model)
    return {
        "kind": "corfu",
        "base_model": adapter_base(model) or (local.resolve().name if local.is_dir() else str(model)),
        "started_from": local.resolve().name if local.is_dir() else str(model),
        "dataset": {"name": dataset.folder.resolve().name, "manifest_sha256": dataset.manifest_sha256},
        "engine": engine,
        "settings": settings.model_dump(mode="json", by_alias=True),
    }


def _train_stages(
    stages: Sequence[_Stage],
    policy: Any,
    tokenizer: Any,
    folder: Path,
    settings: CorfuSettings,
    engine: Engine,
    resume: bool,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Train the stages in order; one that is done already is read back, with the weights at its end."""
    from accelerate import PartialState
    from transformers.trainer_utils import get_last_checkpoint

    done = [stage for stage in stages if (folder / f"{stage.name}.json").is_file()]
    if done:
        last = get_last_checkpoint(str(folder / done[-1].name / CHECKPOINTS))
        restore_weights(policy, Path(str(last)))
    processes = PartialState(cpu=device_of(settings.hardware) == "cpu")
    records = []
    for stage in stages:
        file = folder / f"{stage.name}.json"
        if stage in done:
            records.append(json.loads(file.read_text(encoding="utf-8")))
            continue
        found = RUNNERS[engine](stage, policy, tokenizer, folder, settings, resume, progress)
        record = {"stage": stage.pairs.stage.name, "pairs": stage.pairs.counts(), **found}
        records.append(record)
        if processes.is_main_process:
            write_text(file, to_json(record))
        processes.wait_for_everyone()
    return records


def _silent(_what: str, _total: int) -> Advance:
    return lambda _n: None


def train_corfu(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: CorfuSettings,
    *,
    engine: Engine = "shared",
    resume: bool = False,
    progress: Progress = _silent,
) -> dict[str, Any]:
    """Train a policy to prefer supported truths (MediEval, sections 3.3 and 4.3, appendix D) and write its run folder.

    Args:
        dataset: the dataset; pairs are made from its training split, and validated on its validation split.
        model: base model, or a run folder whose adapter goes on training.
        out: the run folder.
        settings: the paper's where left out.
        engine: ``shared`` (packed rows) or ``trl`` (`trl.DPOTrainer`, one pair a row, same tokens and pairs).
        resume: go on with the run in ``out``; one that is whole is left as it is.
        progress: is told what is done.

    Returns:
        What ``training.json`` holds.

    Raises:
        UsageError: ``out`` holds another run, the model cannot share contexts, or a pair does not fit a packed row.
        InputError: the model cannot be loaded, or a stage has no pair.
        TrainingError: the loss is no number, training diverges, or the GPU's memory is short.
    """
    from accelerate import PartialState

    processes = PartialState(cpu=device_of(settings.hardware) == "cpu")
    plan = _plan(dataset, model, settings, engine)
    with processes.main_process_first():
        whole = open_run(out, plan, resume=resume or not processes.is_main_process, writes=processes.is_main_process)
    if whole is not None:
        return whole
    tokenizer = load_tokenizer(model)
    texts = _encode(dataset, tokenizer, settings)
    stages = _stages(dataset, texts, tokenizer.pad_token_id, settings)
    policy = _policy(model, settings, engine)
    folder = out / CHECKPOINTS
    records = _train_stages(stages, policy, tokenizer, folder, settings, engine, resume, progress)
    record = {
        **plan,
        "licence_tier": dataset.licence_tier,
        "truncation": texts.truncation.as_dict(),
        "stages": records,
        "software": software(),
    }
    if processes.is_main_process:
        save_model(policy, tokenizer, out)
        _write_card(out, record)
        write_text(out / RECORD, to_json(record))
        shutil.rmtree(folder)
    processes.wait_for_everyone()
    return record


RULES = {
    "open": "The training data are open.",
    "credentialed": "The training data come from credentialed sources. The weights may hold parts of them: they stay "
    "under the data use agreements of those sources and are not to be published or shared outside them.",
}


def _write_card(out: Path, record: dict[str, Any]) -> None:
    settings = record["settings"]
    stages = "".join(
        f"| {stage['stage']} | {stage['pairs']['pairs']:,} | {len(stage['records']):,} | "
        f"{stage['records'][-1]['loss']:.4f} | {_number(stage['validation'], 'loss')} | "
        f"{_number(stage['validation'], 'accuracy')} | {_number(stage['validation'], 'negative')} |\n"
        for stage in record["stages"]
    )
    write_text(
        out / "README.md",
        f"""\
---
base_model: {record["base_model"]}
library_name: {"transformers" if settings["lora"]["r"] == 0 else "peft"}
pipeline_tag: text-generation
---
# CoRFu policy: supported truths preferred

Counterfactual risk-aware fine-tuning (Qu and Faerber, MediEval, section 3.3) of {record["started_from"]}.
For research: nothing here has been checked for use in care.

- Dataset: {record["dataset"]["name"]}, SHA-256 of its manifest {record["dataset"]["manifest_sha256"]}
- Regime {settings["regime"]}, beta {settings["beta"]}, lambda {settings["lambda"]}, seed {settings["seed"]}, \
engine {record["engine"]}
- Contexts cut to fit: {record["truncation"]["truncated"]:,} of {record["truncation"]["contexts"]:,}

| stage | pairs | steps | last loss | validation loss | margin > 0 | margin < 0 |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
{stages}
## Data
{RULES[record["licence_tier"]]}

All settings, losses and versions: `training.json`.
""",
    )


def _number(values: dict[str, Any], name: str) -> str:
    return f"{values[name]:.4f}" if name in values else "-"


def sweep_lambda(
    dataset: MedievalDataset,
    model: str | Path,
    out: Path,
    settings: CorfuSettings,
    lambdas: Sequence[float],
    *,
    engine: Engine = "shared",
    resume: bool = False,
    progress: Progress = _silent,
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
        record = train_corfu(dataset, model, out / run, changed, engine=engine, resume=resume, progress=progress)
        rows += [
            {"lambda": float(value), "run": run, "stage": stage["stage"], **stage["validation"]}
            for stage in record["stages"]
        ]
    table = pl.DataFrame(rows, infer_schema_length=None)
    with atomic_path(out / "lambda.tsv") as temporary:
        table.write_csv(temporary, separator="\t")
    return table
