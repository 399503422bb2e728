"""The verbs of the command line, one module for each group; nothing heavy is imported before a verb runs."""

from __future__ import annotations

import typer
from typer.core import TyperGroup

from ground import __version__
from ontoground.cli import (
    build,
    demo,
    diff,
    evaluate,
    graph,
    load,
    notes,
    publish,
    run,
    sql,
    status,
    steward,
    train,
    validate,
)

__all__ = ["app"]

ORDER = [
    "demo",
    "run",
    "load",
    "graph",
    "notes",
    "build",
    "validate",
    "diff",
    "publish",
    "train",
    "evaluate",
    "steward",
    "status",
    "sql",
]


class FlowOrder(TyperGroup):
    """Lists the verbs in the order of the flow."""

    def list_commands(self, _context: object) -> list[str]:
        """Return the names of the verbs."""
        return ORDER


app = typer.Typer(
    name="ontoground",
    cls=FlowOrder,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ontoground {__version__}")
        raise typer.Exit


@app.callback()
def ontoground(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version and leave."
    ),
) -> None:
    """Turn hospital records and a medical ontology, both on your own disk, into ontology-grounded datasets.

    Start with `ontoground demo`: it needs no data and no network.
    With your own: `ontoground run --mimic /data/mimiciv --umls /data/umls/META`.
    """


demo.register(app)
run.register(app)
app.add_typer(load.group, name="load")
app.add_typer(graph.group, name="graph")
app.add_typer(notes.group, name="notes")
app.add_typer(build.group, name="build")
validate.register(app)
diff.register(app)
publish.register(app)
app.add_typer(train.group, name="train")
app.add_typer(evaluate.group, name="evaluate")
app.add_typer(steward.group, name="steward")
status.register(app)
sql.register(app)
