"""``ontoground run``: all stages in order, resumable; and its figures as tables, which other verbs show too."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import Result, Sharded, verb
from ontoground.cli.render import listing, note, percent, table, tables

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ground.storage.remote import Places

__all__ = ["mapped_table", "paint_quadrants", "paint_summary", "run"]

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
    mimic: Annotated[
        list[str],
        typer.Option(
            "--mimic", metavar="DIR", help="MIMIC-IV folder or URL with hosp/; repeat it for MIMIC-IV-Note with note/"
        ),
    ],
    umls: Annotated[str, typer.Option("--umls", metavar="DIR", help="UMLS META folder or URL")],
    options: Sharded,
    rxnorm: Annotated[str | None, typer.Option("--rxnorm", metavar="DIR", help="RxNorm rrf folder or URL")] = None,
) -> Result:
    """Load, map, read the notes and build the dataset; skip what is finished and unchanged.

    After a stop or a change, run it again: it does only what is still needed.
    """
    from ehr.release import require_notes
    from ground.storage.remote import place_of, several
    from ontoground.flow.pipeline import run_all

    folders: dict[str, Places] = {"mimic": tuple(map(place_of, mimic)), "umls": place_of(umls)}
    if rxnorm:
        folders["rxnorm"] = place_of(rxnorm)
    # Before anything is created or hours are spent.
    options.open(needs_warehouse=False, folders=folders)
    require_notes(*several(folders["mimic"]))
    opened = options.open(create=True)
    outcomes, summary = run_all(opened, folders, say=note)

    def paint(out: Console, payload: dict[str, Any]) -> None:
        paint_summary(out, payload)
        dataset = opened.dataset("medieval")
        out.print(f"\ndataset: {dataset}", soft_wrap=True)
        named = f"{shlex.quote(str(dataset))} --workspace {shlex.quote(str(options.workspace))}"
        out.print(f"next:    ontoground validate {named}", soft_wrap=True)

    return options.result("run", paint, stages=[one.as_dict() for one in outcomes], summary=summary)


def paint_summary(out: Console, payload: dict[str, Any]) -> None:
    """Print the figures of a run, and how long its stages took."""

    summary = payload["summary"]
    drops = [{**one, "reason": DROPPED.get(one["reason"], one["reason"])} for one in summary["dropped"]]
    tables(
        out,
        listing([one for one in summary["loaded"] if one["rows"]], "table: loaded table, rows"),
        mapped_table(summary["mapped"]),
        table(("in the warehouse", "n"), [(name, summary[name]) for name in ("concepts", "edges", "mentions")]),
        listing(drops, "stage, reason: left out because, n") if drops else None,
    )
    if summary["quadrants"]:
        out.print()
        paint_quadrants(out, summary["quadrants"])
    out.print()
    times = [(one["stage"], one["state"], f"{one['seconds']:.1f}") for one in payload["stages"]]
    out.print(table(("stage", "", "seconds"), times))


def mapped_table(mapped: list[dict[str, Any]]) -> Table:
    """Return the share of each source table's rows that have a concept."""

    shares = [{**one, "share": percent(one["share"])} for one in mapped]
    return listing(shares, "table: codes to concepts, rows, mapped_rows: mapped, share")


def paint_quadrants(out: Console, quadrants: list[dict[str, Any]]) -> None:
    """Print statements by predicate and quadrant, with their total."""

    total = {"predicate": "all"} | {name: sum(one[name] for one in quadrants) for name in QUADRANTS}
    columns = ", ".join(("predicate", *QUADRANTS))
    out.print(listing([*quadrants, total], columns, title="Statements by predicate and quadrant"))
    out.print(MEANING)
