"""What ``ontoground train grpo`` does: rows of a benchmark under several sets of labels, an arm for each.

The arms' tables are written here, where both the benchmark and the training are known: training reads Parquet files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, UsageError
from ground.storage.files import atomic_path, private_directory, sha256_of, write_text
from ontoground.cli.runs import require_packages, run_folder, run_settings, short_name
from ontoground.cli.steward.shares import difference, ends, percent
from ontoground.cli.train.jobs import PACKAGES, Say

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from ground.contracts.grading import LimitsRule
    from stewardship.benchmark.folder import Benchmark
    from stewardship.grading.grades import LabelSet
    from training.grpo.settings import GrpoSettings

__all__ = ["GrpoJob", "paint_grpo", "train_grpo_job"]

DATA, BASE = "data", "base"
SMOKE = "A smoke run: the model's weights are random, and its numbers mean nothing."


@dataclass(frozen=True)
class GrpoJob:
    """What a user asked for."""

    workspace: Path
    benchmark: str | None
    arms: tuple[str, ...]
    evaluate: tuple[str, ...]
    limits: LimitsRule
    model: str | None
    smoke: bool
    out: Path | None
    config: Path | None
    overrides: tuple[str, ...]
    resume: bool
    say: Say


def train_grpo_job(job: GrpoJob) -> dict[str, Any]:
    """Train every arm, evaluate them and the base model, and return what ``--json`` prints.

    Raises:
        UsageError: options or settings that do not fit each other, or a folder that holds another run.
        InputError: no such benchmark, labels or model.
        TrainingError: the loss is no number, or memory is short.
    """
    require_packages(*PACKAGES, "trl", "datasets", "statsmodels")
    from stewardship.benchmark.folder import Benchmark
    from training.grpo.rows import check_arms, read_rows, read_sets
    from training.grpo.settings import GrpoSettings
    from training.grpo.smoke import smoke_settings
    from training.grpo.train import Arm, train_arm

    if (job.model is None) != job.smoke:
        raise UsageError("one of --model and --smoke is needed", expected="a base model, or a smoke run without one")
    if len(set(job.arms)) < len(job.arms) or not job.arms:
        raise UsageError("an arm is named twice", found=", ".join(job.arms), expected="other labels for each arm")
    settings: GrpoSettings = run_settings(GrpoSettings, job.config, job.overrides)
    if job.smoke:
        settings = smoke_settings(settings)
    benchmark = Benchmark.open(job.workspace, job.benchmark)
    name = "smoke" if job.smoke else short_name(job.model or "")
    out = job.out or run_folder(job.workspace, "grpo", benchmark.name, name, f"seed{settings.seed}")
    tables = _tables(job, benchmark, settings)
    files = _write_tables(out, tables, resume=job.resume)
    model = _random_model(out, tables, settings) if job.smoke else str(job.model)
    arms = [
        Arm(
            name=arm,
            rows=read_rows(files[f"arm-{arm}"], benchmark.categories),
            data={
                "name": benchmark.name,
                "licence_tier": benchmark.licence_tier,
                "rows_sha256": sha256_of(files[f"arm-{arm}"]),
                "evaluation_sha256": sha256_of(files["evaluate"]),
            },
            sets=read_sets(files["evaluate"], benchmark.categories),
            categories=benchmark.categories,
            smoke=job.smoke,
        )
        for arm in job.arms
    ]
    check_arms([arm.rows for arm in arms])
    _announce(job, arms, settings, model)
    base = _base(out, arms[0], model, settings, kept=job.resume) if settings.evaluate_base else None
    records = {arm.name: train_arm(arm, model, out / f"arm-{arm.name}", settings, resume=job.resume) for arm in arms}
    payload = _payload(job, out, model, settings, records, base)
    write_text(out / "comparison.json", json.dumps(payload, indent=2) + "\n")
    write_text(out / "comparison.md", _markdown(payload))
    return payload


def _tables(job: GrpoJob, benchmark: Benchmark, settings: GrpoSettings) -> dict[str, pl.DataFrame]:
    """Return the arms' rows and those of evaluation, as training reads them."""
    import polars as pl

    from stewardship.grading.grades import label_set

    arms = {arm: label_set(benchmark, arm, job.limits) for arm in job.arms}
    sets = _sets(job, benchmark)
    own = {uid for name, (where, labels) in sets.items() if where.name == benchmark.name for uid in labels.references}
    kept = _held_out(benchmark, own, settings)
    common = set.intersection(*(set(labels.references) for labels in arms.values())) - kept
    train = _chosen(sorted(common), settings.rows, settings.seed, "grpo-rows")
    if not train:
        raise InputError("no row is left to train on", found=benchmark.name, do="lower holdout, or name other arms")
    found = {f"arm-{arm}": _frame(benchmark, labels, train) for arm, labels in arms.items()}
    evaluated = []
    for name, (where, labels) in sets.items():
        uids = set(labels.references) & kept if where.name == benchmark.name else set(labels.references)
        chosen = _chosen(sorted(uids), settings.evaluate_rows, settings.seed, "grpo-evaluate")
        frame = _frame(where, labels, chosen)
        evaluated.append(
            frame.select(
                pl.lit(name).alias("set"), (pl.lit(f"{where.name}/") + pl.col("uid")).alias("uid"), pl.exclude("uid")
            )
        )
    found["evaluate"] = pl.concat(evaluated)
    if found["evaluate"].is_empty():
        raise InputError("no row is left to evaluate on", do="raise holdout, or name other labels with --evaluate")
    return found


