"""``ontoground build medval``: inputs chosen, engine opened, rows built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

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
from ontoground.cli.render import Blocks, dataset_in_words, listing, note, percent, unfolded
from ontoground.cli.text_options import described_model, language_model_settings

if TYPE_CHECKING:
    import duckdb

    from builders.medval.build import Method
    from builders.medval.feeds import Plan
    from ground.flow.manifest import LicenceTier
    from ground.storage.workspace import Workspace
    from ontoground.flow.pipeline import Outcome

__all__ = ["medval"]

# Tasks whose inputs are notes of the workspace, and what must have run before.
NOTE_TASKS = frozenset({"course2diagnosis", "bhc2spanish"})
REASONS_SHOWN = 6


@dataclass(frozen=True, kw_only=True)
class Medval(FromTexts):
    """Options of the verb; the first of its models generates and judges, where there is the second, that one judges."""

    dataset: ClassVar[Literal["medhal", "medval"]] = "medval"
    roles: ClassVar[tuple[str, ...]] = ("language_model", "validator_model")

    tasks: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Tasks, separated by commas; default: all that the engine can do with the inputs found",
        ),
    ] = None
    tau: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="With --engine lm: consistency from which on a triple is kept; 0 keeps all",
            show_default=False,
        ),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="TOML file with [language_model] and, to judge by another, [validator_model]",
        ),
    ] = None
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Override a setting, as medval.seed=7 or validator_model.concurrency=4"
        ),
    ] = None

    @property
    def flags(self) -> list[str]:
        """What is said of the dataset, with ``--tau``."""
        return super().flags + ([] if self.tau is None else [f"medval.tau={self.tau}"])

    def check_rules(self) -> None:
        """Refuse what belongs to language models alone.

        Raises:
            UsageError: a model, or a consistency, was named for the engine rules.
        """
        if self.model.given:
            raise UsageError("the engine rules uses no language model", do="add --engine lm, or leave the models out")
        if self.tau is not None or any(setting.startswith("medval.tau=") for setting in self.overrides or ()):
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
    from ontoground.flow.session import reading
    from ontoground.flow.status import dataset_counts

    workspace = options.open(needs_warehouse=False)
    if options.engine == "rules":
        options.check_rules()
    texts = options.named_texts
    check_asked(options.names, options.engine, texts.folder)
    if options.engine == "lm":
        language_model_settings(options.model, options.roles)
    settings, folder = workspace.settings.medval, workspace.dataset("medval")
    stages = _stages(options, workspace)
    # Open for reading only, so that worker processes may read too.
    with reading(workspace) if workspace.warehouse.is_file() else nullcontext() as connection:
        plan = plan_feeds(options.names, options.engine, texts, workspace, connection)
        with _made(options, workspace, plan, connection) as made, bars("inputs") as advance:
            report = build_medval(plan, folder, settings, made, advance)
    found = {
        "dataset": dataset_counts(folder),
        "source_splits": settings.splits,
        "licence_tier": made.tier,
        **{name: value for name, value in report.as_dict().items() if name != "folder"},
        "language_models": dict(report.language_models) or None,
        "stages": [outcome.as_dict() for outcome in stages],
    }
    return options.result("build medval", _blocks, **found)


def _stages(options: Medval, workspace: Workspace) -> list[Outcome]:
    """Bring the stages up to date that the engine and the notes need; what cannot run is left to those who miss it."""
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
def _made(
    options: Medval, workspace: Workspace, plan: Plan, connection: duckdb.DuckDBPyConnection | None
) -> Iterator[Method]:
    tier, seed = closest(*(feed.tier for feed in plan.feeds)), workspace.settings.build.seed
    if connection is not None and options.engine == "rules":
        yield _made_by_rules(workspace, connection, tier, seed)
        return
    from builders.medval.build import Method
    from builders.medval.lm.generator import LmGenerator
    from builders.medval.lm.validator import LmValidator
    from ground.lm.client import LanguageModel

    with ExitStack() as stack:
        models = {
            role: stack.enter_context(LanguageModel(one, workspace.root, tier))
            for role, one in language_model_settings(options.model, options.roles).items()
        }
        generator = models["language_model"]
        validator = models.get("validator_model", generator)
        yield Method(
            "lm",
            lambda _: (LmGenerator(generator), LmValidator(validator)),
            tier,
            seed,
            workspace.settings.build.split_ends,
            models={role: described_model(model) for role, model in models.items()},
            usage=lambda: {role: {"model": one.settings.model, **one.totals.as_dict()} for role, one in models.items()},
        )


def _made_by_rules(workspace: Workspace, connection: duckdb.DuckDBPyConnection, tier: LicenceTier, seed: int) -> Method:
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
        inputs=[
            *(entry for entry in inputs(connection) if entry["source"] != "mimic"),
            *workspace.rules.inputs(),
        ],
        workers=1 if run.executor == "serial" else run.workers,
    )


def _no_graph(workspace: Workspace) -> InputError:
    return InputError(
        "the engine rules needs the concept graph, and this workspace has none",
        file=workspace.graph,
        do="load a UMLS release with `ontoground load umls DIR`, or try `ontoground demo`",
    )


def _blocks(payload: dict[str, Any]) -> Blocks:
    rows = [
        {
            **one,
            **one["kept_by_level"],
            "kept_share": percent(one["kept_share"]),
            "mean_consistency": "" if one["mean_consistency"] is None else f"{one['mean_consistency']:.3f}",
        }
        for one in payload["tasks"]
    ]
    tau = payload["tau"]
    mean = "" if tau is None else "mean_consistency: mean M, "
    columns = f"task, inputs, judged, kept, kept_share: share, {mean}1, 2, 3, 4"
    how = payload["engine"] if tau is None else f"{payload['engine']}, tau {tau:g}"
    yield listing(rows, columns, title=f"MedVAL triples, engine {how}; 1 to 4: kept of each level")
    yield from dropped_blocks(payload["dropped"], REASONS_SHOWN)
    yield from shortcut_blocks(payload["shortcuts"])
    for one in payload["left_out_tasks"]:
        yield f"{one['task']} left out: {one['reason']}"
    for role, used in (payload["language_models"] or {}).items():
        yield f"{role.replace('_', ' ')} {requests_in_words(used)}"
    yield unfolded(f"\n{dataset_in_words(payload['dataset'])}")
