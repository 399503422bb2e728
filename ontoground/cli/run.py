"""``ontoground run``: all stages in order, resumable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ontoground.cli.app import app
from ontoground.cli.options import (
    DEFAULT_WORKSPACE,
    Address,
    Executor,
    Json,
    Overrides,
    Workers,
    WorkspaceDir,
    example,
    open_to_work,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["register"]

EXAMPLE = example(
    "ontoground run --mimic /data/mimiciv --umls /data/umls/META \\",
    "    --rxnorm /data/rxnorm/rrf --workspace work",
)


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(name="run", short_help="Load, map, read the notes and build the dataset.", epilog=EXAMPLE)(_run)


def _run(
    mimic: Annotated[str, typer.Option("--mimic", metavar="DIR", help="MIMIC-IV folder or URL with hosp/ and note/")],
    umls: Annotated[str, typer.Option("--umls", metavar="DIR", help="UMLS META folder or URL")],
    rxnorm: Annotated[str | None, typer.Option("--rxnorm", metavar="DIR", help="RxNorm rrf folder or URL")] = None,
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    workers: Workers = None,
    executor: Executor = None,
    address: Address = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Load, map, read the notes and build the dataset; what is finished and unchanged is skipped.

    Run it again after a stop or a change: it goes on where it has to.
    """
    from ground.storage.remote import place_of
    from ontoground.cli.render import emit, note
    from ontoground.flow.pipeline import run_all
    from ontoground.flow.summary import paint_summary

    named = {"mimic": mimic, "umls": umls} | ({"rxnorm": rxnorm} if rxnorm else {})
    folders = {source: place_of(text) for source, text in named.items()}
    opened = open_to_work(workspace, overrides, workers, executor, address, create=True, folders=folders)
    outcomes, summary = run_all(opened, folders, say=note)
    stages = [outcome.as_dict() for outcome in outcomes]
    payload = {"verb": "run", "workspace": str(workspace), "stages": stages, "summary": summary}

    def paint(out: Console) -> None:
        paint_summary(out, summary, stages)
        out.print()
        out.print(f"dataset: {opened.dataset('medieval')}", soft_wrap=True)
        out.print(f"next:    ontoground validate {opened.dataset('medieval')} --workspace {workspace}", soft_wrap=True)

    emit(payload, paint, as_json=as_json)


register(app)
