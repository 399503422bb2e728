"""``ontoground train grpo``: rows of a benchmark under several sets of labels, an arm for each.

The arms' tables are written here, where both the benchmark and the training are known: training reads Parquet files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Option

from ground.errors import InputError, UsageError
from ground.storage.files import atomic_path, private_directory, sha256_of, write_text
from ontoground.cli.options import Result, verb
from ontoground.cli.render import Blocks, note, relative, table, unfolded
from ontoground.cli.runs import require_packages, short_name
from ontoground.cli.train.options import PACKAGES, Trained, group, require_decoder

if TYPE_CHECKING:
    import polars as pl

    from stewardship.benchmark.folder import Benchmark
    from stewardship.grading.grades import LabelSet
    from stewardship.history.log import Role
    from training.grpo.train import Arm
    from training.runs.settings import GrpoSettings

__all__ = ["grpo"]


@dataclass(frozen=True, kw_only=True)
class Grpo(Trained):
    """Options of the verb."""

    model: Annotated[str, Option(metavar="NAME_OR_PATH", help="Base model: hub name or local folder")]
    benchmark: Annotated[
        str | None, Option(metavar="NAME", help="Benchmark to train on; may be left out if there is only one")
    ] = None
    arms: Annotated[
        list[str] | None,
        Option(
            "--arm", metavar="LABELS", help="Labels of an arm: a role or a release; default: original and recomputed"
        ),
    ] = None
    evaluate: Annotated[
        list[str] | None,
        Option(metavar="[NAME:]LABELS", help="Labels to evaluate on; default: all labels of the held-out rows"),
    ] = None
    limits: Annotated[Literal["corrected", "v1"], Option(help="Limits of a right answer, the same for all arms")] = (
        "corrected"
    )


@verb(
    group,
    "A policy by rewards from labels (GRPO), an arm for each set.",
    "ontoground --hub train grpo --model Qwen/Qwen3-8B --benchmark train \\",
    "    --arm original --arm recomputed --evaluate test:physician",
)
def grpo(options: Grpo) -> Result:
    """Train a policy by GRPO on rewards from labels, once for each arm; arms differ in their labels only.

    Rows, prompts, their order, seed and settings are the same in every arm. Every policy and the base model are graded
    on several sets of labels. Rows of the benchmark itself are held out for that: all reviewed ones and a share.
    """
    require_packages(*PACKAGES, "trl", "datasets", "statsmodels")
    from training.runs.settings import GrpoSettings

    names = options.arms or ["original", "recomputed"]
    if len(set(names)) < len(names):
        raise UsageError("an arm is named twice", found=", ".join(names), expected="other labels for each arm")
    settings = options.settings(GrpoSettings)
    require_decoder(options.model, "GRPO")
    from ground.markdown import markdown_table
    from stewardship.benchmark.folder import Benchmark

    benchmark = Benchmark.open(options.workspace, options.benchmark)
    out = options.folder("grpo", benchmark.name, short_name(options.model), f"seed{settings.seed}")
    tables = _tables(options, names, benchmark, settings)
    # Late, since it takes seconds, and what is wrong is said before.
    from accelerate import PartialState

    from training.runs.models import device_of
    from training.runs.processes import is_main, join_processes

    device = device_of(settings.hardware)
    join_processes(device)
    with PartialState(cpu=device == "cpu").main_process_first():
        _write_tables(out / "data", tables, begun=any(out.glob("arm-*")), resume=options.resume)
    arms = _arms(options, names, benchmark, out / "data")
    if is_main():
        _announce(options, arms, settings)
    # Late, since it takes long, and what is wrong with the arms is said before.
    from training.grpo.train import train_arm

    graded = (
        {"base": _base(out, arms[0], options.model, settings, kept=options.resume)} if settings.evaluate_base else {}
    )
    records = {
        arm.name: train_arm(arm, options.model, out / f"arm-{arm.name}", settings, resume=options.resume, say=note)
        for arm in arms
    }
    # Of several processes that train together one speaks.
    if not is_main():
        raise typer.Exit
    payload = {
        "verb": "train grpo",
        "workspace": str(options.workspace),
        "benchmark": benchmark.name,
        "model": options.model,
        "limits": options.limits,
        "folder": str(out),
        "seed": settings.seed,
        "arms": [_summary(arm, out, record) for arm, record in records.items()],
        "sets": _compared(options, out, names, graded, settings.seed),
        "curves": _curves(records, out / "curve.png"),
    }
    write_text(out / "comparison.json", json.dumps(payload, indent=2) + "\n")
    comparison, notes = markdown_table(*_graded(payload)), "".join(f"- {line}\n" for line in _notes(payload))
    curve = f"\n{markdown_table(*_last(payload))}\n![Accuracy over steps](curve.png)\n" if payload["curves"] else ""
    write_text(out / "comparison.md", f"# GRPO on {benchmark.name}\n\n{comparison}\n{notes}{curve}")
    return Result(payload, _blocks)


def _tables(options: Grpo, arms: list[str], benchmark: Benchmark, settings: GrpoSettings) -> dict[str, pl.DataFrame]:
    """Return the arms' rows and those of evaluation, as training reads them."""
    import polars as pl

    from ground.stable import stable_unit
    from stewardship.grading.grades import label_set

    trained = {arm: label_set(benchmark, arm, options.limits) for arm in arms}
    sets = _sets(options, benchmark)
    # Of rows that are evaluated, the reviewed ones and a stable share of the others are not trained on.
    reviewed = benchmark.history.labels("physician")
    kept = {
        uid
        for where, labels in sets.values()
        for uid in labels.references
        if where.name == benchmark.name
        and (uid in reviewed or stable_unit(settings.seed, "grpo-holdout", uid) <= settings.holdout)
    }
    common = set.intersection(*(set(labels.references) for labels in trained.values())) - kept
    chosen = _chosen(common, settings.rows, settings.seed, "grpo-rows")
    if not chosen:
        raise InputError("no row is left to train on", found=benchmark.name, do="lower holdout, or name other arms")
    evaluated = []
    for name, (where, labels) in sets.items():
        uids = set(labels.references) & (kept if where.name == benchmark.name else set(labels.references))
        frame = _frame(where, labels, _chosen(uids, settings.evaluate_rows, settings.seed, "grpo-evaluate"))
        uid = pl.lit(f"{where.name}/") + pl.col("uid")
        evaluated.append(frame.select(pl.lit(name).alias("set"), uid.alias("uid"), pl.exclude("uid")))
    evaluation = pl.concat(evaluated)
    if evaluation.is_empty():
        raise InputError("no row is left to evaluate on", do="raise holdout, or name other labels with --evaluate")
    return {f"arm-{arm}": _frame(benchmark, labels, chosen) for arm, labels in trained.items()} | {
        "evaluate": evaluation
    }


