"""``ontoground evaluate quadrants``: predictions of runs, made or reused where they hold, and a report."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ground.errors import UsageError
from ground.storage.files import sha256_of
from ontoground.cli.evaluate.options import Evaluated, few, group, interval, percent, place_blocks
from ontoground.cli.options import DatasetFolder, Result, verb
from ontoground.cli.render import Blocks, note, number, table
from ontoground.cli.runs import run_folder, run_settings, short_name

if TYPE_CHECKING:
    import polars as pl

    from evaluation.datasets import MedievalDataset
    from training.runs.settings import HardwareSettings

__all__ = ["PACKAGES", "Quadrants", "evaluation_blocks", "quadrants"]

SplitColumn = Literal["split", "fact_split", "folds"]

PACKAGES = ("torch", "transformers", "peft", "jinja2", "matplotlib", "statsmodels")
REGIME_NAMES = {f"q1_q{n}": f"Q1 vs. Q{n}" for n in (2, 3, 4)} | {"mixed": "Q1 vs. mix", "curriculum": "Curriculum"}
"""The paper's names of its regimes (Table 1), by which its results are found; its lambda is 0.5."""


@dataclass(frozen=True, kw_only=True)
class Quadrants(Evaluated):
    """Options of the verb."""

    dataset: DatasetFolder = None
    split_column: Annotated[
        SplitColumn | None,
        Option(
            help="split: by patient; fact_split: also by fact; folds: all rows, one run a fold; default: as the runs"
        ),
    ] = None
    method: Annotated[
        Literal["auto", "head", "score"],
        Option(help="head: of a classifier; score: label continuations of a policy; auto: what the run has"),
    ] = "auto"
    baselines: Annotated[bool, Option(help="Fit the baselines that see only part of the input")] = True


@dataclass(frozen=True)
class _Source:
    """A model whose predictions are wanted."""

    name: str  # in predictions and report
    folder: Path  # the run's, or the one where predictions of a model without a run are kept
    model: str  # what is loaded
    record: Mapping[str, Any]  # the run's training.json; empty for a model without a run

    @property
    def kind(self) -> str | None:
        return self.record.get("kind")

    @property
    def method(self) -> Literal["head", "score"]:
        return "score" if self.kind in (None, "corfu") else "head"

    @property
    def seed(self) -> int | None:
        return self.settings.get("seed")

    @property
    def column(self) -> str | None:
        return self.settings.get("split_column")

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.record.get("settings", {}))


@verb(
    group,
    "Quadrant predictions against a dataset, with intervals.",
    "ontoground evaluate quadrants --model work/runs/RUN --baselines",
    "ontoground evaluate quadrants --predictions mine.csv --dataset DIR",
    "ontoground evaluate quadrants --endpoint http://127.0.0.1:8000/v1 \\",
    "    --endpoint-model Qwen3-8B",
)
def quadrants(options: Quadrants) -> Result:
    """Evaluate models that name quadrants: all metrics with intervals by patient, slices, comparisons, pictures.

    Predictions are kept in the run folder and reused while model and dataset stay the same.
    """
    options.require(*PACKAGES)
    from evaluation.datasets import MedievalDataset
    from evaluation.report import evaluate_quadrants
    from ground.contracts.splits import FOLDS
    from training.runs.card import write_card

    dataset = MedievalDataset.open(options.dataset or options.workspace / "datasets" / "medieval")
    sources = _distinct([source for model in options.models or () for source in _sources(options, model)])
    column = _column(options, sources)
    # Asked first: a refusal of the privacy gate comes before hours of work.
    answers = [_zeroshot(options, dataset, column)] if options.asks else []
    predicted = [_predicted(options, source, dataset, column) for source in sources]
    answers += _pooled(options, dataset, sources, predicted) if column == FOLDS else predicted
    out = options.report_folder(dataset.folder, answers, column)
    report = evaluate_quadrants(
        dataset,
        [*(Path(answer["file"]) for answer in answers), *(options.predictions or ())],
        out,
        split=options.split,
        split_column=column,
        baselines=options.baselines,
        missing=options.missing,
        lambdas=_lambdas(sources),
        losses=_curves(sources),
    )
    for source in sources if options.split == "test" and out.name == "report" else ():
        if source.record:
            write_card(source.folder, source.record, results=out.parent)
    names = ("name", "kind", "seeds", "metrics", "confusion", "paper")
    payload = options.payload("quadrants", report, answers, out) | {
        "dataset": str(dataset.folder),
        "split_column": column,
        "rows": report["dataset"]["rows"],
        "patients": report["dataset"]["patients"],
        "models": [{name: model[name] for name in names} for model in report["models"]],
    }
    return Result(payload, evaluation_blocks)


