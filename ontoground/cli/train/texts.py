"""``ontoground train medhal|medval``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from typer import Option

from ontoground.cli.options import Result, verb
from ontoground.cli.render import note
from ontoground.cli.runs import require_packages, short_name
from ontoground.cli.train.options import PACKAGES, OnDataset, group, require_decoder, state_of, trained

__all__ = ["medhal", "medval"]


@dataclass(frozen=True, kw_only=True)
class Text(OnDataset):
    """Options of both verbs."""

    engine: Annotated[Literal["trl"], Option(help="trl's SFTTrainer")] = "trl"


@verb(
    group,
    "Detector of non-factual statements (MedHal).",
    "ontoground --hub train medhal --model Qwen/Qwen3-8B",
    "ontoground --hub train medhal --model Qwen/Qwen3-8B --set 'tasks=[\"nli\"]'",
)
def medhal(options: Text) -> Result:
    """Fine-tune a model to recognise non-factual statements and to explain what is wrong."""
    return _fine_tuned("medhal", options)


@verb(
    group,
    "Validator that names errors and grades their risk (MedVAL).",
    "ontoground --hub train medval --model Qwen/Qwen3-4B --config medval.toml",
)
def medval(options: Text) -> Result:
    """Fine-tune a model to name the errors of a medical text and to grade their risk."""
    return _fine_tuned("medval", options)


def _fine_tuned(kind: Literal["medhal", "medval"], options: Text) -> Result:
    require_packages(*PACKAGES, "trl", "datasets")
    from training.runs.settings import MedhalSettings, MedvalSettings

    settings: Any = options.settings(MedhalSettings if kind == "medhal" else MedvalSettings)
    require_decoder(options.model, kind)
    from evaluation.datasets import TextDataset

    dataset = TextDataset.open(options.data(kind), kind, getattr(settings, "version", "full"))
    # Late, since it takes seconds, and what is wrong is said before.
    from training.runs.processes import is_main
    from training.sft.train import train_texts

    out = options.folder(kind, short_name(options.model), f"seed{settings.seed}")
    state = state_of(out)
    if is_main() and state == "done":
        of_tasks = f" of the tasks {', '.join(settings.tasks)} (too long ones are left out)" if settings.tasks else ""
        note(
            f"{kind} on {options.model}, engine trl: {dataset.count('train', settings.tasks):,} rows{of_tasks},"
            f" batches of {settings.batch_size}, {settings.epochs:g} epochs, seed {settings.seed}"
        )
    record = train_texts(kind, dataset.folder, options.model, out, settings, resume=options.resume, say=note)
    for line in record["machine"]["notes"] if is_main() else ():
        note(line)
    return trained(options, kind, dataset.folder, options.engine, out, [(out, record, state)])