def _sets(job: GrpoJob, benchmark: Benchmark) -> dict[str, tuple[Benchmark, LabelSet]]:
    """Return the sets of evaluation: those asked for, or all that the benchmark has."""
    from stewardship.benchmark.folder import Benchmark
    from stewardship.grading.grades import label_set

    if not job.evaluate:
        history = benchmark.history
        roles = [role for role in ("physician", "final", "recomputed", "original") if history.labels(role)]
        return {role: (benchmark, label_set(benchmark, role, job.limits)) for role in roles}
    found = {}
    for asked in job.evaluate:
        other, colon, labels = asked.rpartition(":")
        where = Benchmark.open(job.workspace, other) if colon else benchmark
        if where.categories != benchmark.categories:
            raise UsageError("the labels to evaluate on are of another kind", found=asked)
        found[asked] = (where, label_set(where, labels, job.limits))
    return found


def _held_out(benchmark: Benchmark, evaluated: set[str], settings: GrpoSettings) -> set[str]:
    """Return rows that are not trained on: the reviewed ones and a stable share of the others, if any is evaluated."""
    from ground.stable import stable_unit

    reviewed = set(benchmark.history.labels("physician"))
    return {
        uid
        for uid in evaluated
        if uid in reviewed or stable_unit(settings.seed, "grpo-holdout", uid) <= settings.holdout
    }


def _chosen(uids: Sequence[str], count: int, seed: int, what: str) -> list[str]:
    from ground.stable import stable_hash

    ranked = sorted(uids, key=lambda uid: (stable_hash(seed, what, uid), uid))
    return ranked[:count] if count else list(uids)


def _frame(benchmark: Benchmark, labels: LabelSet, uids: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    known = [name for name in ("context", "question") if name in benchmark.items.columns]
    if not known:
        raise InputError("the benchmark has neither context nor question", file=benchmark.folder)
    chosen = set(uids)
    rows = [
        {
            "uid": row["uid"],
            "prompt": _prompt(row.get("context"), row.get("question")),
            "label": labels.references[row["uid"]].value.text(),
            "lower": labels.references[row["uid"]].lower.text(),
            "upper": labels.references[row["uid"]].upper.text(),
        }
        for row in benchmark.items.select("uid", *known).iter_rows(named=True)
        if row["uid"] in chosen
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("uid", "prompt", "label", "lower", "upper"), pl.String))


def _prompt(context: str | None, question: str | None) -> str:
    return "\n\n".join([*([f"Record of the patient:\n{context}"] if context else []), f"Question: {question or ''}"])


def _write_tables(out: Path, tables: Mapping[str, pl.DataFrame], *, resume: bool) -> dict[str, Path]:
    """Write the tables; where an arm was begun with them they must be the same.

    Raises:
        UsageError: the folder holds a run on other rows, or holds one and is not gone on with.
    """
    import polars as pl

    begun = any(out.glob("arm-*"))
    if begun and not resume:
        raise UsageError("this folder already holds a run", file=out, do="choose another folder, or resume this run")
    files = {name: out / DATA / f"{name}.parquet" for name in tables}
    private_directory(out / DATA)
    for name, file in files.items():
        if not begun:
            with atomic_path(file) as temporary:
                tables[name].write_parquet(temporary)
        elif not (file.is_file() and pl.read_parquet(file).equals(tables[name])):
            raise UsageError(
                "rows or labels are not those that this run was started with",
                file=file,
                do="choose another folder with --out",
            )
    return files


def _random_model(out: Path, tables: Mapping[str, pl.DataFrame], settings: GrpoSettings) -> str:
    from training.grpo.prompt import system_prompt
    from training.grpo.smoke import write_random_model
    from training.runs.quiet import quiet

    folder = out / "random-model"
    if not (folder / "config.json").is_file():
        texts = [system_prompt(), *(prompt for frame in tables.values() for prompt in frame["prompt"])]
        with quiet():
            write_random_model(folder, texts, seed=settings.seed)
    return str(folder)