def _sources(options: Quadrants, model: str) -> list[_Source]:
    """Return the run of a folder, the runs below it (seeds, lambdas), or a model that was not trained here."""
    from training.runs.folder import CHECKPOINTS, PLAN, RECORD

    folder = Path(model)
    whole = (folder / RECORD).is_file()
    # A sweep of several seeds lies two levels deep.
    if not whole and (below := {path.parent for depth in ("*", "*/*") for path in folder.glob(f"{depth}/{RECORD}")}):
        # A seed that did not finish must not go unseen.
        started = {path.parents[1] for depth in ("*", "*/*") for path in folder.glob(f"{depth}/{CHECKPOINTS}/{PLAN}")}
        return [_source(options, path) for path in sorted(below | started)]
    if options.method == "score" and not whole and not (folder / CHECKPOINTS).is_dir():
        own = run_folder(options.workspace, "score", short_name(model))
        return [_Source(f"{model.rstrip('/').rpartition('/')[2]} + score", own, model, {})]
    return [_source(options, folder)]


def _source(options: Quadrants, folder: Path) -> _Source:
    from training.runs.folder import read_run

    record = read_run(folder, "classifier", "encoder", "corfu")
    source = _Source(_name(record), folder, str(folder), record)
    if options.method not in ("auto", source.method):
        policy = source.method == "score"
        fit = f"fit a head first: ontoground train classifier --model {shlex.quote(str(folder))} --freeze-backbone"
        raise UsageError(
            f"this run cannot predict with the method {options.method}",
            file=folder,
            found=f"a {'policy without a head' if policy else 'classifier with a head'}",
            expected="--method auto",
            do=fit if policy else "leave --method out",
        )
    return source


def _name(record: Mapping[str, Any]) -> str:
    """Return ``MODEL + METHOD``, in the paper's words where it is the paper's method."""
    base = record["base_model"]
    if record["kind"] == "corfu":
        regime, weight = REGIME_NAMES[record["settings"]["regime"]], record["settings"]["lambda"]
        known = {0: f"DPO ({regime})", 0.5: f"CoRFu ({regime})"}
        return f"{base} + {known.get(weight, f'CoRFu ({regime}), lambda {weight:g}')}"
    if record["kind"] == "encoder":
        return f"{base} + SFT ({record['engine']} encoder)"
    policy = record["base"]["name"]
    trained = "head" if record["freeze_backbone"] else "SFT"
    return f"{base} + {trained}" + (f" on {policy}" if policy != base else "")


def _distinct(sources: Sequence[_Source]) -> list[_Source]:
    """Tell runs of one name and seed apart by their folders."""
    known = {source.folder.resolve(): source for source in sources}
    counts = Counter((source.name, source.seed, source.column) for source in known.values())
    return [
        replace(source, name=f"{source.name} [{folder.name}]")
        if counts[source.name, source.seed, source.column] > 1
        else source
        for folder, source in known.items()
    ]


def _column(options: Quadrants, sources: Sequence[_Source]) -> str:
    """Return the split that is evaluated: the runs' own, which must be one; runs of several folds have all rows."""
    from ground.contracts.splits import FOLDS

    trained = {str(source.column): source.folder for source in sources if source.record}
    of_folds = len(trained) > 1 and all(column.startswith("fold_") for column in trained)
    wanted: str = options.split_column or (FOLDS if of_folds else next(iter(trained), "split"))
    for column, folder in trained.items():
        if column != wanted and not (wanted == FOLDS and column.startswith("fold_")):
            raise UsageError(
                "a run was trained on another split",
                file=folder,
                found=column,
                expected=wanted,
                do=f"evaluate it separately, or train it with --set split_column={wanted}",
            )
    return wanted


