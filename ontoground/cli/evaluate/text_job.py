"""What ``ontoground evaluate medhal|medval|sheets`` do: answers made or read, experts' sheets, a report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ground import __version__
from ground.errors import UsageError
from ground.storage.files import sha256_of, write_text
from ontoground.cli.runs import asked_settings, require_packages, run_folder, run_settings, short_name

if TYPE_CHECKING:
    import polars as pl

    from evaluation.text.dataset import TextDataset
    from ground.lm.settings import LmSettings
    from training.sft.zeroshot import AskedSettings

__all__ = ["TextAsked", "evaluate_text_job", "write_sheets_job"]

Kind = Literal["medhal", "medval"]
Split = Literal["test", "validation"]
Missing = Literal["refuse", "wrong", "leave_out"]

PACKAGES = ("krippendorff", "matplotlib", "rouge_score", "sacrebleu", "statsmodels", "torch", "transformers")
RECORD = "training.json"
RUN_KEYS = ("name", "model", "seed", "kind", "rows", "outcomes", "share_unparseable", "overall", "confusion")


@dataclass(frozen=True)
class TextAsked:
    """What a user asked for; ``say`` is told what a person should know."""

    kind: Kind
    workspace: Path
    reference: Path
    models: tuple[str, ...]
    predictions: tuple[Path, ...]
    split: Split
    missing: Missing
    out: Path | None
    endpoint: str | None
    endpoint_model: str | None
    shots: int | None
    config: Path | None
    overrides: tuple[str, ...]
    ensemble: bool
    experts: tuple[Path, ...]
    sheet_key: Path | None
    say: Callable[[str], None]

    @property
    def asks(self) -> bool:
        """Whether a language model is asked."""
        return self.endpoint is not None or self.endpoint_model is not None or self.config is not None


def evaluate_text_job(asked: TextAsked) -> dict[str, Any]:
    """Make the answers that are wanted, evaluate them, and return what ``--json`` prints.

    Raises:
        UsageError: nothing to evaluate, or settings that do not work.
        InputError: a file or folder that is not what it should be.
        RefusedError: credentialed rows and a language model that is not on this machine.
    """
    require_packages(*PACKAGES)
    if asked.asks:
        require_packages("openai", extra="lm")
    from evaluation.text.dataset import TextDataset
    from evaluation.text.report import evaluate_text

    dataset = TextDataset.open(asked.reference, asked.kind)
    ratings, notes = _ratings(asked)
    # Asked first: a refusal of the privacy gate comes before hours of work.
    made = [_asked(asked, dataset)] if asked.asks else []
    made += [_generated(asked, dataset, model) for model in asked.models]
    out = asked.out or _report_folder(asked, made)
    report = evaluate_text(
        asked.kind,
        dataset,
        [*(Path(one["file"]) for one in made), *asked.predictions],
        out,
        split=asked.split,
        missing=asked.missing,
        with_ensemble=asked.ensemble,
        ratings=ratings,
    )
    return _payload(asked, made, notes, report, out)


def write_sheets_job(
    workspace: Path, reference: Path, file: Path, *, split: Split, per_task: int, seed: int
) -> dict[str, Any]:
    """Write sheets for experts and return what ``--json`` prints.

    Raises:
        UsageError: the file is no .xlsx, or there is one already.
        InputError: no such dataset, or an empty split.
    """
    from evaluation.sheets.write import write_sheets
    from evaluation.text.dataset import TextDataset

    dataset = TextDataset.open(reference, "medval")
    written = write_sheets(dataset, file, split=split, per_task=per_task, seed=seed)
    return {
        "verb": "evaluate sheets",
        "workspace": str(workspace),
        "reference": str(reference),
        "split": split,
        "seed": seed,
        "licence_tier": dataset.licence_tier,
        **written,
    }


def _ratings(asked: TextAsked) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    if not asked.experts:
        if asked.sheet_key is not None:
            raise UsageError("--sheet-key without a sheet", expected="--experts SHEET too")
        return None, ()
    from evaluation.sheets.read import read_sheets

    read = read_sheets(asked.experts, asked.sheet_key)
    for note in read.notes:
        asked.say(note)
    return read.ratings, read.notes


def _asked(asked: TextAsked, dataset: TextDataset) -> dict[str, Any]:
    from ground.contracts.taxonomy import resolve_tasks
    from ground.progress import progress
    from training.sft.zeroshot import SHOTS, ask_dataset

    model, settings = _language_model(asked)
    folder = run_folder(asked.workspace, SHOTS[settings.shots], asked.kind, short_name(model.model))
    total = dataset.count(settings.split, resolve_tasks(settings.tasks, asked.kind))
    with progress(f"asking {model.model}", min(settings.rows or total, total)) as advance:
        report = ask_dataset(dataset, model, settings, asked.workspace, folder, advance)
    asked.say(
        f"{model.model}: {report.rows:,} rows asked, {100 * report.share_unparseable:.1f}% without a readable answer"
    )
    return {
        "model": model.model,
        "method": SHOTS[settings.shots],
        "folder": str(folder),
        "file": str(folder / f"predictions-{settings.split}.parquet"),
        "state": "made",
    }


def _language_model(asked: TextAsked) -> tuple[LmSettings, AskedSettings]:
    from training.sft.zeroshot import AskedSettings

    overrides = [*asked.overrides, f"asked.split={asked.split}"]
    if asked.shots is not None:
        overrides += [f"asked.shots={asked.shots}"]
    return asked_settings("asked", AskedSettings, asked.config, overrides, asked.endpoint, asked.endpoint_model)


def _generated(asked: TextAsked, dataset: TextDataset, model: str) -> dict[str, Any]:
    """Answer the split with a fine-tuned run, or keep the answers that are there and still its own."""
    from training.runs.folder import model_identity
    from training.sft.generate import GenerationSettings, generate_medhal, generate_medval

    run = Path(model)
    is_run = (run / RECORD).is_file()
    folder = run if is_run else run_folder(asked.workspace, "generate", asked.kind, short_name(model))
    settings = run_settings(GenerationSettings, None, () if asked.asks else asked.overrides)
    file = folder / f"predictions-{asked.split}.parquet"
    stated = file.with_suffix(".json")
    identity = {
        "model": sha256_of(run / RECORD) if is_run else model_identity(model),
        "dataset": dataset.identity,
        "split": asked.split,
        "settings": settings.model_dump(mode="json"),
        "ontoground": __version__,
    }
    before = json.loads(stated.read_text(encoding="utf-8")) if stated.is_file() and file.is_file() else {}
    reused = before == identity | {"predictions_sha256": sha256_of(file) if before else ""}
    if not reused:
        # Without its statement of origin a file is never reused: it goes first.
        stated.unlink(missing_ok=True)
        generate = generate_medhal if asked.kind == "medhal" else generate_medval
        generate(asked.reference, model, file, settings, asked.split)
        write_text(stated, json.dumps(identity | {"predictions_sha256": sha256_of(file)}, indent=2) + "\n")
    asked.say(f"{short_name(model)}: predictions {'reused' if reused else 'made'}")
    return {
        "model": short_name(model),
        "method": "generation",
        "folder": str(folder),
        "file": str(file),
        "state": "reused" if reused else "made",
    }


def _report_folder(asked: TextAsked, made: Sequence[Mapping[str, Any]]) -> Path:
    """Return where the report goes: into the one run that is evaluated, else into a folder of its own."""
    if len(made) == 1 and not asked.predictions and not asked.experts:
        return Path(made[0]["folder"]) / ("report" if asked.split == "test" else f"report-{asked.split}")
    return run_folder(asked.workspace, "evaluation", short_name(str(asked.reference)), asked.split)


def _payload(
    asked: TextAsked, made: Sequence[Mapping[str, Any]], notes: Sequence[str], report: Mapping[str, Any], out: Path
) -> dict[str, Any]:
    rows = report["rows"]
    return {
        "verb": f"evaluate {asked.kind}",
        "workspace": str(asked.workspace),
        "reference": str(asked.reference),
        "split": asked.split,
        "rows": rows["rows"],
        "rows_left_out": report["dataset"]["rows_left_out"],
        "clusters": rows["clusters"],
        "clusters_are": rows["clusters_are"],
        "classes": rows["classes"],
        "predictions": [dict(one) for one in made],
        "runs": [_run(one, rows["headline"]) for one in report["runs"]],
        **({"experts": _experts(report["experts"], notes)} if asked.kind == "medval" else {}),
        "report": {
            "folder": str(out),
            "json": str(out / "report.json"),
            "markdown": str(out / "report.md"),
            "figures": [str(path) for path in sorted((out / "figures").glob("*.png"))],
        },
    }


def _run(run: Mapping[str, Any], headline: str) -> dict[str, Any]:
    own = "explanation" if "explanation" in run else "over_tasks"
    by_task = {task: found[headline] for task, found in run["by_task"].items()}
    return {**{name: run[name] for name in RUN_KEYS}, own: run[own], "f1_by_task": by_task}


def _experts(experts: Mapping[str, Any] | None, notes: Sequence[str]) -> dict[str, Any] | None:
    if experts is None:
        return None
    names = ("items", "items_with_several", "raters", "non_inferiority")
    agreement = {name: found["overall"] for name, found in experts["agreement"].items()}
    return {**{name: experts[name] for name in names}, "krippendorff_alpha": agreement, "notes": list(notes)}
