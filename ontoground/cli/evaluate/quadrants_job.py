"""What ``ontoground evaluate quadrants`` does: predictions of runs, made or reused where they hold, and a report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ground import __version__
from ground.errors import UsageError
from ground.storage.files import sha256_of, write_text
from ontoground.cli.runs import asked_settings, require_packages, run_folder, run_settings, short_name
from ontoground.cli.train.losses import loss_records

if TYPE_CHECKING:
    import polars as pl

    from evaluation.quadrants.dataset import MedievalDataset
    from ground.lm.settings import LmSettings
    from training.classifier.zeroshot import ZeroshotSettings
    from training.runs.settings import HardwareSettings

__all__ = ["Asked", "Method", "evaluate_quadrants_job"]

Method = Literal["auto", "head", "score"]
Split = Literal["test", "validation"]
SplitColumn = Literal["split", "fact_split"]
Missing = Literal["refuse", "wrong", "leave_out"]
Say = Callable[[str], None]

PACKAGES = ("torch", "transformers", "peft", "matplotlib", "statsmodels")
RECORD = "training.json"
REGIME_NAMES = {
    "q1_q2": "Q1 vs. Q2",
    "q1_q3": "Q1 vs. Q3",
    "q1_q4": "Q1 vs. Q4",
    "mixed": "Q1 vs. mix",
    "curriculum": "Curriculum",
}
"""The paper's names of its regimes (Table 1), by which its results are found."""
PAPERS_LAMBDA = 0.5


@dataclass(frozen=True)
class Asked:
    """What a user asked for."""

    workspace: Path
    dataset: Path
    models: tuple[str, ...]
    predictions: tuple[Path, ...]
    split: Split
    split_column: SplitColumn | None
    method: Method
    baselines: bool
    missing: Missing
    out: Path | None
    endpoint: str | None
    endpoint_model: str | None
    config: Path | None
    overrides: tuple[str, ...]
    say: Say

    @property
    def zeroshot(self) -> bool:
        """Whether a language model is asked too."""
        return self.endpoint is not None or self.endpoint_model is not None or self.config is not None


@dataclass(frozen=True)
class Source:
    """A model whose predictions are wanted.

    Attributes:
        folder: the run's, or the one where predictions of a model without a run are kept.
        model: what is loaded.
        record: the run's ``training.json``; empty for a model without a run.
        method: ``head`` or ``score``.
        name: in predictions and report.
    """

    folder: Path
    model: str
    record: Mapping[str, Any]
    method: Literal["head", "score"]
    name: str

    @property
    def column(self) -> SplitColumn | None:
        """The split that the run was trained on."""
        return self.record["settings"]["split_column"] if self.record else None

    @property
    def trained_on(self) -> str | None:
        """The SHA-256 of the manifest of the dataset that the run was trained on."""
        dataset = self.record.get("dataset")
        return dataset["manifest_sha256"] if isinstance(dataset, dict) else self.record.get("manifest_sha256")

    @property
    def seed(self) -> int | None:
        """The run's seed."""
        return self.record["settings"]["seed"] if self.record else None


def evaluate_quadrants_job(asked: Asked) -> dict[str, Any]:
    """Predict what is not predicted yet, evaluate, and return what ``--json`` prints."""
    require_packages(*PACKAGES)
    if asked.zeroshot:
        require_packages("openai", extra="lm")
    from evaluation.quadrants.dataset import MedievalDataset
    from evaluation.quadrants.report import evaluate_quadrants

    dataset = MedievalDataset.open(asked.dataset)
    sources = _distinct([source for model in asked.models for source in _sources(asked, model)])
    column = _column(asked, sources)
    # Asked first: a refusal of the privacy gate comes before hours of work.
    made = [_zeroshot(asked, dataset, column)] if asked.zeroshot else []
    made += [_predicted(asked, source, dataset, column) for source in sources]
    files = [Path(one["file"]) for one in made] + list(asked.predictions)
    out = _report_folder(asked, dataset, made)
    report = evaluate_quadrants(
        dataset,
        files,
        out,
        split=asked.split,
        split_column=column,
        baselines=asked.baselines,
        missing=asked.missing,
        lambdas=_lambdas(sources),
        losses=_curves(sources),
    )
    _renew_cards(asked, sources, out)
    return _payload(asked, column, made, report, out)


