"""``ontoground notes sections|mentions [--hadm ID]``, ``ontoground notes read FILE``.

Note text is printed here to the user's own terminal only, and only when asked for one admission or one file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ontoground.cli.app import group_of
from ontoground.cli.options import WRITTEN, Force, InWorkspace, Result, Sharded, text_of, verb
from ontoground.cli.render import Blocks, console, listing, note, table, text

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["group"]

STYLES = {
    "present": "bold green",
    "absent": "red",
    "possible": "yellow",
    "family": "magenta",
    "historical": "cyan",
    "hypothetical": "blue",
    "allergy": "bold magenta",
    "discontinued": "bright_red",
    "given": "green",
    "planned": "bright_blue",
}

group = group_of("notes")

Hadm = Annotated[
    int | None,
    Option("--hadm", metavar="ID", max=2**63 - 1, help="Only show this admission's notes; nothing is built"),
]


@verb(group, "Split the notes into sections.", "ontoground notes sections", "ontoground notes sections --hadm 20000001")
def sections(options: Sharded, hadm: Hadm = None, force: Force = False) -> Result:
    """Split every discharge summary into sections that together cover all of it."""
    if hadm is not None:
        return _of_admission("sections", hadm, options)
    return _built("sections", "sections_per_note", options, force)


@verb(
    group,
    "Find concepts and what is said of them.",
    "ontoground notes mentions --workers 4",
    "ontoground notes mentions --workers 32 --executor ray --address auto",
    "ontoground notes mentions --hadm 20000001",
)
def mentions(options: Sharded, hadm: Hadm = None, force: Force = False) -> Result:
    """Find the concepts that the notes mention, and whether each is present, absent, historical and so on.

    With --hadm the note itself is printed on your terminal, with its mentions marked and listed.
    """
    if hadm is not None:
        return _of_admission("mentions", hadm, options)
    return _built("mentions", "mentions_by_section", options, force)


@verb(
    group,
    "Read any text: its mentions and what is said of them.",
    "ontoground notes read note.txt",
    "ontoground notes read note.txt --json",
    "ontoground notes read note.txt --html note.html",
)
def read(
    file: Annotated[Path, Argument(metavar="FILE", help="A text in UTF-8; - reads standard input")],
    options: InWorkspace,
    html: Annotated[
        Path | None, Option("--html", metavar="FILE", help="Write an HTML page with the mentions marked"), WRITTEN
    ] = None,
) -> Result:
    """Find the concepts that a text of yours mentions, with the names of the workspace's release; nothing is stored.

    Only the text is known, so no code or order of an admission can corroborate a mention.
    """
    from ontoground.cli.runs import require_packages
    from ontoground.door import OpenWorkspace

    if html is not None:
        require_packages("jinja2", extra="pages")
    notes = OpenWorkspace(options.open()).read_text(text_of(file))
    if html is not None:
        from ground.storage.files import write_text

        write_text(html, notes.html())
        note(f"wrote {html}")
    answer = {**notes[0], "note_id": str(file)}
    return options.result("notes read", lambda _: _mention_blocks(answer), file=str(file), note=answer)


def _built(name: str, query: str, options: Sharded, force: bool) -> Result:
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.session import writing
    from ontoground.views.query import fetch, query_text

    opened = options.open()
    with writing(opened) as connection:
        outcomes = run_stages(opened, connection, [name], force=force, say=note)
        answer = fetch(connection, query_text(query, None), 0)
    return options.result(
        f"notes {name}",
        lambda payload: [table(payload["columns"], payload["rows"])],
        columns=answer.columns,
        rows=answer.rows,
        stages=[outcome.as_dict() for outcome in outcomes],
    )


def _of_admission(name: str, hadm: int, options: Sharded) -> Result:
    from ontoground.flow.session import reading
    from ontoground.views.notes import admission_notes

    with reading(InWorkspace(workspace=options.workspace).open()) as connection:
        notes = admission_notes(connection, hadm, with_mentions=name == "mentions")
    blocks = _section_blocks if name == "sections" else _mention_blocks
    return options.result(
        f"notes {name}",
        lambda payload: [block for note in payload["notes"] for block in blocks(note)],
        hadm_id=hadm,
        notes=notes,
    )


def _section_blocks(note: dict[str, Any]) -> Blocks:
    columns = "section, header, begin_offset: begin, end_offset: end"
    yield listing(note["sections"], columns, title=note["note_id"])


def _mention_blocks(note: dict[str, Any]) -> Blocks:
    """Yield each section with its mentions marked, then the mentions as a table."""
    yield text(note["note_id"], "bold")
    for section in note["sections"]:
        yield text(f"[{section['section']}]", "bold dim")
        yield _marked(note, section["begin_offset"], section["end_offset"])
    rows = [
        {**mention, "sure": ": ".join(filter(None, (mention["certainty"], "; ".join(mention["reasons"]))))}
        for mention in note["mentions"]
    ]
    yield listing(rows, "begin_offset: begin, end_offset: end, text, concepts, assertion, sure, section")
    if console().is_terminal:  # nothing is marked without colours
        legend = text("marked: ")
        for assertion, style in STYLES.items():
            legend.append(assertion, style).append(" ")
        yield legend


def _marked(note: dict[str, Any], begin: int, end: int) -> Text:
    marked = text(note["text"][begin:end].rstrip("\n"))
    for mention in note["mentions"]:
        if begin <= mention["begin_offset"] < end:
            marked.stylize(STYLES[mention["assertion"]], mention["begin_offset"] - begin, mention["end_offset"] - begin)
    return marked
