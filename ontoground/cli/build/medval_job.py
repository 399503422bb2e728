"""What ``ontoground build medval`` does: inputs chosen, engine opened, rows built, figures returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ground.errors import InputError, UsageError
from ground.storage.workspace import Workspace
from ontoground.cli.render import number, table
from ontoground.cli.text_options import ModelOptions, described_model, language_model_settings

if TYPE_CHECKING:
    import duckdb
    from rich.console import Console

    from builders.medval.build import Made
    from builders.medval.feeds import Plan
    from ground.flow.manifest import LicenceTier
    from ground.lm.client import LanguageModel
    from ontoground.flow.pipeline import Outcome

__all__ = ["ROLES", "MedvalAsked", "build_medval_job", "paint_medval"]

ROLES = ("language_model", "validator_model")
"""Tables of language models: the first generates and judges; where there is the second, that one judges."""
# Tasks whose inputs are notes of the workspace, and what must have run before.
NOTE_TASKS = frozenset({"course2diagnosis", "bhc2spanish"})
TOP_REASONS = 6


@dataclass(frozen=True)
class MedvalAsked:
    """What a user asked for; ``say`` is told what a person should know."""

    workspace: Workspace
    tasks: tuple[str, ...]
    texts: Path | None
    engine: Literal["rules", "lm"]
    models: ModelOptions = field(default_factory=ModelOptions)
    force: bool = False
    say: Callable[[str], None] = lambda _message: None


def build_medval_job(asked: MedvalAsked) -> dict[str, Any]:
    """Build ``datasets/medval`` and return what ``--json`` prints.

    Raises:
        UsageError: a task or an engine is not named as it should be, or the engine cannot do the task.
        InputError: a folder, an earlier stage or the inputs are missing, or no triple was kept.
        RefusedError: credentialed texts and a language model that is not on this machine.
    """
    from builders.medval.build import build_medval
    from builders.medval.feeds import check_asked, plan_feeds
    from ontoground.flow.status import dataset_counts

    if asked.engine == "rules" and asked.models.given:
        raise UsageError("the engine rules asks no language model", do="add --engine lm, or leave the models out")
    check_asked(asked.tasks, asked.engine, asked.texts)
    if asked.engine == "lm":
        language_model_settings(asked.models, ROLES)
    settings = asked.workspace.settings
    with ExitStack() as stack:
        stages = _stages(asked)
        connection = stack.enter_context(_warehouse(asked))
        plan = plan_feeds(asked.tasks, asked.engine, asked.texts, asked.workspace, connection)
        made = stack.enter_context(_made(asked, plan, connection))
        folder = asked.workspace.dataset("medval")
        with _bars() as advance:
            report = build_medval(plan, folder, settings.medval, made, advance)
    return {
        "verb": "build medval",
        "workspace": str(asked.workspace.root),
        "dataset": dataset_counts(folder),
        "source_splits": settings.medval.splits,
        "licence_tier": made.tier,
        **{name: value for name, value in report.as_dict().items() if name != "folder"},
        "language_models": dict(report.language_models) or None,
        "stages": [outcome.as_dict() for outcome in stages],
    }


@contextmanager
def _warehouse(asked: MedvalAsked) -> Iterator[duckdb.DuckDBPyConnection | None]:
    """Open the warehouse for reading, so that worker processes may too; None where there is none and none is needed."""
    from ontoground.flow.session import reading

    if not asked.workspace.warehouse.is_file():
        yield None
        return
    with reading(asked.workspace) as connection:
        yield connection


def _stages(asked: MedvalAsked) -> list[Outcome]:
    """Bring the stages up to date that the engine and the notes need; what cannot run is left to those who miss it."""
    from ground.contracts.taxonomy import resolve_tasks
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.session import writing
    from ontoground.flow.stages import stage, state_of

    notes = bool(NOTE_TASKS & set(resolve_tasks(asked.tasks, "medval")))
    wanted = [*(["mentions"] if notes else []), *(["graph"] if asked.engine == "rules" else [])]
    if not asked.workspace.warehouse.is_file():
        if asked.engine == "rules":
            raise _no_graph(asked.workspace)
        return []
    with writing(asked.workspace) as connection:
        able = [name for name in wanted if state_of(connection, asked.workspace, stage(name)).state != "no input"]
        return run_stages(asked.workspace, connection, able, force=asked.force, say=asked.say) if able else []


@contextmanager
def _made(asked: MedvalAsked, plan: Plan, connection: duckdb.DuckDBPyConnection | None) -> Iterator[Made]:
    inputs_tier = _closest(*(feed.tier for feed in plan.feeds))
    patient_seed = asked.workspace.settings.build.seed
    if asked.engine == "rules":
        yield _made_by_rules(asked, inputs_tier, patient_seed, connection)
        return
    from builders.medval.build import Made
    from builders.medval.lm.generator import LmGenerator
    from builders.medval.lm.validator import LmValidator

    with ExitStack() as stack:
        models = _open_models(asked, inputs_tier, stack)
        generator, validator = models[ROLES[0]], models.get(ROLES[1], models[ROLES[0]])
        yield Made(
            "lm",
            lambda: (LmGenerator(generator), LmValidator(validator)),
            inputs_tier,
            patient_seed,
            models={role: described_model(model) for role, model in models.items()},
            usage=lambda: {role: {"model": one.settings.model, **one.totals.as_dict()} for role, one in models.items()},
        )


def _made_by_rules(
    asked: MedvalAsked, inputs_tier: LicenceTier, patient_seed: int, connection: duckdb.DuckDBPyConnection | None
) -> Made:
    from builders.medval.build import Made
    from builders.medval.workers import rules_of
    from ground.flow.manifest import inputs, licence_tier

    assert connection is not None
    if not (asked.workspace.graph / "manifest.json").is_file():
        raise _no_graph(asked.workspace)
    # Words of the ontology come into the outputs: its licence holds for them too.
    tier = _closest(inputs_tier, licence_tier(connection))
    of_graph = [entry for entry in inputs(connection) if entry["source"] != "mimic"]
    run = asked.workspace.settings.run
    workers = 1 if run.executor == "serial" else run.workers
    return Made("rules", partial(rules_of, asked.workspace), tier, patient_seed, inputs=of_graph, workers=workers)


def _no_graph(workspace: Workspace) -> InputError:
    return InputError(
        "the engine rules needs the concept graph, and this workspace has none",
        file=workspace.graph,
        do="load a UMLS release with `ontoground load umls DIR`, or try `ontoground demo`",
    )


def _closest(*tiers: LicenceTier) -> LicenceTier:
    return "credentialed" if "credentialed" in tiers else "open"


def _open_models(asked: MedvalAsked, tier: LicenceTier, stack: ExitStack) -> Mapping[str, LanguageModel]:
    from ground.lm.client import LanguageModel

    settings = language_model_settings(asked.models, ROLES)
    return {role: stack.enter_context(LanguageModel(one, asked.workspace.root, tier)) for role, one in settings.items()}


@contextmanager
def _bars() -> Iterator[Callable[[str, int], None]]:
    """Yield what moves a bar on: one bar a task, one at a time."""
    from ground.progress import progress

    with ExitStack() as stack:
        shown: dict[str, Callable[[int], None]] = {}

        def advance(task: str, inputs: int) -> None:
            if task not in shown:
                stack.close()
                shown[task] = stack.enter_context(progress(f"{task}: inputs", None))
            shown[task](inputs)

        yield advance


def paint_medval(out: Console, payload: Mapping[str, Any]) -> None:
    """Print kept triples by task and level, shares, the commonest reasons, and where the dataset is."""
    columns = ("task", "inputs", "judged", "kept", "share", "mean M", "1", "2", "3", "4")
    rows = [
        [
            one["task"],
            one["inputs"],
            one["judged"],
            one["kept"],
            "" if one["kept_share"] is None else f"{100 * one['kept_share']:.1f}%",
            "" if one["mean_consistency"] is None else f"{one['mean_consistency']:.3f}",
            *one["kept_by_level"].values(),
        ]
        for one in payload["tasks"]
    ]
    title = f"MedVAL triples, engine {payload['engine']}, tau {payload['tau']:g}; 1 to 4: kept of each level"
    out.print(table(columns, rows, title=title))
    reasons = sorted(payload["dropped"].items(), key=lambda one: (-one[1], one[0]))
    if reasons:
        out.print()
        out.print(table(("left out, most frequent", "n"), [list(one) for one in reasons[:TOP_REASONS]]))
    for one in payload["left_out_tasks"]:
        out.print(f"{one['task']} left out: {one['reason']}")
    for role, used in (payload["language_models"] or {}).items():
        out.print(
            f"{role.replace('_', ' ')} {used['model']}: {number(used['requests'])} requests,"
            f" {number(used['cached'])} from the cache, {number(sum(used['failures'].values()))} without an answer"
        )
    dataset = payload["dataset"]
    splits = ", ".join(f"{split} {number(n)}" for split, n in dataset["splits"].items())
    out.print(f"\n{number(dataset['rows'])} rows ({splits}) in {dataset['folder']}", soft_wrap=True)