def _sets(options: Grpo, benchmark: Benchmark) -> dict[str, tuple[Benchmark, LabelSet]]:
    """Return the sets of evaluation: those asked for, or all that the benchmark has."""
    from stewardship.benchmark.folder import Benchmark
    from stewardship.grading.grades import label_set

    roles: tuple[Role, ...] = ("physician", "final", "recomputed", "original")
    sets = {}
    for asked in options.evaluate or [role for role in roles if benchmark.history.labels(role)]:
        other, colon, labels = asked.rpartition(":")
        where = Benchmark.open(options.workspace, other) if colon else benchmark
        if where.categories != benchmark.categories:
            do = f"ask the finished arms: `steward ask --benchmark {other} --endpoint-model ARM`"
            raise UsageError("the labels to evaluate on are of another kind", found=asked, do=do)
        sets[asked] = (where, label_set(where, labels, options.limits))
    return sets


def _chosen(uids: set[str], count: int, seed: int, what: str) -> set[str]:
    """Return so many rows, drawn by seed; 0 means all."""
    from ground.stable import stable_hash

    return set(sorted(uids, key=lambda uid: (stable_hash(seed, what, uid), uid))[: count or None])


def _frame(benchmark: Benchmark, labels: LabelSet, uids: set[str]) -> pl.DataFrame:
    import polars as pl

    rows = []
    for uid, prompt in benchmark.prompts().items():
        if uid in uids:
            label = labels.references[uid]
            rows.append((uid, prompt, *(limit.text() for limit in (label.value, label.lower, label.upper))))
    columns = dict.fromkeys(("uid", "prompt", "label", "lower", "upper"), pl.String)
    return pl.DataFrame(rows, schema=columns, orient="row")


