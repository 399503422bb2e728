"""Blind review: each reader's rows of a batch of sheets, one a page, and what whoever steers sees of it.

A reader has a token of his own, and the guard says whose a request is: no form names a reader. What is sent to readers
is `stewardship.sheets.review.Task` and nothing else.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ground.errors import OntogroundError
from ground.spreadsheet import guarded
from ontoground.pages.explorer import explorer_of, form_of, page_of
from ontoground.pages.guard import reader_of
from stewardship.sheets.review import LEAST, Answered, ChangedError, Review
from stewardship.sheets.spans import MARK, shown_mark

__all__ = ["ROUTES"]

VERDICT = ("id", "uid", "stratum", "question", "label", "answer", "verdict", "reason", "comment", "spans", "reader")


def rows(request: Request) -> Response:
    """Show a reader his rows, and whoever steers how far the readers are."""
    review, reader = _review(request), reader_of(request)
    if not reader:
        return _board(request, review)
    progress, (lines, table) = review.progress(reader), review.guidance()
    return page_of(request, "review_rows.html", reader=reader, progress=progress, told=lines, table=table)


def _board(request: Request, review: Review) -> Response:
    progress = {rater: review.progress(rater) for rater in review.batch.raters}
    readers = [(name, sum(done for _, done in own), len(own), name in review.models) for name, own in progress.items()]
    kinds = sorted({name in review.models for name in progress})
    results = [(models, *review.agreement(models=models)) for models in kinds]
    values: dict[str, Any] = {"batch": review.batch, "readers": readers, "agreement": results, "least": LEAST}
    return page_of(request, "review_board.html", **values)


def row(request: Request) -> Response:
    """Show a reader one of his rows."""
    review, reader = _review(request), _own_reader(request)
    return _row(request, review, reader, str(request.path_params["item"]))


def _row(request: Request, review: Review, reader: str, item: str, error: str = "", status: int = 200) -> Response:
    try:
        task = review.task(reader, item)
    except OntogroundError as missing:
        raise HTTPException(404, str(missing)) from None
    pieces = list(_pieces(task.display.context))
    lines, _ = review.guidance()
    ends = {sign for sign, _ in pieces} >= {"1", "2"}
    roles = [("head", "of 1"), ("tail", "of 2"), ("other", "other")] if ends else [("other", "these")]
    values: dict[str, Any] = {"task": task, "pieces": pieces, "told": lines, "error": error, "batch": review.batch}
    values["roles"] = roles
    return page_of(request, "review_row.html", status, **values)


def _pieces(context: str) -> Iterator[tuple[str, str]]:
    """Cut a context at the marks that a sheet has; yield (sign or nothing, text)."""
    at = 0
    for match in MARK.finditer(context):
        yield "", context[at : match.start()]
        yield match[1], shown_mark(match)
        at = match.end()
    yield "", context[at:]


async def save(request: Request) -> Response:
    """Keep an answer; a script is told in JSON, a form by the next page."""
    return await run_in_threadpool(_saved, request, await form_of(request))


def _saved(request: Request, form: dict[str, str]) -> Response:
    review, reader = _review(request), _own_reader(request)
    item, by_script = str(request.path_params["item"]), "application/json" in request.headers.get("accept", "")
    comment, spans = form.get("comment", "").replace("\r\n", "\n"), form.get("spans", "[]")
    answer = Answered(form.get("answer", ""), form.get("reason", ""), comment, spans)
    try:
        kept = review.save(reader, item, answer, form.get("version", ""))
    except OntogroundError as error:
        status = 409 if isinstance(error, ChangedError) else 422
        if by_script:
            return JSONResponse({"error": str(error)}, status)
        return _row(request, review, reader, item, str(error), status)
    progress = review.progress(reader)
    if by_script:
        done = sum(answered for _, answered in progress)
        at = datetime.now().astimezone().strftime("%H:%M:%S")
        return JSONResponse({"saved": at, "version": kept.version, "done": done, "of": len(progress)})
    names = [name for name, _ in progress]
    place = names.index(item)
    later = [name for name, answered in [*progress[place:], *progress[:place]] if not answered]
    return RedirectResponse(f"/review/{later[0]}" if later else "/review", 303)


def verdicts(request: Request) -> Response:
    """Send whoever steers a table of what was said of each row, beside the published label."""
    review = _review(request)
    if reader_of(request):
        raise HTTPException(403, "labels are not for readers")
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(VERDICT)
    writer.writerows([guarded(verdict[name]) for name in VERDICT] for verdict in review.verdicts())
    headers = {"content-disposition": f'attachment; filename="{review.batch.name}.csv"'}
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def _review(request: Request) -> Review:
    review = explorer_of(request).review
    if review is None:
        raise HTTPException(404, "no batch is under review: start with `ontoground explore --review BATCH`")
    return review


def _own_reader(request: Request) -> str:
    reader = reader_of(request)
    if not reader:
        raise HTTPException(403, "rows are shown to their readers: open the address of one in another browser window")
    return reader


ROUTES = [
    Route("/review", rows),
    Route("/review/verdicts.csv", verdicts),
    Route("/review/{item}", row),
    Route("/review/{item}", save, methods=["POST"]),
]
