"""``ontoground run``: all stages in order, resumable; and its figures as tables, which other verbs show too."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ground.errors import UsageError
from ontoground.cli.app import VERBS, app
from ontoground.cli.options import Result, Sharded, verb
from ontoground.cli.render import Blocks, listing, note, percent, table, unfolded

if TYPE_CHECKING:
    from rich.table import Table

    from ground.storage.remote import Places

__all__ = ["mapped_table", "quadrant_blocks", "run", "summary_blocks"]

QUADRANTS = ("Q1", "Q2", "Q3", "Q4")
MEANING = "Q1 true, supported; Q2 true, unsupported; Q3 false, supported; Q4 false, unsupported"
# Reasons of the graph that are identifiers, in words.
DROPPED = {
    "relation_self_loop": "relation of a concept to itself",
    "relation_not_a_class": "relation to something that is no class",
    "relation_suppressed": "relation that the release suppresses",
    "relation_unknown_concept": "relation of a concept without a name that is kept",
    "relation_uncovered": "relation whose kind no predicate covers",
    "relation_head_group": "relation whose head is of another kind than its predicate asks for",
    "relation_tail_group": "relation whose tail is of another kind than its predicate asks for",
    "relation_other_group": "relation between two kinds where its predicate asks for one",
}


@verb(
    app,
    VERBS["run"],
    "ontoground run --mimic /data/mimiciv --mimic /data/mimic-iv-note \\",
    "    --umls /data/umls/META --rxnorm /data/rxnorm/rrf --workspace work",
)
def run(
    options: Sharded,
    mimic: Annotated[
        list[str] | None,
        Option(
            "--mimic", metavar="DIR", help="MIMIC-IV folder or URL with hosp/; repeat it for MIMIC-IV-Note with note/"
        ),
    ] = None,
    umls: Annotated[str | None, Option("--umls", metavar="DIR", help="UMLS META folder or URL")] = None,
    meds: Annotated[str | None, Option("--meds", metavar="DIR", help="MEDS folder or URL with data/")] = None,
    omop: Annotated[
        str | None, Option("--omop", metavar="DIR|DUCKDB", help="Folder, URL or DuckDB file of an OMOP CDM")
    ] = None,
    plain: Annotated[
        str | None,
        Option("--table", metavar="DIR", help="Folder or URL with a table of notes, and perhaps one of codes"),
    ] = None,
    rxnorm: Annotated[str | None, Option("--rxnorm", metavar="DIR", help="RxNorm rrf folder or URL")] = None,
    ontology: Annotated[
        list[str] | None,
        Option("--ontology", metavar="FILE", help="Ontology beside UMLS or, with --rxnorm, instead of it; repeat it"),
    ] = None,
) -> Result:
    """Load, map, read the notes and build the dataset; skip what is finished and unchanged.

    After a stop or a change, run it again: it does only what is still needed.
    """
    from ground.storage.remote import place_of
    from ontoground.flow.pipeline import run_all
    from ontoground.flow.status import few_patients

    if not (umls or ontology):
        raise UsageError("no ontology is named", expected="--umls DIR, or --ontology FILE with or without --rxnorm DIR")
    folders: dict[str, Places] = dict(_records(mimic=mimic, meds=meds, omop=omop, table=plain))
    folders |= {source: place_of(folder) for source, folder in (("umls", umls), ("rxnorm", rxnorm)) if folder}
    if ontology:
        folders["ontology"] = tuple(map(place_of, ontology))
    # Before anything is created or hours are spent.
    options.open(needs_warehouse=False, folders=folders)
    opened = options.open(create=True)
    outcomes, summary = run_all(opened, folders, say=note)

    def blocks(payload: dict[str, Any]) -> Blocks:
        yield from summary_blocks(payload)
        if not payload["summary"]["quadrants"]:
            yield "without notes there are no statements: load them, and run this again"
            return
        dataset = opened.dataset("medieval")
        yield unfolded(f"dataset: {dataset}")
        yield from filter(None, [few_patients(dataset)])
        named = f"{shlex.quote(str(dataset))} --workspace {shlex.quote(str(options.workspace))}"
        yield unfolded(f"next:    ontoground validate {named}")

    return options.result("run", blocks, stages=[stage.as_dict() for stage in outcomes], summary=summary)


def _records(**named: list[str] | str | None) -> dict[str, Places]:
    """Return the folders of the source of records that is named.

    Raises:
        UsageError: none is, or several are.
    """
    from ground.storage.remote import place_of

    chosen = {source: [value] if isinstance(value, str) else value for source, value in named.items() if value}
    if len(chosen) != 1:
        raise UsageError(
            "one source of records is needed",
            found=" and ".join(f"--{source}" for source in chosen) or "none",
            expected=", ".join(f"--{source} DIR" for source in named),
        )
    places = {source: tuple(map(place_of, folders)) for source, folders in chosen.items()}
    return {
        source: folders if len(folders) > 1 or source == "mimic" else folders[0] for source, folders in places.items()
    }


def summary_blocks(payload: dict[str, Any]) -> Blocks:
    """Yield the figures of a run, and how long its stages took."""
    summary = payload["summary"]
    yield listing([loaded for loaded in summary["loaded"] if loaded["rows"]], "table: loaded table, rows")
    yield mapped_table(summary["mapped"])
    yield table(("in the warehouse", "n"), [(name, summary[name]) for name in ("concepts", "edges", "mentions")])
    if drops := [{**drop, "reason": DROPPED.get(drop["reason"], drop["reason"])} for drop in summary["dropped"]]:
        yield listing(drops, "stage, reason: left out because, n")
    if summary["quadrants"]:
        yield from quadrant_blocks(summary["quadrants"])
    times = [(stage["stage"], stage["state"], f"{stage['seconds']:.1f}") for stage in payload["stages"]]
    yield table(("stage", "", "seconds"), times)


def quadrant_blocks(quadrants: list[dict[str, Any]]) -> Blocks:
    """Yield statements by predicate and quadrant, with their total."""
    total = {"predicate": "all"} | {name: sum(row[name] for row in quadrants) for name in QUADRANTS}
    columns = ", ".join(("predicate", *QUADRANTS))
    yield listing([*quadrants, total], columns, title="Statements by predicate and quadrant")
    yield MEANING


def mapped_table(mapped: list[dict[str, Any]]) -> Table:
    """Return the share of each source table's rows that have a concept."""
    shares = [{**row, "share": percent(row["share"])} for row in mapped]
    return listing(shares, "table: codes to concepts, rows, mapped_rows: mapped, share")
