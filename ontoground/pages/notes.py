"""A note: its sections as an index, its mentions marked, and the codes of the admission beside it."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ground.storage.warehouse import run_sql, set_variables
from ontoground.flow.session import records, rows_about
from ontoground.pages.explorer import Explorer, explorer_of, form_of, page_of, whole_number
from ontoground.pages.marks import assertions_of, marked
from ontoground.views.notes import admission_notes
from ontoground.views.row import MEDIEVAL, built_datasets

__all__ = ["ROUTES"]


def notes(request: Request) -> Response:
    """List admissions that have notes."""
    with explorer_of(request).asking() as connection:
        rows = records(run_sql(connection, "ontoground/pages/note_list"))
    return page_of(request, "notes.html", rows=rows)


async def find(request: Request) -> Response:
    """Go to the notes of an admission; its number is sent in a form, as addresses are kept in histories."""
    return await run_in_threadpool(_to_note, request, (await form_of(request)).get("hadm", "").strip())


def _to_note(request: Request, hadm: str) -> Response:
    return RedirectResponse(f"/note/{explorer_of(request).key(whole_number('hadm_id', hadm))}", 303)


def note(request: Request) -> Response:
    """Show the notes of an admission."""
    explorer = explorer_of(request)
    hadm = explorer.value(str(request.path_params["key"]))
    with explorer.asking() as connection:
        admission = admission_notes(connection, int(hadm), with_mentions=True)
        codes = records(rows_about(connection, "ontoground/pages/note_codes", hadm))
    supported = _supported(explorer, hadm)
    for entry in admission:
        for mention in entry["mentions"]:
            mention["rows"] = supported.get((mention["begin_offset"], mention["end_offset"], mention["text"]), [])
    groups = {
        "coded and said": [code for code in codes if code["kinds"] and code["mentions"]],
        "coded, the note is silent": [code for code in codes if code["kinds"] and not code["mentions"]],
        "said, not coded": [code for code in codes if not code["kinds"]],
    }
    return page_of(
        request, "note.html", hadm=hadm, notes=marked(admission), groups=groups, assertions=assertions_of(admission)
    )


def _supported(explorer: Explorer, hadm: str) -> dict[tuple[int, int, str], list[dict[str, Any]]]:
    """Return the rows that rest on each mention of an admission, by where it is and what it says."""
    found: dict[tuple[int, int, str], list[dict[str, Any]]] = {}
    with explorer.asking_datasets() as connection:
        for name in sorted(set(MEDIEVAL) & set(built_datasets(explorer.workspace))):
            set_variables(connection, {"dataset": name})
            for row in records(rows_about(connection, "ontoground/pages/note_rows", hadm)):
                place = (row["begin_offset"], row["end_offset"], row["text"])
                found.setdefault(place, []).append({**row, "dataset": name})
    return found


ROUTES = [Route("/notes", notes), Route("/notes", find, methods=["POST"]), Route("/note/{key}", note)]
