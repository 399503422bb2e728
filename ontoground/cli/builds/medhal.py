"""``ontoground build medhal``: sources chosen, engine opened, rows built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from ground.errors import UsageError
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

    from ground.storage.workspace import Workspace
    from ontoground.flow.pipeline import Outcome

__all__ = ["medhal"]

OWN = "mimic"
REASONS_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Medhal(FromTexts):
    """Options of the verb."""

    dataset: ClassVar[Literal["medhal", "medval"]] = "medhal"

    sources: Annotated[
        str | None,
        typer.Option(
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
    from builders.medhal.build import Made, build_medhal
    from builders.medhal.engines import lm_engine, rules_engine
    from builders.medhal.plan import chosen_sources, feeds_of
    from builders.texts.origin import Seeds, Tally
    from ground.flow.manifest import licence_tier
    from ground.lm.client import LanguageModel
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.status import dataset_counts

    workspace, texts = options.open(needs_warehouse=False), options.named_texts
    if options.engine == "rules" and options.model.given:
        raise UsageError("the engine rules uses no language model", do="add --engine lm, or leave the endpoint out")
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
        seeds = Seeds(documents=settings.seed, patients=build.seed, ends=build.split_ends)
        made = Made(options.engine, tier, seeds, {} if model is None else described_model(model))
        with bars("pairs") as advance:
            report = build_medhal(feeds, workspace.dataset("medhal"), settings, made, tally, advance)
    found = {
        "dataset": dataset_counts(workspace.dataset("medhal")),
        "engine": options.engine,
        "source_splits": settings.splits,
        "licence_tier": tier,
        **report.as_dict(),
        "language_model": None if model is None else {"model": model.settings.model, **model.totals.as_dict()},
        "stages": [outcome.as_dict() for outcome in stages],
    }
    return options.result("build medhal", _blocks, **found)


@contextmanager
def _own_facts(options: Medhal, workspace: Workspace) -> Iterator[duckdb.DuckDBPyConnection | None]:
    """Open the warehouse where ``mimic`` is named, or could be meant; None where the workspace lacks what it needs."""
    from ground.storage.workspace import Workspace
    from ontoground.flow.session import writing
    from ontoground.flow.stages import stage, state_of

    named = None if options.sources is None else OWN in {name.strip() for name in options.sources.split(",")}
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


def _blocks(payload: dict[str, Any]) -> Blocks:
    rows = [
        {**one, "judge": one["judge"] or "none", "kept_share": percent(one["kept_share"])} for one in payload["sources"]
    ]
    columns = "source, task, items, pairs, judge, kept_share: confirmed, factual, non_factual: not factual"
    yield listing(rows, columns, title=f"MedHal, engine {payload['engine']}")
    yield from dropped_blocks(payload["dropped"], REASONS_SHOWN)
    yield from shortcut_blocks(payload["shortcuts"])
    versions = ", ".join(
        f"{version.replace('_', ' ')} {number(sum(tasks.values()))}" for version, tasks in payload["versions"].items()
    )
    yield f"\nversions: {versions}"
    if payload["language_model"] is not None:
        yield requests_in_words(payload["language_model"])
    yield unfolded(dataset_in_words(payload["dataset"]))