def _write_tables(folder: Path, tables: Mapping[str, pl.DataFrame], *, begun: bool, resume: bool) -> None:
    """Write the tables; where an arm was begun with them they must be the same."""
    import polars as pl

    if begun and not resume:
        raise UsageError(
            "this folder already contains a run", file=folder.parent, do="choose another folder, or resume this run"
        )
    private_directory(folder)
    for name, frame in tables.items():
        file = folder / f"{name}.parquet"
        if not begun:
            with atomic_path(file) as temporary:
                frame.write_parquet(temporary)
        elif not (file.is_file() and pl.read_parquet(file, glob=False).equals(frame)):
            raise UsageError(
                "rows or labels are not those that this run was started with",
                file=file,
                do="choose another folder with --out",
            )


def _arms(options: Grpo, names: Sequence[str], benchmark: Benchmark, data: Path) -> list[Arm]:
    from training.grpo.prompts import read_rows, read_sets
    from training.grpo.train import Arm

    evaluate = data / "evaluate.parquet"
    return [
        Arm(
            name=name,
            rows=read_rows(file, benchmark.categories),
            data={
                "name": benchmark.name,
                "licence_tier": benchmark.licence_tier,
                "rows_sha256": sha256_of(file),
                "evaluation_sha256": sha256_of(evaluate),
            },
            sets=read_sets(evaluate, benchmark.categories),
            categories=benchmark.categories,
        )
        for name, file in ((name, data / f"arm-{name}.parquet") for name in names)
    ]


