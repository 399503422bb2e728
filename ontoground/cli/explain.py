"""``ontoground explain ROW_ID``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import indented, text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["explain"]


@verb(
    app,
    VERBS["explain"],
    "ontoground explain 20626031-d4e052667046-h-Q1",
    "ontoground explain 997527945e7d0838-clean --json",
)
def explain(
    row: Annotated[str, typer.Argument(metavar="ROW_ID", help="The id of a row of any built dataset")],
    options: InWorkspace,
) -> Result:
    """Explain why a row is true or false, supported or not, with the text of the note and the rows of its group.

    The note around each mention is printed to your own terminal.
    """
    from ontoground.views.row import explained

    return options.result("explain", _paint, **explained(options.open(needs_warehouse=False), row))


def _paint(out: Console, payload: dict[str, Any]) -> None:
    out.print(text(f"{payload['label']}  {payload['says']}", "bold"))
    for line in payload["why"]:
        out.print(indented(line, 4))
    for one in payload["evidence"]:
        told = (one["role"], one["section"].replace("_", " "), one.get("assertion"), one.get("certainty"))
        out.print(text("\n" + ", ".join(filter(None, told)), "bold dim"))
        out.print(_around(one, brackets=not out.is_terminal))
    if payload["missing"]:
        out.print(f"\nthe note around the mentions cannot be shown: {payload['missing']}")
    out.print(text(f"\nmade together ({payload['dataset']}, {payload['split']}):", "dim"))
    for one in payload["group"]:
        here = " (this row)" if one["id"] == payload["id"] else ""
        out.print(indented(f"{one['label']}  {one['id']}{here}  {one['says']}", 2))


def _around(one: dict[str, Any], *, brackets: bool) -> Text:
    """Return the note around a mention, which is marked: by brackets where there is no colour."""
    shown = text(f"... {one['before']}".lstrip() if one["before"] else "")
    marked = f"[[{one['text']}]]" if brackets else one["text"]
    return shown.append(marked, "bold reverse").append(f"{one['after']} ..." if one["after"] else "")
