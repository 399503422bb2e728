"""``ontoground assess``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from ground.errors import InputError, UsageError
from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, text_of, verb
from ontoground.cli.render import Blocks, indented, number, percent, text

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
    from kg.graph import ConceptGraph
    from ontoground.door import OpenWorkspace
    from ontoground.views.concepts import Phrases

    common = text_of(note) if note is not None else None
    if statements and common is None:
        raise UsageError("a statement has no note", expected="--note FILE")
    rows = [(str(common), statement) for statement in statements or ()]
    if file is not None:
        rows += _rows_of(file, common)
    if not rows:
        raise UsageError("there is nothing to assess", expected="--statement TEXT or --statements FILE")
    opened = OpenWorkspace(options.open())
    answers, phrases = opened.assess_all(rows), Phrases(ConceptGraph.open(opened.workspace.graph))
    paths = [[{**edge, "words": phrases.edge(edge)} for edge in answer.path] for answer in answers]
    told = [{**answer.as_dict(), "path": path} for answer, path in zip(answers, paths, strict=True)]
    return options.result("assess", _blocks, statements=told)


def _rows_of(file: Path, common: str | None) -> list[tuple[str, str]]:
    import polars

    from ground.storage.foreign import Check, read_foreign, refuse_rows

    frame = read_foreign(file, "the table of statements", ["statement"])
    for name in ("note", "statement"):
        if name in frame.columns and frame.schema[name].is_nested():
            raise InputError(
                f"column {name} of the table of statements is no text", file=file, found="lists or objects"
            )
    own = polars.col("note").cast(polars.String) if "note" in frame.columns else polars.lit("")
    statement = polars.col("statement").cast(polars.String)
    frame = frame.select(
        polars.when(own != "").then(own).otherwise(polars.lit(common or "")).alias("note"), statement.fill_null("")
    )
    refuse_rows(
        frame,
        file,
        Check(polars.col("statement") == "", "a row has no statement", "a sentence in each row"),
        Check(polars.col("note") == "", "a statement has no note", "--note FILE, or a note in each row"),
    )
    return list(frame.iter_rows())


TOLD = {True: "true: ", False: "false: ", None: ""}
SAID = {"attested": "the note says it", "denied": "{assertion} in the note", "silent": "not in the note"}


def _blocks(payload: dict[str, Any]) -> Blocks:
    from ontoground.views.concepts import evidence_of

    answers = payload["statements"]
    told = [answer for answer in answers if answer["quadrant"]]
    if len(answers) > 1:
        yield f"{number(len(told))} of {number(len(answers))} statements are told ({percent(len(told) / len(answers))})"
    for answer in answers:
        yield text(f"{answer['quadrant'] or 'cannot tell'}  {answer['statement']}", "bold")
        yield indented(f"{TOLD[answer['is_true']]}{answer['why']}", 4)
        for edge in answer["path"]:
            yield indented(f"{edge['words']} [{evidence_of(edge)}]", 6)
        for end in answer["ends"]:
            yield indented(f"{end['called']}: {end['why'] or SAID[end['said']].format_map(end) + _words(end)}", 4)


def _words(end: dict[str, Any]) -> str:
    if end["text"] is None:
        return ""
    words = " ".join(end["text"].split())
    return f", '{words}' ({end['section'].replace('_', ' ')}, {end['begin_offset']} to {end['end_offset']})"
