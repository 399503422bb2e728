"""``ontoground assess``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ground.errors import InputError, UsageError
from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, text_of, verb
from ontoground.cli.render import Blocks, number, percent, text

if TYPE_CHECKING:
    import polars

__all__ = ["assess"]


@verb(
    app,
    VERBS["assess"],
    "ontoground assess --note note.txt --statement 'Aspirin treats fever.'",
    "ontoground assess --note note.txt --statements statements.csv",
    "ontoground assess --statements pairs.jsonl --json",
)
def assess(
    options: InWorkspace,
    note: Annotated[
        Path | None, Option("--note", metavar="FILE", help="A text in UTF-8, of all statements; - reads standard input")
    ] = None,
    statements: Annotated[
        list[str] | None, Option("--statement", metavar="TEXT", help="A sentence in words of your own; repeatable")
    ] = None,
    file: Annotated[
        Path | None,
        Option(
            "--statements",
            metavar="FILE",
            help="A table (.csv, .jsonl, .parquet) with a column statement, and note where each has its own",
        ),
    ] = None,
) -> Result:
    """Say which quadrant statements are in, of any note and in any words; nothing is trained and nothing is stored.

    The reader of notes finds two ends in a statement and what the note says of each; the graph says what relates them.
    Where a statement is not read, or neither side is sure, the answer is "cannot tell", with the reason. What is false
    needs more than a graph that is silent (docs/definitions.md#false).
    """
    from ontoground.door import OpenWorkspace

    common = text_of(note) if note is not None else None
    rows = [(common, statement) for statement in statements or ()]
    if file is not None:
        rows += _rows_of(file, common)
    if not rows:
        raise UsageError("there is nothing to assess", expected="--statement TEXT or --statements FILE")
    if any(its is None for its, _ in rows):
        raise UsageError("a statement has no note", expected="--note FILE, or a column note in the table of statements")
    answers = OpenWorkspace(options.open()).assess_all([(str(its), statement) for its, statement in rows])
    return options.result("assess", _blocks, statements=[answer.as_dict() for answer in answers])


def _rows_of(file: Path, common: str | None) -> list[tuple[str | None, str]]:
    from ground.storage.foreign import read_foreign

    frame: polars.DataFrame = read_foreign(file, "the table of statements", ["statement"])
    for name in ("note", "statement"):
        if name in frame.columns and frame.schema[name].is_nested():
            raise InputError(
                f"column {name} of the table of statements is no text", file=file, found="lists or objects"
            )
    notes = frame["note"].cast(str).to_list() if "note" in frame.columns else [None] * frame.height
    rows = zip(notes, frame["statement"].cast(str).to_list(), strict=True)
    return [(own or common, statement or "") for own, statement in rows]


def _blocks(payload: dict[str, Any]) -> Blocks:
    answers = payload["statements"]
    told = [answer for answer in answers if answer["quadrant"]]
    if len(answers) > 1:
        yield f"{number(len(told))} of {number(len(answers))} statements are told ({percent(len(told) / len(answers))})"
    for answer in answers:
        yield text(f"{answer['quadrant'] or 'cannot tell'}  {answer['statement']}", "bold")
        yield f"    {answer['why']}"
        for edge in answer["path"]:
            yield f"    {edge['predicate']} [{edge['sab']} {edge['rela']} {edge['rui']}]"
        for end in answer["ends"]:
            yield f"    {end['called']}: {end['why'] or end['said'] + _words(end)}"


def _words(end: dict[str, Any]) -> str:
    if end["text"] is None:
        return ""
    words = " ".join(end["text"].split())
    return f" by '{words}' ({end['section'].replace('_', ' ')}, {end['begin_offset']} to {end['end_offset']})"