def _sources(asked: Asked, model: str) -> list[Source]:
    """Return the run of a folder, the runs below it (seeds, lambdas), or a model that was not trained here."""
    from training.runs.folder import read_run

    folder = Path(model)
    below = sorted(path.parent for path in folder.glob(f"*/{RECORD}")) if folder.is_dir() else []
    if (folder / RECORD).is_file() or not below:
        if asked.method == "score" and not (folder / RECORD).is_file() and not (folder / "checkpoints").is_dir():
            kept = run_folder(asked.workspace, "score", short_name(model))
            return [Source(kept, model, {}, "score", f"{model.rstrip('/').rpartition('/')[2]} + score")]
        return [_source(asked, folder, read_run(folder, "classifier", "encoder", "corfu"))]
    # A seed that did not finish must not go unseen.
    started = {path.parents[1] for path in folder.glob("*/checkpoints/plan.json")}
    return [
        _source(asked, path, read_run(path, "classifier", "encoder", "corfu")) for path in sorted({*below, *started})
    ]


def _source(asked: Asked, folder: Path, record: Mapping[str, Any]) -> Source:
    method: Literal["head", "score"] = "score" if record["kind"] == "corfu" else "head"
    if asked.method not in ("auto", method):
        raise UsageError(
            f"this run has no predictions by {asked.method}",
            file=folder,
            found=f"a {'policy without a head' if method == 'score' else 'classifier with a head'}",
            expected="--method auto",
            do=f"fit a head first: ontoground train classifier --model {folder} --freeze-backbone"
            if method == "score"
            else "leave --method out",
        )
    return Source(folder, str(folder), record, method, _name(record))


def _name(record: Mapping[str, Any]) -> str:
    """Return ``MODEL + METHOD``, in the paper's words where it is the paper's method."""
    base = record["base_model"]
    if record["kind"] == "corfu":
        regime, weight = REGIME_NAMES[record["settings"]["regime"]], record["settings"]["lambda"]
        known = {0: f"DPO ({regime})", PAPERS_LAMBDA: f"CoRFu ({regime})"}
        return f"{base} + {known.get(weight, f'CoRFu ({regime}), lambda {weight:g}')}"
    if record["kind"] == "encoder":
        return f"{base} + SFT ({record['engine']} encoder)"
    policy = record["base"]["name"]
    trained = "head" if record["freeze_backbone"] else "SFT"
    return f"{base} + {trained}" + (f" on {policy}" if policy != base else "")


def _distinct(sources: Sequence[Source]) -> list[Source]:
    """Tell runs of one name and seed apart by their folders."""
    sources = list({source.folder.resolve(): source for source in sources}.values())
    twice = Counter((source.name, source.seed) for source in sources)
    return [
        replace(source, name=f"{source.name} [{source.folder.resolve().name}]")
        if twice[source.name, source.seed] > 1
        else source
        for source in sources
    ]


def _column(asked: Asked, sources: Sequence[Source]) -> SplitColumn:
    trained = {source.column: source.folder for source in sources if source.column is not None}
    found: SplitColumn = next(iter(trained), "split")
    wanted = asked.split_column or found
    for column, folder in trained.items():
        if column != wanted:
            raise UsageError(
                "a run was trained on the other of the two splits",
                file=folder,
                found=column,
                expected=wanted,
                do=f"evaluate it apart, or train it with --set split_column={wanted}",
            )
    return wanted


