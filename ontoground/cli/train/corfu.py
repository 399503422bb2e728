"""``ontoground train corfu``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from ontoground.cli.options import Result, verb
from ontoground.cli.render import note
from ontoground.cli.runs import require_packages, short_name
from ontoground.cli.train.options import (
    PACKAGES,
    OnDataset,
    Run,
    Seeds,
    group,
    name_of_seeds,
    require_decoder,
    seeds_of,
    state_of,
    steps_of,
    trained,
)

if TYPE_CHECKING:
    from evaluation.datasets import MedievalDataset
    from training.runs.settings import CorfuSettings

__all__ = ["Corfu", "corfu"]


@dataclass(frozen=True, kw_only=True)
class Corfu(OnDataset):
    """Options of the verb."""

    engine: Annotated[
        Literal["auto", "shared", "trl"],
        Option(help="shared (auto): a context is encoded once for all its pairs; trl: trl's DPOTrainer (a yardstick)"),
    ] = "auto"
    regime: Annotated[
        Literal["q1_q2", "q1_q3", "q1_q4", "mixed", "curriculum"] | None,
        Option(help="Quadrants that Q1 is preferred to; default: as in the settings"),
    ] = None
    lambdas: Annotated[
        list[float] | None,
        Option(
            "--lambda", min=0, metavar="NUMBER", help="Weight of the penalty; 0 is DPO; several values make a sweep"
        ),
    ] = None
    seeds: Seeds = None


@verb(
    group,
    "CoRFu, a risk-aware DPO: supported truths are preferred.",
    "ontoground --hub train corfu --model Qwen/Qwen3-8B --regime q1_q2",
    "ontoground --hub train corfu --model Qwen/Qwen3-8B --lambda 0 --lambda 0.5",
    "ontoground --hub train corfu --model Qwen/Qwen3-8B --seeds 42,43,44",
)
def corfu(options: Corfu) -> Result:
    """Train a policy by CoRFu to prefer supported truths (Q1) to statements of other quadrants.

    docs/training.md explains how the policy names quadrants afterwards.
    """
    engine: Literal["shared", "trl"] = "trl" if options.engine == "trl" else "shared"
    require_packages(*PACKAGES, *(["trl"] if engine == "trl" else []))
    from training.runs.settings import CorfuSettings

    model, resume = options.model, options.resume
    lambdas = list(dict.fromkeys(options.lambdas or ()))
    weight_override = [f"lambda={value}" for value in lambdas if len(lambdas) == 1]
    settings = options.settings(
        CorfuSettings, *([f"regime={options.regime}"] if options.regime else []), *weight_override
    )
    seeds = seeds_of(options.seeds) or [settings.seed]
    require_decoder(model, "CoRFu")
    from evaluation.datasets import MedievalDataset

    dataset = MedievalDataset.open(options.data("medieval"))
    # Late, since it takes seconds, and what is wrong is said before.
    from training.corfu.run import sweep_lambda, train_corfu
    from training.runs.folder import read_run
    from training.runs.processes import is_main

    weight = "sweep" if len(lambdas) > 1 else f"lambda{settings.lambda_:g}"
    out = options.folder("corfu", short_name(model), settings.regime, weight, name_of_seeds(seeds))
    runs: list[Run] = []
    for seed in seeds:
        own = settings.model_copy(update={"seed": seed})
        folder = out / f"seed-{seed}" if len(seeds) > 1 else out
        if is_main():
            note(f"CoRFu on {model}, engine {engine}, {_ahead(dataset, own, lambdas)}")
        folders = [folder / f"lambda-{value:g}" for value in lambdas] if len(lambdas) > 1 else [folder]
        states = [state_of(run) for run in folders]
        if len(lambdas) > 1:
            sweep_lambda(dataset, model, folder, own, lambdas, engine=engine, resume=resume, say=note)
        else:
            train_corfu(dataset, model, folder, own, engine=engine, resume=resume, say=note)
        runs += [(run, read_run(run, "corfu"), state) for run, state in zip(folders, states, strict=True)]
    return trained(options, "corfu", dataset.folder, engine, out, runs)


def _ahead(dataset: MedievalDataset, settings: CorfuSettings, lambdas: Sequence[float]) -> str:
    from training.corfu.pairs import REGIMES, stage_pairs

    rows = dataset.split_rows("train", settings.split_column)
    parts = []
    for stage in REGIMES[settings.regime]:
        pairs = stage_pairs(rows, stage, pairs_per_winner=settings.pairs_per_winner, seed=settings.seed).table.height
        steps = steps_of(pairs, settings.batch_size, settings.epochs)
        parts.append(f"{stage.name}: {pairs:,} pairs, {steps:,} steps of {settings.batch_size}")
    weights = ", ".join(f"{value:g}" for value in lambdas or [settings.lambda_])
    return f"seed {settings.seed}, lambda {weights}; " + "; ".join(parts)
