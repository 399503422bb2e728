"""``ontoground build medhal|medval``: sources or inputs chosen, engine opened, rows built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from typer import Option

from ground.errors import InputError, UsageError
from ontoground.cli.builds.options import (
    FromTexts,
    bars,
    closest,
    dropped_blocks,
    group,
    requests_in_words,
    shortcut_blocks,
)
from ontoground.cli.options import Result, verb
from ontoground.cli.render import Blocks, dataset_in_words, listing, note, number, percent, unfolded
from ontoground.cli.text_options import described_model, language_model_settings

if TYPE_CHECKING:
    import duckdb

    from builders.medval.build import Method
    from builders.medval.feeds import Plan
    from builders.shards import Split
    from ground.flow.manifest import LicenceTier
    from ground.lm.client import LanguageModel
    from ground.storage.workspace import Workspace
    from ontoground.flow.pipeline import Outcome

__all__ = ["medhal", "medval"]

OWN_FACTS = "mimic"
# Tasks whose inputs are notes of the workspace.
NOTE_TASKS = frozenset({"course2diagnosis", "bhc2spanish"})


@dataclass(frozen=True, kw_only=True)
class Medhal(FromTexts):
    """Options of the verb."""

    dataset: ClassVar[Literal["medhal", "medval"]] = "medhal"

    sources: Annotated[
        str | None,
        Option(
            metavar="NAMES", help="Sources, separated by commas, each NAME or NAME=DIR; default: all that are found"
        ),
    ] = None


@verb(
    group,
    "Build statements that are factual or not.",
    "ontoground build medhal --texts DIR",
    "ontoground build medhal --texts mine=DIR:medmcqa --splits all",
    "ontoground build medhal --sources medqa,sumpubmed,mimic --texts DIR \\",
    "    --splits all",
    "ontoground build medhal --sources pubmedqa=DIR --engine lm \\",
    "    --endpoint http://127.0.0.1:8000/v1 --endpoint-model Qwen3-8B",
)
def medhal(options: Medhal) -> Result:
    """Build medical statements, factual or not, in pairs, into datasets/medhal.

    Sources are text sets on disk, and mimic: the workspace's own facts, whose missing stages run first. A language
    model's answers are stored, so a run that was stopped continues where it was.
    """
    from builders.medhal.build import Provenance, build_medhal
    from builders.medhal.engines import lm_engine, rules_engine
    from builders.medhal.plan import chosen_sources, feeds_of
    from builders.texts.origin import Seeds, Tally
    from ground.flow.manifest import licence_tier, replacing
    from ground.lm.client import LanguageModel
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.status import dataset_counts

    workspace, texts = options.open(needs_warehouse=False), options.named_texts
    options.check_rules()
    settings, model = workspace.settings.medhal, None
    tally = Tally(settings.splits)
    with ExitStack() as stack:
        own = stack.enter_context(_own_facts(options, workspace))
        chosen = chosen_sources(options.sources, texts, own=own is not None)
        tier = closest(*(source.tier for source, folder in chosen.items() if folder is not None))
        if options.engine == "lm":
            # It is shown the texts only: our own facts are worded and judged without one.
            asked = language_model_settings(options.model)["language_model"]
            model = stack.enter_context(LanguageModel(asked, workspace.root, tier))
        stages: list[Outcome] = []
        if own is not None and None in chosen.values():
            stages = run_stages(workspace, own, ["medieval"], force=options.force, say=note)
            # The open world's patients are nobody's.
            tier = closest(tier, licence_tier(own))
        engine = rules_engine(settings.seed) if model is None else lm_engine(model)
        feeds = feeds_of(chosen, engine, workspace, own, tally)
        build = workspace.settings.build
        seeds = Seeds(
            documents=settings.seed, patients=build.seed, ends=build.split_ends, given=_given_splits(workspace, own)
        )
        provenance = Provenance(options.engine, tier, seeds, {} if model is None else described_model(model))
        with replacing(workspace.dataset("medhal")), bars("pairs") as advance:
            report = build_medhal(feeds, workspace.dataset("medhal"), settings, provenance, tally, advance)
    return options.result(
        "build medhal",
        _medhal_blocks,
        dataset=dataset_counts(workspace.dataset("medhal")),
        engine=options.engine,
        source_splits=settings.splits,
        licence_tier=tier,
        **report.as_dict(),
        language_model=model and _usage(model),
        stages=[outcome.as_dict() for outcome in stages],
    )


@contextmanager
def _own_facts(options: Medhal, workspace: Workspace) -> Iterator[duckdb.DuckDBPyConnection | None]:
    """Open the warehouse where ``mimic`` is named, or could be meant; None where the workspace lacks what it needs."""
    from ground.storage.workspace import Workspace
    from ontoground.flow.session import writing
    from ontoground.flow.stages import stage, state_of

    named = None if options.sources is None else OWN_FACTS in {name.strip() for name in options.sources.split(",")}
    if named is False or (named is None and not workspace.warehouse.is_file()):
        yield None
        return
    Workspace.existing(workspace.root)  # says what to do where there is none
    with writing(workspace) as connection:
        state = state_of(connection, workspace, stage("medieval"))
        if named is None and state.state == "no input":
            note(f"source mimic left out: the workspace {state.reason}")
            yield None
        else:
            yield connection


def _medhal_blocks(payload: dict[str, Any]) -> Blocks:
    rows = [
        {**source, "judge": source["judge"] or "none", "kept_share": percent(source["kept_share"])}
        for source in payload["sources"]
    ]
    columns = "source, task, items, pairs, judge, kept_share: confirmed, factual, non_factual: not factual"
    yield listing(rows, columns, title=f"MedHal, engine {payload['engine']}")
    yield from dropped_blocks(payload["dropped"], 5)
    yield from shortcut_blocks(payload["shortcuts"])
    versions = ", ".join(
        f"{version.replace('_', ' ')} {number(sum(tasks.values()))}" for version, tasks in payload["versions"].items()
    )
    yield f"\nversions: {versions}"
    if payload["language_model"] is not None:
        yield requests_in_words(payload["language_model"])
    yield unfolded(dataset_in_words(payload["dataset"]))


@dataclass(frozen=True, kw_only=True)
class Medval(FromTexts):
    """Options of the verb; the first of its models generates and judges, where there is the second, that one judges."""

    dataset: ClassVar[Literal["medhal", "medval"]] = "medval"
    roles: ClassVar[tuple[str, ...]] = ("language_model", "validator_model")

    tasks: Annotated[
        str | None,
        Option(
            metavar="NAMES",
            help="Tasks, separated by commas; default: all that the engine can do with the inputs found",
        ),
    ] = None
    tau: Annotated[
        float | None,
        Option(
            min=0,
            max=1,
            help="With --engine lm: consistency from which on a triple is kept; 0 keeps all",
            show_default=False,
        ),
    ] = None
    config: Annotated[
        Path | None,
        Option(
            "--config",
            metavar="FILE",
            help="TOML file with [language_model] and, to judge by another, [validator_model]",
        ),
    ] = None
    overrides: Annotated[
        list[str] | None,
        Option(
            "--set", metavar="KEY=VALUE", help="Override a setting, as medval.seed=7 or validator_model.concurrency=4"
        ),
    ] = None

    @property
    def flags(self) -> list[str]:
        """The settings of the dataset, with ``--tau``."""
        return super().flags + ([] if self.tau is None else [f"medval.tau={self.tau}"])

    def check_rules(self) -> None:
        """Refuse what belongs to language models alone: a model, or a consistency."""
        super().check_rules()
        tau = self.tau is not None or any(setting.startswith("medval.tau=") for setting in self.overrides or ())
        if self.engine == "rules" and tau:
            raise UsageError(
                "a consistency without language models",
                found="--tau with the engine rules, whose levels are known by construction",
                do="leave it out, or add --engine lm",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The tasks that are named."""
        return tuple(name.strip() for name in (self.tasks or "").split(",") if name.strip())