def _predicted(asked: Asked, source: Source, dataset: MedievalDataset, column: SplitColumn) -> dict[str, Any]:
    """Make the predictions of a run, or keep those that are there and still its own; returns where they are."""
    from evaluation.quadrants.predictions import write_predictions
    from ground.storage.files import private_directory

    file = source.folder / f"predictions-{asked.split}.parquet"
    stated = file.with_suffix(".json")
    identity = _identity(asked, source, dataset, column)
    before = json.loads(stated.read_text(encoding="utf-8")) if stated.is_file() and file.is_file() else {}
    reused = before == identity | {"predictions_sha256": sha256_of(file) if before else ""}
    if not reused:
        private_directory(source.folder)
        frame = _predict(asked, source, dataset, column)
        # Without its statement of origin a file is never reused: it goes first.
        stated.unlink(missing_ok=True)
        write_predictions(file, frame)
        write_text(stated, json.dumps(identity | {"predictions_sha256": sha256_of(file)}, indent=2) + "\n")
    asked.say(f"{source.name}: predictions {'reused' if reused else 'made'} ({source.method})")
    other = source.trained_on not in (None, dataset.manifest_sha256)
    if other:
        asked.say(f"{source.name}: trained on another dataset, whose training rows may be of the patients tested here")
    return {
        "model": source.name,
        "seed": source.seed,
        "trained_on_another_dataset": other,
        "method": source.method,
        "folder": str(source.folder),
        "file": str(file),
        "state": "reused" if reused else "made",
    }


def _identity(asked: Asked, source: Source, dataset: MedievalDataset, column: str) -> dict[str, Any]:
    from training.runs.folder import model_identity

    # The record holds the hashes of the model's files, or their losses: another model has another record.
    model = sha256_of(source.folder / RECORD) if source.record else model_identity(source.model)
    return {
        "name": source.name,
        "model": model,
        "dataset": dataset.manifest_sha256,
        "split": asked.split,
        "split_column": column,
        "method": source.method,
        "settings": list(_own(asked)),
        "ontoground": __version__,
    }


def _predict(asked: Asked, source: Source, dataset: MedievalDataset, column: SplitColumn) -> pl.DataFrame:
    from ground.progress import progress
    from training.runs.quiet import quiet

    kind = source.record.get("kind")
    hardware = _hardware(asked, source)
    if source.method == "score":
        from training.corfu.scores import score_quadrants
        from training.runs.settings import CorfuSettings

        settings = CorfuSettings.model_validate(
            source.record["settings"] if source.record else {"split_column": column}
        )
        settings = settings.model_copy(update={"hardware": hardware})
        rows = dataset.split_rows(asked.split, column).height
        with progress(f"scoring {source.folder.name}", rows) as advance:
            return score_quadrants(source.model, dataset, asked.split, settings, name=source.name, advance=advance)
    if kind == "encoder":
        import polars as pl

        from training.encoder.classifier import load_encoder
        from training.encoder.train import predict

        with quiet(), progress(f"predicting {source.folder.name}", None) as advance:
            model = load_encoder(source.folder, None if hardware.device == "auto" else hardware.device)
            frame = predict(model, dataset, asked.split, progress=lambda _n, _total, _loss: advance(1))
        return frame.with_columns(model=pl.lit(source.name))
    from training.classifier.train import predict_classifier

    return predict_classifier(source.folder, dataset, asked.split, hardware=hardware, name=source.name)


def _hardware(asked: Asked, source: Source) -> HardwareSettings:
    """Return how this machine is used: as the run was, but for ``--set hardware.KEY=VALUE``.

    Raises:
        UsageError: another setting was given: nothing else of a run that is whole can be changed.
    """
    from pydantic import create_model

    from ground.settings import Section
    from training.runs.settings import HardwareSettings

    of_run = HardwareSettings.model_validate(source.record.get("settings", {}).get("hardware", {}))
    kind = create_model("Evaluation", __base__=Section, hardware=(HardwareSettings, of_run))
    hardware: HardwareSettings = getattr(run_settings(kind, None, _own(asked)), "hardware")  # noqa: B009
    return hardware


def _own(asked: Asked) -> tuple[str, ...]:
    """Return the overrides that are not the language model's."""
    return () if asked.zeroshot else asked.overrides