def _pooled(
    options: Quadrants, dataset: MedievalDataset, sources: Sequence[_Source], answers: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Join the predictions of runs that differ in their fold alone, each of its own fold: one file for all rows.

    Raises:
        UsageError: the run of some fold is missing.
    """
    import polars as pl

    from evaluation.predictions import write_predictions

    groups: dict[tuple[str, int | None], list[tuple[_Source, dict[str, Any]]]] = {}
    for source, answer in zip(sources, answers, strict=True):
        groups.setdefault((source.name, source.seed), []).append((source, answer))
    pooled = []
    for (name, seed), parts in groups.items():
        if lacking := {f"fold_{fold}" for fold in dataset.folds} - {str(source.column) for source, _ in parts}:
            raise UsageError(
                "runs of some folds are missing",
                file=parts[0][0].folder.parent,
                found=f"no run with split_column {', '.join(sorted(lacking))}",
                expected=f"a run of {name} for each of {len(dataset.folds)} folds",
                do="train them: `ontoground train classifier --folds`",
            )
        folder = parts[0][0].folder.parent
        file = folder / f"predictions-{options.split}-{short_name(name)}-{seed}.parquet"
        write_predictions(file, pl.concat([pl.read_parquet(answer["file"], glob=False) for _, answer in parts]))
        other = any(answer["trained_on_another_dataset"] for _, answer in parts)
        summary = options.predicted(folder, name, parts[0][1]["method"], seed=seed, trained_on_another_dataset=other)
        pooled.append(summary | {"file": str(file)})
    return pooled


def _predicted(options: Quadrants, source: _Source, dataset: MedievalDataset, column: str) -> dict[str, Any]:
    """Make the predictions of a run, or keep those that are there and still its own; returns where they are."""
    from evaluation.predictions import write_predictions
    from training.runs.folder import RECORD, model_identity

    identity = {
        "name": source.name,
        # The record holds the hashes of the model's files, or their losses: another model has another record.
        "model": sha256_of(source.folder / RECORD) if source.record else model_identity(source.model),
        "dataset": dataset.manifest_sha256,
        "split_column": source.column or column,
        "method": source.method,
        "settings": options.of_runs,
    }
    state = options.kept(
        source.folder, identity, lambda file: write_predictions(file, _predict(options, source, dataset, column))
    )
    note(f"{source.name}: predictions {state} ({source.method})")
    known = source.record.get("dataset", {})
    other = known.get("manifest_sha256", dataset.manifest_sha256) != dataset.manifest_sha256
    if other:
        note(f"{source.name}: trained on another dataset, so its training rows may be from the patients tested here")
    more = {"seed": source.seed, "trained_on_another_dataset": other}
    return options.predicted(source.folder, source.name, source.method, state, **more)


def _predict(options: Quadrants, source: _Source, dataset: MedievalDataset, column: str) -> pl.DataFrame:
    from ontoground.views.predictions import predict_rows

    # A model that was not trained here has no split of its own, and may be a name of the hub.
    record = source.record or {"settings": {"split_column": column}}
    run = source.folder if source.record else Path(source.model)
    return predict_rows(run, record, dataset, options.split, _hardware(options, source), source.name)


def _hardware(options: Quadrants, source: _Source) -> HardwareSettings:
    """Return how this machine is used: as the run was, but for ``--set hardware.KEY=VALUE``, all that can change."""
    from pydantic import create_model

    from ground.settings import Section
    from training.runs.settings import HardwareSettings

    of_run = HardwareSettings.model_validate(source.settings.get("hardware", {}))
    kind: Any = create_model("Evaluation", __base__=Section, hardware=(HardwareSettings, of_run))
    hardware: HardwareSettings = run_settings(kind, None, options.of_runs).hardware
    return hardware


def _zeroshot(options: Quadrants, dataset: MedievalDataset, column: str) -> dict[str, Any]:
    from training.asking.quadrants import ZeroshotSettings, predict_zeroshot

    model, settings = options.language_model("zeroshot", ZeroshotSettings, split=options.split, split_column=column)
    folder = run_folder(options.workspace, "zeroshot", short_name(model.model))
    report = predict_zeroshot(dataset, model, settings, options.workspace, folder)
    unread = 100 * report.share_unparseable
    note(f"{model.model}: {report.rows:,} statements asked, {unread:.1f}% without a readable label")
    return options.predicted(folder, model.model, "zero-shot", seed=model.seed, trained_on_another_dataset=False)


def _lambdas(sources: Sequence[_Source]) -> dict[str, tuple[str, float]]:
    """Return backbone with regime, and lambda, by model name, where runs of one backbone and regime differ in it."""
    swept = {
        source.name: (
            f"{source.record['base_model']}, {REGIME_NAMES[source.settings['regime']]}",
            float(source.settings["lambda"]),
        )
        for source in sources
        if source.kind == "corfu"
    }
    values: dict[str, set[float]] = {}
    for series, value in swept.values():
        values.setdefault(series, set()).add(value)
    return {name: (series, value) for name, (series, value) in swept.items() if len(values[series]) > 1}


def _curves(sources: Sequence[_Source]) -> dict[str, list[dict[str, Any]]]:
    """Return the losses of each run, the steps of all its stages numbered through."""
    from training.runs.card import loss_records

    return {
        f"{source.name}, seed {source.seed}": [
            record | {"step": at} for at, record in enumerate(loss_records(source.record), 1)
        ]
        for source in sources
        if source.record
    }


def evaluation_blocks(payload: dict[str, Any]) -> Blocks:
    """Yield an evaluation: two tables in percent, and where the report lies."""
    from evaluation.paper import PAPER_COLUMNS

    models = [(model["name"], model["metrics"]) for model in payload["models"]]
    patients = f"{number(payload['patients'])} patient{'' if payload['patients'] == 1 else 's'}"
    yield f"{number(payload['rows'])} rows of {patients} ({payload['split']}), in percent"
    shares = {name: head.removeprefix("F1_") for name, head in PAPER_COLUMNS.items() if name not in ("hsr", "tir")}
    rows = [(name, *(percent(metrics[share]) for share in shares)) for name, metrics in models]
    yield table(("model", *shares.values()), rows)
    with_interval = few(payload["patients"], "patients") or " with its interval"
    yield f"F1{with_interval}; HSR: unsupported taken for Q1; TIR: false taken for Q1 (lower is better)"
    rows = [
        (
            model["name"],
            *(interval(model["metrics"][metric], "-") for metric in ("f1", "hsr", "tir")),
            number(sum(called[-1] for called in model["confusion"])),
        )
        for model in payload["models"]
    ]
    yield table(("model", "F1", "HSR", "TIR", "unreadable"), rows)
    yield from place_blocks(payload["report"])
