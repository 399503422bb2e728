"""The command line as a whole: its name, the order of its verbs, `--version`."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from ground import __version__

__all__ = ["VERBS", "app", "command_of", "group_of", "whole"]

_FOLDERS = {"build": "builds"}

VERBS = {
    "demo": "Run everything on a small open world: no data needed.",
    "run": "Load, map, read the notes and build the dataset.",
    "load": "Load files into the warehouse; what was loaded is skipped.",
    "graph": "Build the concept graph and look into it.",
    "notes": "Split the discharge summaries and find concepts in them.",
    "build": "Build datasets from what the workspace holds.",
    "validate": "Derive every label of a dataset again and compare.",
    "diff": "Count the rows that differ between two builds.",
    "explain": "Say what a row rests on: its path, its words in the note.",
    "publish": "Put a built dataset into object storage.",
    "export": "Write a built dataset as others want it.",
    "train": "Train models on the datasets.",
    "evaluate": "Evaluate models on the datasets.",
    "study": "Run a whole experiment from one file, and write its tables.",
    "assess": "Say which quadrant any statement about any note is in.",
    "predict": "Ask a trained run about a note and a statement of yours.",
    "steward": "Audit, recompute, adjudicate and release labels, in this order.",
    "rules": "Show and check your own rules: words, sections, paths.",
    "status": "Show what is loaded, built, stale, and what to do next.",
    "sql": "Ask the warehouse and the datasets, read-only.",
    "explore": "Look at notes, graph and statements in a browser.",
}
"""What the list of verbs says of each, in the order of the flow."""


def _in_order(names: tuple[str, ...], usual: str | None = None) -> type[TyperGroup]:
    class FlowOrder(TyperGroup):
        def list_commands(self, _context: object) -> list[str]:
            return [name for name in names or self.commands if name in self.commands]

        def resolve_command(self, context: Any, arguments: list[str]) -> Any:
            words = [usual, *arguments] if usual and arguments[0] not in self.commands else arguments
            return super().resolve_command(context, words)

    return FlowOrder


def _line_of_verbs() -> typer.Typer:
    return typer.Typer(
        name="ontoground",
        cls=_in_order(tuple(VERBS)),
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = _line_of_verbs()
_bare = _line_of_verbs()
"""The names of the verbs alone: it lists them and imports none of them."""


def group_of(name: str, order: tuple[str, ...] = (), usual: str | None = None) -> typer.Typer:
    """Add a group of verbs to the command line, listed in ``order``, and return it; ``usual`` need not be named."""
    group = typer.Typer(cls=_in_order(order, usual), no_args_is_help=True, rich_markup_mode=None, help=VERBS[name])
    app.add_typer(group, name=name)
    return group


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ontoground {__version__}")
        raise typer.Exit


@_bare.callback()
@app.callback()
def ontoground(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version and leave."
    ),
    hub: bool = typer.Option(
        False, "--hub", help="Let models be fetched by name from the Hugging Face hub; else they are folders here."
    ),
) -> None:
    """Turn hospital records and a medical ontology, both on your own disk, into ontology-grounded datasets.

    Start with `ontoground demo`: it needs no data and no network.
    With your own: `ontoground run --mimic /data/mimiciv --umls /data/umls/META`.
    """
    if hub:
        os.environ["HF_HUB_OFFLINE"] = "0"


@cache
def command_of(verb: str | None) -> TyperGroup:
    """Return the command line with one verb; without it, or with a word that is none, the list of verbs and no more.

    Verbs are imported here, since there are many: a verb does not wait for the others.
    """
    if verb in VERBS:
        import_module(f"ontoground.cli.{_FOLDERS.get(verb, verb)}")
        return _group(app)
    return _group(_bare)


@cache
def whole() -> TyperGroup:
    """Return the command line with all its verbs."""
    for verb in VERBS:
        import_module(f"ontoground.cli.{_FOLDERS.get(verb, verb)}")
    return _group(app)


def _group(line: typer.Typer) -> TyperGroup:
    group = get_command(line)
    assert isinstance(group, TyperGroup)
    return group


for _verb, _what in VERBS.items():
    _bare.command(name=_verb, short_help=_what)(lambda: None)
