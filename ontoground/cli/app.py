"""The command line as a whole: its name, the order of its verbs, `--version`."""

from __future__ import annotations

import os

import typer
from typer.core import TyperGroup

from ground import __version__

__all__ = ["VERBS", "app", "group_of"]

VERBS = (
    "demo",
    "run",
    "load",
    "graph",
    "notes",
    "build",
    "validate",
    "diff",
    "explain",
    "publish",
    "export",
    "train",
    "evaluate",
    "predict",
    "steward",
    "status",
    "sql",
    "explore",
)
"""In the order of the flow."""


def _in_order(names: tuple[str, ...]) -> type[TyperGroup]:
    class FlowOrder(TyperGroup):
        def list_commands(self, _context: object) -> list[str]:
            return [name for name in names or self.commands if name in self.commands]

    return FlowOrder


app = typer.Typer(
    name="ontoground",
    cls=_in_order(VERBS),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def group_of(name: str, what: str, order: tuple[str, ...] = ()) -> typer.Typer:
    """Add a group of verbs to the command line, listed in ``order``, and return it."""
    group = typer.Typer(cls=_in_order(order), no_args_is_help=True, rich_markup_mode=None, help=what)
    app.add_typer(group, name=name)
    return group


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ontoground {__version__}")
        raise typer.Exit


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