@verb(
    group,
    "Build outputs of text tasks, judged for errors.",
    "ontoground build medval --texts DIR",
    "ontoground build medval --texts mine=DIR:meqsum",
    "ontoground build medval --tasks query2question,course2diagnosis --texts DIR",
    "ontoground build medval --tasks bhc2spanish --engine lm \\",
    "    --endpoint http://127.0.0.1:8000/v1 --endpoint-model Qwen3-8B",
)
def medval(options: Medval) -> Result:
    """Build outputs of medical text tasks, clean and perturbed, with errors and risk levels, into datasets/medval.

    Inputs are text sets on disk and the workspace's own notes, whose missing stages run first. A language model's
    answers are stored, so a run that was stopped continues where it was.
    """
    from builders.medval.build import build_medval
    from builders.medval.feeds import check_asked, plan_feeds
    from ground.flow.manifest import replacing
    from ontoground.flow.session import reading
    from ontoground.flow.status import dataset_counts

    workspace = options.open(needs_warehouse=False)
    options.check_rules()
    texts = options.named_texts
    check_asked(options.names, options.engine, texts)
    if options.engine == "lm":
        language_model_settings(options.model, options.roles)
    settings, folder = workspace.settings.medval, workspace.dataset("medval")
    stages = _stages(options, workspace)
    # Open for reading only, so that worker processes may read too.
    with reading(workspace) if workspace.warehouse.is_file() else nullcontext() as connection:
        plan = plan_feeds(options.names, options.engine, texts, workspace, connection)
        with (
            _method(options, workspace, plan, connection) as method,
            replacing(folder),
            bars("inputs") as advance,
        ):
            report = build_medval(plan, folder, settings, method, advance)
    results = {
        "dataset": dataset_counts(folder),
        "source_splits": settings.splits,
        "licence_tier": method.tier,
        **{name: value for name, value in report.as_dict().items() if name != "folder"},
        "language_models": dict(report.language_models) or None,
        "stages": [outcome.as_dict() for outcome in stages],
    }
    return options.result("build medval", _medval_blocks, **results)


