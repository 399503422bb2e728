"""A note: its sections as an index, its mentions marked, and the codes of the admission beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ground.errors import UsageError
from ground.storage.warehouse import run_sql
from ontoground.flow.session import asked, records
from ontoground.pages.house import form_of, house_of, shown
from ontoground.views.notes import admission_notes

__all__ = ["ROUTES", "Piece", "pieces"]


@dataclass(frozen=True)
class Piece:
    """A stretch of a note between two ends of mentions, with the numbers of those that cover it, innermost first."""

    text: str
    covers: tuple[int, ...]


def notes(request: Request) -> Response:
    """List admissions that have notes."""
    with house_of(request).asking() as connection:
        rows = records(run_sql(connection, "ontoground/pages/note_list"))
    return shown(request, "notes.html", rows=rows)


async def find(request: Request) -> Response:
    """Go to the notes of an admission; its number is sent in a form, as addresses are kept in histories."""
    return await run_in_threadpool(_found, request, (await form_of(request)).get("hadm", "").strip())


def _found(request: Request, hadm: str) -> Response:
    if not hadm.isdecimal():
        raise UsageError("this is no hadm_id", expected="a whole number")
    return RedirectResponse(f"/note/{house_of(request).key(int(hadm))}", 303)


def note(request: Request) -> Response:
    """Show the notes of an admission."""
    house = house_of(request)
    hadm = house.value(str(request.path_params["key"]))
    with house.asking() as connection:
        found = admission_notes(connection, int(hadm), with_mentions=True)
        codes = records(asked(connection, "ontoground/pages/note_codes", hadm))
    for one in found:
        one["parts"] = [{**part, "pieces": _of(one, part)} for part in one["sections"]]
    used = {mention["assertion"] for one in found for mention in one["mentions"]}
    groups = {
        "coded and said": [one for one in codes if one["kinds"] and one["mentions"]],
        "coded, the note is silent": [one for one in codes if one["kinds"] and not one["mentions"]],
        "said, not coded": [one for one in codes if not one["kinds"]],
    }
    return shown(request, "note.html", hadm=hadm, notes=found, groups=groups, assertions=sorted(used))


def _of(note: Mapping[str, Any], section: Mapping[str, Any]) -> list[Piece]:
    begin, end = section["begin_offset"], section["end_offset"]
    return pieces(note["text"], begin, end, note["mentions"])


def pieces(text: str, begin: int, end: int, mentions: Iterable[Mapping[str, Any]]) -> list[Piece]:
    """Cut a stretch of a note where a mention begins or ends.

    Args:
        text: the whole note.
        begin: where the stretch begins.
        end: where it ends.
        mentions: all mentions of the note in their order; their offsets are those of the note.
    """
    inside = [
        (max(one["begin_offset"], begin), min(one["end_offset"], end), number)
        for number, one in enumerate(mentions)
        if one["begin_offset"] < end and one["end_offset"] > begin
    ]
    cuts = sorted({begin, end, *(place for one in inside for place in one[:2])})
    place_of = {cut: place for place, cut in enumerate(cuts)}
    covers: list[list[int]] = [[] for _ in cuts]
    for low, high, number in sorted(inside, key=_length):
        for place in range(place_of[low], place_of[high]):
            covers[place].append(number)
    return [Piece(text[low:high], tuple(numbers)) for (low, high), numbers in zip(pairwise(cuts), covers, strict=False)]


def _length(mention: tuple[int, int, int]) -> int:
    return mention[1] - mention[0]


ROUTES = [Route("/notes", notes), Route("/notes", find, methods=["POST"]), Route("/note/{key}", note)]