def _announce(job: GrpoJob, arms: Sequence[Any], settings: GrpoSettings, model: str) -> None:
    from ground.contracts.grading import within

    first, *others = ({row.uid: row.reference for row in arm.rows} for arm in arms)
    differ = sum(any(not within(other[uid].value, one) for other in others) for uid, one in first.items())
    steps = settings.epochs * (len(first) // settings.prompts_per_step)
    if job.smoke:
        job.say(SMOKE)
    job.say(
        f"GRPO on {'a random model' if job.smoke else model}, arms {', '.join(job.arms)}: {len(first):,} rows, "
        f"{differ:,} of them with a label outside these limits in another arm; at most {steps:,} steps of "
        f"{settings.prompts_per_step} rows, {settings.group} responses each, seed {settings.seed}; evaluation on "
        + ", ".join(f"{name} {len(rows):,}" for name, rows in arms[0].sets.items())
    )


def _base(out: Path, arm: Any, model: str, settings: GrpoSettings, *, kept: bool) -> pl.DataFrame:
    """Return the grades of the base model; a run that is gone on with reads them again."""
    import polars as pl

    from training.grpo.train import EVALUATION, evaluate_base

    file = out / BASE / EVALUATION
    if not (kept and file.is_file()):
        graded = evaluate_base(arm, model, settings)
        private_directory(file.parent)
        with atomic_path(file) as temporary:
            graded.write_parquet(temporary)
    return pl.read_parquet(file)


def _payload(
    job: GrpoJob,
    out: Path,
    model: str,
    settings: GrpoSettings,
    records: Mapping[str, dict[str, Any]],
    base: pl.DataFrame | None,
) -> dict[str, Any]:
    import polars as pl

    from ground.settings import read_settings
    from stewardship.grading.leaderboard import paired_difference
    from training.grpo.train import EVALUATION

    resamples = read_settings(job.workspace / "ontoground.toml").steward.resamples
    graded = {arm: pl.read_parquet(out / f"arm-{arm}" / EVALUATION) for arm in records}
    policies = ({} if base is None else {BASE: base}) | graded
    sets = {}
    for name in next(iter(graded.values()))["set"].unique(maintain_order=True):
        right = {policy: rows.filter(set=name)["correct"].to_list() for policy, rows in policies.items()}
        first, *others = records
        sets[name] = {
            "rows": len(right[first]),
            "accuracy": {policy: _share(values) for policy, values in right.items()},
            "difference": {
                other: asdict(paired_difference(right[first], right[other], resamples, settings.seed))
                for other in others
            },
        }
    return {
        "verb": "train grpo",
        "workspace": str(job.workspace),
        "benchmark": next(iter(records.values()))["dataset"]["name"],
        "model": model,
        "smoke": job.smoke,
        "limits": job.limits,
        "folder": str(out),
        "seed": settings.seed,
        "arms": [
            {
                "arm": arm,
                "folder": str(out / f"arm-{arm}"),
                "rows": record["rows"]["used"],
                "too_long": record["rows"]["left_out"]["too_long"],
                "steps": record["steps"],
                "order_sha256": record["order_sha256"],
                "rewards": _rewards(record["history"]),
            }
            for arm, record in records.items()
        ],
        "sets": sets,
    }


def _share(values: Sequence[bool]) -> dict[str, Any]:
    from stewardship.grading.grades import share

    return asdict(share(values))


def _rewards(history: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the mean reward of the first and the last tenth of the steps."""
    rewards = [one["reward"] for one in history if "reward" in one]
    size = max(1, len(rewards) // 10)
    means = [sum(part) / len(part) if part else None for part in (rewards[:size], rewards[-size:])]
    return dict(zip(("first", "last"), means, strict=True))


def _rows(payload: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, one in payload["sets"].items():
        for policy, share in one["accuracy"].items():
            change = one["difference"].get(policy)
            apart = "" if change is None else "{} ({})".format(*difference(change))
            rows.append([name, policy, f"{share['correct']}/{share['n']}", percent(share["value"]), ends(share), apart])
    return rows


def _heads(payload: dict[str, Any]) -> list[str]:
    return ["labels", "policy", "right", "share", "95% interval", f"less {payload['arms'][0]['arm']} (95%)"]


def _notes(payload: dict[str, Any]) -> list[str]:
    orders = {arm["order_sha256"] for arm in payload["arms"]}
    return [
        *([SMOKE] if payload["smoke"] else []),
        *(
            f"arm {arm['arm']}: {arm['rows']:,} rows ({arm['too_long']:,} prompts too long), {arm['steps']:,} steps, "
            f"mean reward {_number(arm['rewards']['first'])} at the start, {_number(arm['rewards']['last'])} at the end"
            for arm in payload["arms"]
        ),
        "Every arm saw the same prompts in the same order." if len(orders) == 1 else "The arms' orders differ.",
        "One response a row; intervals are over rows (Wilson; differences: paired bootstrap), not over training seeds.",
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _markdown(payload: dict[str, Any]) -> str:
    from ground.markdown import markdown_table

    lines = [
        f"# GRPO on {payload['benchmark']}",
        "",
        markdown_table(_heads(payload), _rows(payload)),
        *(f"- {note}" for note in _notes(payload)),
    ]
    return "\n".join(lines) + "\n"


def paint_grpo(screen: Console, payload: dict[str, Any]) -> None:
    """Show the accuracies of all policies by set of labels."""
    from ontoground.cli.render import relative, table

    screen.print(table(_heads(payload), _rows(payload)))
    for note in _notes(payload):
        screen.print(note)
    screen.print(f"in {relative(Path(payload['folder']))}", soft_wrap=True)