def _announce(options: Grpo, arms: Sequence[Arm], settings: GrpoSettings) -> None:
    from ground.contracts.grading import within

    first, *others = ({row.uid: row.reference for row in arm.rows} for arm in arms)
    differ = sum(any(not within(other[uid].value, label) for other in others) for uid, label in first.items())
    steps = settings.epochs * (len(first) // settings.prompts_per_step)
    note(
        f"GRPO on {options.model}, arms {', '.join(arm.name for arm in arms)}: {len(first):,} rows,"
        f" {differ:,} of them with a label outside these limits in another arm; at most {steps:,} steps of "
        f"{settings.prompts_per_step} rows, {settings.group} responses each, seed {settings.seed}; evaluation on "
        + ", ".join(f"{name} {len(rows):,}" for name, rows in arms[0].sets.items())
    )


def _base(out: Path, arm: Arm, model: str, settings: GrpoSettings, *, kept: bool) -> pl.DataFrame:
    """Return the grades of the base model; a run that is gone on with reads them again."""
    import polars as pl

    from training.grpo.train import EVALUATION, evaluate_base
    from training.runs.processes import is_main, wait_for_all

    file = private_directory(out / "base") / EVALUATION
    there = kept and file.is_file()
    wait_for_all()
    graded = pl.read_parquet(file, glob=False) if there else evaluate_base(arm, model, settings)
    if not there and is_main():
        with atomic_path(file) as temporary:
            graded.write_parquet(temporary)
    return graded


def _summary(arm: str, out: Path, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what became of an arm, with the mean reward of the first and the last tenth of its steps."""
    rewards = [step["reward"] for step in record["losses"] if "reward" in step]
    size = max(1, len(rewards) // 10)
    parts = {"first": rewards[:size], "last": rewards[-size:]}
    return {
        "arm": arm,
        "folder": str(out / f"arm-{arm}"),
        "rows": record["rows"]["used"],
        "too_long": record["rows"]["left_out"]["too_long"],
        "steps": record["steps"],
        "order_sha256": record["order_sha256"],
        "rewards": {name: sum(part) / len(part) if part else None for name, part in parts.items()},
    }


def _compared(options: Grpo, out: Path, arms: list[str], base: dict[str, pl.DataFrame], seed: int) -> dict[str, Any]:
    """Return by set of labels the share of right answers of every policy, and how arms differ from the first one."""
    import polars as pl

    from ground.settings import read_settings
    from stewardship.grading.grades import share
    from stewardship.grading.leaderboard import paired_difference
    from training.grpo.train import EVALUATION

    resamples = read_settings(options.workspace / "ontoground.toml").steward.resamples
    graded = {**base, **{arm: pl.read_parquet(out / f"arm-{arm}" / EVALUATION, glob=False) for arm in arms}}
    sets = {}
    for name in graded[arms[0]]["set"].unique(maintain_order=True):
        right = {policy: rows.filter(set=name)["correct"].to_list() for policy, rows in graded.items()}
        first = right[arms[0]]
        sets[name] = {
            "rows": len(first),
            "accuracy": {policy: asdict(share(values)) for policy, values in right.items()},
            "difference": {arm: asdict(paired_difference(first, right[arm], resamples, seed)) for arm in arms[1:]},
        }
    return sets


def _curves(records: Mapping[str, Mapping[str, Any]], picture: Path) -> dict[str, Any]:
    """Return by set of labels each arm's accuracy over steps, and draw it; empty without evaluations in training."""
    from training.grpo.evaluate import curves, draw_curves

    found = curves({arm: record["evaluations"] for arm, record in records.items()})
    if found:
        draw_curves(found, picture)
    return found


def _last(payload: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the table of the means of the last evaluations in training: its heads and rows."""
    from ontoground.cli.steward.shares import ends, percent

    rows = [
        [name, arm, str(one["last"]["n"]), percent(one["last"]["value"]), ends(one["last"])]
        for name, arms in payload["curves"].items()
        for arm, one in arms.items()
    ]
    return ["labels", "arm", "last evaluations", "mean", "95% interval"], rows


def _graded(payload: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the table of all policies by set of labels: its heads and rows."""
    from ontoground.cli.steward.shares import difference, ends, percent

    rows = []
    for name, results in payload["sets"].items():
        for policy, share in results["accuracy"].items():
            change = results["difference"].get(policy)
            apart = "{} ({})".format(*difference(change)) if change else ""
            rows.append([name, policy, f"{share['correct']}/{share['n']}", percent(share["value"]), ends(share), apart])
    return ["labels", "policy", "right", "share", "95% interval", f"less {payload['arms'][0]['arm']} (95%)"], rows


def _notes(payload: dict[str, Any]) -> list[str]:
    notes = []
    for arm in payload["arms"]:
        begin, end = ("-" if reward is None else f"{reward:.3f}" for reward in arm["rewards"].values())
        notes.append(
            f"arm {arm['arm']}: {arm['rows']:,} rows ({arm['too_long']:,} prompts too long), {arm['steps']:,} steps, "
            f"mean reward {begin} at the start, {end} at the end"
        )
    same = len({arm["order_sha256"] for arm in payload["arms"]}) == 1
    return [
        *notes,
        "Every arm saw the same prompts in the same order." if same else "The arms' orders differ.",
        "One response a row; intervals are over rows (Wilson; differences: paired bootstrap), not over training seeds.",
    ]


def _blocks(payload: dict[str, Any]) -> Blocks:
    yield table(*_graded(payload))
    if payload["curves"]:
        yield table(*_last(payload), title="in training, over the last evaluations")
    yield from _notes(payload)
    yield unfolded(f"in {relative(Path(payload['folder']))}")
