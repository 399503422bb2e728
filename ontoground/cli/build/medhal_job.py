"""What ``ontoground build medhal`` does: sources chosen, engine opened, rows built, figures returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ground.errors import UsageError
from ground.storage.workspace import Workspace
from ontoground.cli.text_options import Chosen, ModelOptions, chosen_sources, described_model, language_model_settings

if TYPE_CHECKING:
    import duckdb

    from ground.flow.manifest import LicenceTier
    from ground.lm.client import LanguageModel
    from ontoground.flow.pipeline import Outcome

__all__ = ["MedhalAsked", "build_medhal_job"]

OWN = "mimic"
OPEN_WORLD_LICENCE = "the embedded open world: invented patients, free to share"


@dataclass(frozen=True)
class MedhalAsked:
    """What a user asked for; ``say`` is told what a person should know."""

    workspace: Workspace
    sources: str | None
    texts: Path | None
    engine: Literal["rules", "lm"]
    model: ModelOptions
    review: Path | None
    force: bool
    say: Callable[[str], None]


def build_medhal_job(asked: MedhalAsked) -> dict[str, Any]:
    """Build ``datasets/medhal`` and return what ``--json`` prints.

    Raises:
        UsageError: sources or engine are not named as they should be.
        InputError: a folder or an earlier stage is missing, or no pair could be made.
        RefusedError: credentialed texts and a language model that is not on this machine.
    """
    from builders.medhal.build import Made, build_medhal
    from builders.medhal.review import read_review
    from builders.medhal.rows import Seeds
    from builders.texts.origin import Tally
    from ontoground.flow.status import dataset_counts

    if asked.engine == "rules" and asked.model.given:
        raise UsageError("the engine rules asks no language model", do="add --engine lm, or leave the endpoint out")
    settings, tally = asked.workspace.settings, Tally()
    review = {} if asked.review is None else read_review(asked.review)
    seeds = Seeds(documents=settings.medhal.seed, patients=settings.build.seed)
    with ExitStack() as stack:
        own = stack.enter_context(_own(asked)) if _may_use_own(asked) else None
        chosen = chosen_sources("medhal", asked.sources, asked.texts, (OWN,) if own else ())
        tier = _tier(chosen, own)
        model = stack.enter_context(_language_model(asked, chosen)) if asked.engine == "lm" else None
        stages = _stages(asked, own) if any(one.folder is None for one in chosen) else []
        feeds = _feeds(asked, chosen, own, model, tally)
        made = Made(asked.engine, tier, seeds, {} if model is None else described_model(model), review)
        with _bars() as advance:
            folder = asked.workspace.dataset("medhal")
            report = build_medhal(feeds, folder, settings.medhal, made, tally, advance)
    return {
        "verb": "build medhal",
        "workspace": str(asked.workspace.root),
        "dataset": dataset_counts(folder),
        "engine": asked.engine,
        "source_splits": settings.medhal.splits,
        "licence_tier": tier,
        **report.as_dict(),
        "language_model": None if model is None else {"model": model.settings.model, **model.totals.as_dict()},
        "stages": [outcome.as_dict() for outcome in stages],
    }


def _may_use_own(asked: MedhalAsked) -> bool:
    """Tell whether the workspace's own facts are named, or could be meant."""
    if asked.sources is None:
        return asked.workspace.warehouse.is_file()
    return OWN in {name.strip() for name in asked.sources.split(",")}


@contextmanager
def _own(asked: MedhalAsked) -> Iterator[duckdb.DuckDBPyConnection | None]:
    """Open the warehouse; None where ``mimic`` is not named and the workspace lacks what it needs."""
    from ontoground.flow.session import writing
    from ontoground.flow.stages import stage, state_of

    Workspace.existing(asked.workspace.root)  # says what to do where there is none
    with writing(asked.workspace) as connection:
        state = state_of(connection, asked.workspace, stage("medieval"))
        if asked.sources is None and state.state == "no input":
            asked.say(f"source mimic left out: the workspace {state.reason}")
            yield None
        else:
            yield connection


def _tier(chosen: Sequence[Chosen], own: duckdb.DuckDBPyConnection | None) -> LicenceTier:
    """Return ``credentialed`` where any source is; the open world's patients are nobody's."""
    from ground.flow.manifest import licence_tier

    tiers = {one.source.tier if one.folder is not None or own is None else licence_tier(own) for one in chosen}
    return "credentialed" if "credentialed" in tiers else "open"


@contextmanager
def _language_model(asked: MedhalAsked, chosen: Sequence[Chosen]) -> Iterator[LanguageModel]:
    """Open the model for the texts that it is shown: our own facts are worded and judged without one."""
    from ground.lm.client import LanguageModel

    shown = {one.source.tier for one in chosen if one.folder is not None}
    settings = language_model_settings(asked.model)["language_model"]
    with LanguageModel(settings, asked.workspace.root, "credentialed" if "credentialed" in shown else "open") as model:
        yield model


def _stages(asked: MedhalAsked, own: duckdb.DuckDBPyConnection | None) -> list[Outcome]:
    from ontoground.flow.pipeline import run_stages

    assert own is not None
    return run_stages(asked.workspace, own, ["medieval"], force=asked.force, say=asked.say)


def _feeds(
    asked: MedhalAsked,
    chosen: Sequence[Chosen],
    own: duckdb.DuckDBPyConnection | None,
    model: LanguageModel | None,
    tally: Any,
) -> list[Any]:
    from builders.medhal.engines import lm_engine, rules_engine
    from builders.medhal.own_feed import own_feed
    from builders.medhal.text_feeds import text_feed
    from ground.flow.manifest import licence_tier

    settings = asked.workspace.settings.medhal
    engine = rules_engine(settings.seed) if model is None else lm_engine(model)
    feeds = []
    for one in chosen:
        if one.folder is not None:
            feeds.append(text_feed(one.source, one.folder, engine, settings, tally))
        else:
            assert own is not None
            licence = OPEN_WORLD_LICENCE if licence_tier(own) == "open" else one.source.licence
            feeds.append(own_feed(one.source, licence, asked.workspace, own, tally))
    return feeds


@contextmanager
def _bars() -> Iterator[Callable[[str, int], None]]:
    """Yield what moves a bar on: one bar a source, one at a time."""
    from ground.progress import progress

    with ExitStack() as stack:
        shown: dict[str, Callable[[int], None]] = {}

        def advance(source: str, pairs: int) -> None:
            if source not in shown:
                stack.close()
                shown[source] = stack.enter_context(progress(f"{source}: pairs", None))
            shown[source](pairs)

        yield advance
