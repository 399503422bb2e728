"""``ontoground explore``: the pages of a workspace in a browser of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import app
from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import note
from ontoground.cli.runs import require_packages

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["explore"]


@verb(
    app,
    "Look at notes, graph and statements in a browser.",
    "ontoground explore --workspace work",
    "ontoground explore --port 8765 --no-browser",
)
def explore(
    options: InWorkspace,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port; 0 takes one that is free")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser")] = True,
) -> Result:
    """Serve pages that show a workspace, to this machine and to whoever has the printed address, until Ctrl+C.

    Nothing can be changed there. The pages need the extra `pages`.
    """
    require_packages("jinja2", "starlette", "uvicorn", extra="pages")
    from ontoground.pages.app import Pages, listening

    opened = options.open()
    with listening(port) as made:
        pages = Pages(opened, made)
        note(f"open {pages.address}\nCtrl+C stops")
        if browser:
            _open(pages.address)
        served = made.getsockname()[1]
        pages.serve()
    return options.result("explore", _paint, port=served)


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    out.print(f"stopped; port {payload['port']} is free again")