def _zeroshot(asked: Asked, dataset: MedievalDataset, column: SplitColumn) -> dict[str, Any]:
    from ground.progress import progress
    from training.classifier.zeroshot import predict_zeroshot

    model, settings = _language_model(asked, column)
    folder = run_folder(asked.workspace, "zeroshot", short_name(model.model))
    total = dataset.split_rows(settings.split, settings.split_column).height
    with progress(f"asking {model.model}", settings.rows or total) as advance:
        report = predict_zeroshot(dataset, model, settings, asked.workspace, folder, advance)
    asked.say(
        f"{model.model}: {report.rows:,} statements asked,"
        f" {100 * report.share_unparseable:.1f}% without a readable label"
    )
    return {
        "model": model.model,
        "seed": model.seed,
        "trained_on_another_dataset": False,
        "method": "zero-shot",
        "folder": str(folder),
        "file": str(folder / f"predictions-{settings.split}.parquet"),
        "state": "made",
    }


def _language_model(asked: Asked, column: SplitColumn) -> tuple[LmSettings, ZeroshotSettings]:
    from training.classifier.zeroshot import ZeroshotSettings

    overrides = [*asked.overrides, f"zeroshot.split={asked.split}", f"zeroshot.split_column={column}"]
    return asked_settings("zeroshot", ZeroshotSettings, asked.config, overrides, asked.endpoint, asked.endpoint_model)


def _report_folder(asked: Asked, dataset: MedievalDataset, made: Sequence[Mapping[str, Any]]) -> Path:
    """Return where the report goes: into the one run that is evaluated, else into a folder of its own."""
    if asked.out is not None:
        return asked.out
    if len(asked.models) + asked.zeroshot == 1 and not asked.predictions and made:
        only = Path(asked.models[0]) if asked.models and len(made) > 1 else Path(made[0]["folder"])
        return only / ("report" if asked.split == "test" else f"report-{asked.split}")
    return run_folder(asked.workspace, "evaluation", short_name(str(dataset.folder)), asked.split)


def _lambdas(sources: Sequence[Source]) -> dict[str, float]:
    """Return lambda by model name, for a picture, where CoRFu runs differ in it."""
    found = {s.name: float(s.record["settings"]["lambda"]) for s in sources if s.record.get("kind") == "corfu"}
    return found if len(set(found.values())) > 1 else {}


def _curves(sources: Sequence[Source]) -> dict[str, list[dict[str, Any]]]:
    return {
        source.name if source.seed is None else f"{source.name}, seed {source.seed}": _in_one_line(
            loss_records(source.record)
        )
        for source in sources
        if source.record
    }


def _in_one_line(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Number the steps of all stages through: each stage counts from 1."""
    return [record | {"step": at} for at, record in enumerate(records, 1)]


def _renew_cards(asked: Asked, sources: Sequence[Source], out: Path) -> None:
    """Write the results on the test split into the cards of the runs that the report is of."""
    from training.runs.card import write_card

    if asked.split != "test" or out.name != "report":
        return
    for source in sources:
        if source.record.get("kind") in ("classifier", "corfu", "encoder"):
            record = {**source.record, "losses": loss_records(source.record)}
            write_card(source.folder, record, results=out.parent)


def _payload(
    asked: Asked, column: str, made: Sequence[Mapping[str, Any]], report: Mapping[str, Any], out: Path
) -> dict[str, Any]:
    names = ("name", "kind", "seeds", "metrics", "confusion", "paper")
    return {
        "verb": "evaluate quadrants",
        "workspace": str(asked.workspace),
        "dataset": str(asked.dataset),
        "split": asked.split,
        "split_column": column,
        "rows": report["dataset"]["rows"],
        "rows_left_out": report["dataset"]["rows_left_out"],
        "patients": report["dataset"]["patients"],
        "predictions": [dict(one) for one in made],
        "models": [{name: model[name] for name in names} for model in report["models"]],
        "report": {
            "folder": str(out),
            "json": str(out / "report.json"),
            "markdown": str(out / "report.md"),
            "figures": [str(path) for path in sorted((out / "figures").glob("*.png"))],
        },
    }