def _stages(options: Medval, workspace: Workspace) -> list[Outcome]:
    """Bring the stages up to date that the engine and the notes need; tasks without their input are refused later."""
    from ground.contracts.taxonomy import resolve_tasks
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.session import writing
    from ontoground.flow.stages import stage, state_of

    if not workspace.warehouse.is_file():
        if options.engine == "rules":
            raise _no_graph(workspace)
        return []
    wanted = ["mentions"] if NOTE_TASKS & set(resolve_tasks(options.names, "medval")) else []
    wanted += ["graph"] if options.engine == "rules" else []
    with writing(workspace) as connection:
        able = [name for name in wanted if state_of(connection, workspace, stage(name)).state != "no input"]
        return run_stages(workspace, connection, able, force=options.force, say=note)


@contextmanager
def _method(
    options: Medval, workspace: Workspace, plan: Plan, connection: duckdb.DuckDBPyConnection | None
) -> Iterator[Method]:
    tier, seed = closest(*(feed.tier for feed in plan.feeds)), workspace.settings.build.seed
    if connection is not None and options.engine == "rules":
        yield _rules_method(workspace, connection, tier, seed)
        return
    from builders.medval.build import Method
    from builders.medval.lm.generator import LmGenerator
    from builders.medval.lm.validator import LmValidator
    from ground.lm.client import LanguageModel

    with ExitStack() as stack:
        models = {
            role: stack.enter_context(LanguageModel(settings, workspace.root, tier))
            for role, settings in language_model_settings(options.model, options.roles).items()
        }
        generator = models["language_model"]
        validator = models.get("validator_model", generator)
        yield Method(
            "lm",
            lambda _: (LmGenerator(generator), LmValidator(validator)),
            tier,
            seed,
            workspace.settings.build.split_ends,
            _given_splits(workspace, connection),
            models={role: described_model(model) for role, model in models.items()},
            usage=lambda: {role: _usage(model) for role, model in models.items()},
        )


def _usage(model: LanguageModel) -> dict[str, Any]:
    return {"model": model.settings.model, **model.totals.as_dict()}


def _rules_method(workspace: Workspace, connection: duckdb.DuckDBPyConnection, tier: LicenceTier, seed: int) -> Method:
    from builders.medval.build import Method
    from builders.medval.rules.engine import open_rules
    from ground.flow.manifest import inputs, licence_tier

    if not (workspace.graph / "manifest.json").is_file():
        raise _no_graph(workspace)
    run = workspace.settings.run
    return Method(
        "rules",
        partial(open_rules, workspace),
        # Words of the ontology come into the outputs: its licence holds for them too.
        closest(tier, licence_tier(connection)),
        seed,
        workspace.settings.build.split_ends,
        _given_splits(workspace, connection),
        inputs=[
            *(entry for entry in inputs(connection) if entry["source"] != "mimic"),
            *workspace.rules.inputs(),
        ],
        workers=1 if run.executor == "serial" else run.workers,
    )


def _given_splits(workspace: Workspace, connection: duckdb.DuckDBPyConnection | None) -> dict[int, Split]:
    """Return the splits of patients that the source of the records gives, where the settings ask for them."""
    if workspace.settings.build.patient_splits != "source" or not workspace.warehouse.is_file():
        return {}
    if connection is None:
        from ontoground.flow.session import reading

        with reading(workspace) as opened:
            return _given_splits(workspace, opened)
    return dict(connection.execute("select subject_id, split from ehr.patient where split is not null").fetchall())


def _no_graph(workspace: Workspace) -> InputError:
    return InputError(
        "the engine rules needs the concept graph, and this workspace has none",
        file=workspace.graph,
        do="load a UMLS release with `ontoground load umls DIR`, or try `ontoground demo`",
    )


def _medval_blocks(payload: dict[str, Any]) -> Blocks:
    rows = [
        {
            **task,
            **task["kept_by_level"],
            "kept_share": percent(task["kept_share"]),
            "mean_consistency": "" if task["mean_consistency"] is None else f"{task['mean_consistency']:.3f}",
        }
        for task in payload["tasks"]
    ]
    tau = payload["tau"]
    mean = "" if tau is None else "mean_consistency: mean M, "
    columns = f"task, inputs, judged, kept, kept_share: share, {mean}1, 2, 3, 4"
    how = payload["engine"] if tau is None else f"{payload['engine']}, tau {tau:g}"
    yield listing(rows, columns, title=f"MedVAL triples, engine {how}; 1 to 4: kept of each level")
    yield from dropped_blocks(payload["dropped"], 6)
    yield from shortcut_blocks(payload["shortcuts"])
    for task in payload["left_out_tasks"]:
        yield f"{task['task']} left out: {task['reason']}"
    for role, used in (payload["language_models"] or {}).items():
        yield f"{role.replace('_', ' ')} {requests_in_words(used)}"
    yield unfolded(f"\n{dataset_in_words(payload['dataset'])}")
