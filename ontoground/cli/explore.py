"""``ontoground explore``: the pages of a workspace in a browser of this machine."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ground.errors import UsageError
from ontoground.cli.app import VERBS, app
from ontoground.cli.options import Configured, Result, verb
from ontoground.cli.render import note
from ontoground.cli.runs import require_packages

if TYPE_CHECKING:
    from stewardship.sheets.review import Review

__all__ = ["explore"]


@verb(
    app,
    VERBS["explore"],
    "ontoground explore --workspace work",
    "ontoground explore --port 8765 --no-browser",
    "ontoground explore --review sample-1",
)
def explore(
    *,
    review: Annotated[
        str | None, Option(metavar="BATCH", help="Let the readers of a batch of `steward sheets` answer it here")
    ] = None,
    models: Annotated[
        list[str] | None,
        Option("--model-reader", metavar="NAME", help="A reader who is a language model, no person; repeatable"),
    ] = None,
    benchmark: Annotated[
        str | None,
        Option("--benchmark", metavar="NAME", help="Benchmark of the sheets; may be left out if there is only one"),
    ] = None,
    port: Annotated[int, Option(min=0, max=65535, metavar="N", help="Port; 0 takes one that is free")] = 0,
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open the page in a browser")] = True,
    host: Annotated[
        str | None, Option("--allow-host", metavar="ADDRESS", help="Serve to other machines, at this address")
    ] = None,
    why: Annotated[str, Option("--why", metavar="TEXT", help="Why other machines may read patients' data")] = "",
    options: Configured,
) -> Result:
    """Serve pages that show a workspace, to this machine and to whoever has the printed address, until Ctrl+C.

    Nothing can be changed there. With --review each reader of a batch has an address of his own, sees his rows alone,
    in his order and without any label, and every answer is an event of the labels' history at once. A language model's
    answers are readings, and no physician's labels. The pages need the extra `pages`, a review `steward` too.
    """
    require_packages("jinja2", "starlette", "uvicorn", extra="pages")
    from ontoground.pages.app import Pages, listening
    from ontoground.pages.guard import STEERING

    if bool(host) != bool(why.strip()):
        raise UsageError("other machines need a reason", expected="--allow-host ADDRESS --why 'readers on our network'")
    opened = options.open(needs_warehouse=review is None)
    under_review = _under_review(options, benchmark, review, models or [])
    with listening(port, *([host] if host else [])) as listener:
        pages = Pages(opened, listener, host, under_review)
        if host:
            note(
                f"served to other machines at {host}, because: {why}\nwhat is sent is not encrypted: a network of yours"
            )
        note(f"open {pages.addresses[STEERING]}")
        for reader, address in pages.addresses.items():
            if reader != STEERING:
                note(f"for {reader} alone: {address}")
        note("Ctrl+C stops")
        if browser:
            webbrowser.open(pages.first)
        served = listener.getsockname()[1]
        pages.serve()
    stopped = f"stopped; port {served} is free again"
    return options.result("explore", lambda _: [stopped], port=served)


def _under_review(options: Configured, benchmark: str | None, batch: str | None, models: list[str]) -> Review | None:
    if batch is None:
        if benchmark or models:
            raise UsageError("readers are named without a batch", expected="--review BATCH")
        return None
    require_packages("statsmodels", extra="steward")
    from stewardship.benchmark.folder import Benchmark
    from stewardship.sheets.review import open_review

    settings = options.open(needs_warehouse=False).settings.steward
    return open_review(Benchmark.open(options.workspace, benchmark), batch, settings, models)
