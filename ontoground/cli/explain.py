"""``ontoground explain ROW_ID``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import Blocks, console, indented, text

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["explain"]


@verb(
    app,
    VERBS["explain"],
    "ontoground explain 20626031-d4e052667046-h-Q1",
    "ontoground explain 997527945e7d0838-clean --json",
)
def explain(
    row: Annotated[str, Argument(metavar="ROW_ID", help="The id of a row of any built dataset")],
    options: InWorkspace,
) -> Result:
    """Explain why a row is true or false, supported or not, with the text of the note and the rows of its group.

    The note around each mention is printed to your own terminal.
    """
    from ontoground.views.row import explained

    return options.result("explain", _blocks, **explained(options.open(needs_warehouse=False), row))


def _blocks(payload: dict[str, Any]) -> Blocks:
    brackets = not console().is_terminal
    yield text(f"{payload['label']}  {payload['says']}", "bold")
    yield from (indented(line, 4) for line in payload["why"])
    for span in payload["evidence"]:
        about = (span["role"], span["section"].replace("_", " "), span.get("assertion"), span.get("certainty"))
        yield text("\n" + ", ".join(filter(None, about)), "bold dim")
        yield _around(span, brackets=brackets)
    if payload["missing"]:
        yield f"\nthe note around the mentions cannot be shown: {payload['missing']}"
    yield text(f"\nmade together ({payload['dataset']}, {payload['split']}):", "dim")
    for row in payload["group"]:
        here = " (this row)" if row["id"] == payload["id"] else ""
        yield indented(f"{row['label']}  {row['id']}{here}  {row['says']}", 2)


def _around(span: dict[str, Any], *, brackets: bool) -> Text:
    """Return the note around a mention, which is marked: by brackets where there is no colour."""
    line = text(f"... {span['before']}".lstrip() if span["before"] else "")
    marked = f"[[{span['text']}]]" if brackets else span["text"]
    return line.append(marked, "bold reverse").append(f"{span['after']} ..." if span["after"] else "")
