"""What the verbs ``steward sheets``, ``sample`` and ``read`` show to a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoground.cli.steward.shares import share

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["paint_read", "paint_sheets"]

LEAST_SHOWN = 5
"""Rows of a stratum from which on its error rate is printed; all are in the JSON."""

DRAWN = {
    "sampled": "sampled from the flagged ones",
    "top": "the worst disagreements",
    "any": "sampled from all",
    "balanced": "balanced over labels",
    "open": "those that raters disagree on",
    "audit": "sampled from the audit's flags",
    "published": "reviewed before the benchmark was taken up",
}
CAVEATS = {
    "sampled": "shares of the flagged rows that these experts know, not of the benchmark",
    "top": "the worst disagreements: not shares of the benchmark, nor of the flagged rows",
    "any": "shares of the benchmark's rows that these experts know",
    "balanced": "equal parts of each label or stratum: for all rows, weigh the parts by their shares",
    "published": "how these rows were drawn, their publisher says",
}
"""What the shares of rows hold for, by how the rows were drawn."""


def paint_sheets(screen: Console, payload: dict[str, Any]) -> None:
    """Show who has how many rows, and where the sheets are."""
    from ontoground.cli.render import relative, table

    files = {rater: Path(two["excel"]).name for rater, two in payload["sheets"].items()}
    sheets = [[rater, rows, files.get(rater, "none")] for rater, rows in payload["raters"].items()]
    screen.print(table(["rater", "rows", "sheet (and .csv)"], sheets))
    screen.print()
    if payload["by_label"]:
        screen.print(table(["label", "rows"], [[label, rows] for label, rows in payload["by_label"].items()]))
        screen.print()
    blind = "blind: no label is in them" if payload["blind"] else "NOT blind: label or evidence is shown"
    screen.print(f"{payload['rows']:,} rows of {payload['strata']:,} strata, {DRAWN[payload['drawn']]}; {blind}")
    for reason, count in payload["left_out"].items():
        screen.print(f"left out: {count:,} {reason.replace('_', ' ')}")
    if payload["too_long"]:
        screen.print(f"left out: {payload['too_long']:,} with a question that no cell holds")
    if payload["continued"]:
        screen.print(f"{payload['continued']:,} contexts go on in further columns")
    folder = Path(next(iter(payload["sheets"].values()))["excel"]).parent
    screen.print(f"sheets in {relative(folder)}", soft_wrap=True)
    screen.print(f"key (keep it from the experts): {relative(Path(payload['key']))}", soft_wrap=True)


def paint_read(screen: Console, payload: dict[str, Any]) -> None:
    """Show what was taken, each cell that was not, and how raters and labels agree."""
    from ontoground.cli.render import indented, relative

    for one in payload["refused"]:
        screen.print(f"{one['file']} row {one['line']}, {one['column']}: {one['problem']}", soft_wrap=True)
        for name in ("found", "expected", "do"):
            if one[name]:
                screen.print(indented(f"{name}: {one[name]}", 2))
    if payload["refused"]:
        screen.print()
    for file in payload["already_adopted"]:
        screen.print(f"{relative(Path(file))}: taken up with the benchmark already; nothing to do", soft_wrap=True)
    for message in payload["notes"]:
        screen.print(message, soft_wrap=True)
    _paint_taken(screen, payload)
    if payload["files"] and not payload["taken"]:
        return
    _paint_agreement(screen, payload["agreement"])
    _paint_errors(screen, payload)


def _paint_taken(screen: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import relative

    for rater, count in payload["given"].items():
        empty, missing = payload["empty"].get(rater, 0), payload["missing"].get(rater, 0)
        more = f", {empty:,} empty: not reviewed" if empty else ""
        more += f", {missing:,} not in the file" if missing else ""
        screen.print(f"{rater}: {count:,} rows given{more}")
    # A row can be refused for several of its cells.
    refused = len({(one["file"], one["line"]) for one in payload["refused"]})
    if payload["files"] and not payload["taken"]:
        screen.print(
            f"NOTHING TAKEN: {refused:,} of {refused + payload['answers']:,} answers cannot be taken. Correct them in "
            "the sheet and read it again, or take the others with --partial",
            soft_wrap=True,
        )
    elif payload["files"]:
        added = payload["events_added"] + payload["spot_checks_added"]
        nothing = "all known already, nothing was added" if payload["answers"] else "nothing was added"
        screen.print(
            f"{payload['answers']:,} answers read, {payload['abstentions']:,} of them N/A; "
            + (f"{added:,} events added" if added else nothing)
            + (f" (batch {payload['batch']})" if payload["batch"] else "")
        )
    for file in payload["refused_tables"]:
        screen.print(f"refused cells, to be corrected and read again: {relative(Path(file))}", soft_wrap=True)
    draws = ", ".join(f"{count:,} {DRAWN.get(drawn, drawn)}" for drawn, count in payload["reviewed_by_draw"].items())
    screen.print(
        f"{payload['reviewed']:,} rows have a reviewer's label" + (f": {draws}" if draws else ""), soft_wrap=True
    )
    if payload["to_adjudicate"]:
        screen.print(f"raters disagree on {payload['to_adjudicate']:,}: ontoground steward sheets --adjudicate")
    if payload["awaiting"]:
        screen.print(f"not all raters have answered {payload['awaiting']:,}: settle what is there with --settle")


def _paint_agreement(screen: Console, found: dict[str, Any]) -> None:
    from ontoground.cli.render import table

    if not found["rows"]:
        return
    screen.print()
    rows = [
        [
            f"{one['first']}, {one['second']}",
            one["n"],
            one["agree"],
            share(one["share"]),
            one["same"],
            _coefficient(one["kappa"]),
        ]
        for one in found["pairs"]
    ]
    head = ["raters", "rows", "agree", "share [95% interval]", "same label", "Cohen's kappa"]
    screen.print(table(head, rows, title="agreement of raters"))
    screen.print(f"unanimous: {found['unanimous']:,} of {found['rows']:,} rows")
    for alpha in found["alphas"]:
        rests = f"{alpha['rows']:,} rows, {alpha['answers']:,} answers"
        screen.print(
            f"Krippendorff's alpha, {ALPHAS[alpha['level']]}: {_coefficient(alpha['value'])} ({rests})", soft_wrap=True
        )


def _coefficient(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"


ALPHAS = {
    "nominal": "nominal (same label or not, N/A a label of its own)",
    "interval": "interval (numbers only; large ones weigh most)",
    "computable": "nominal, N/A against any value",
}


def _paint_errors(screen: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import table

    shown = [one for one in payload["errors"] if one["by"] != "stratum" or one["n"] >= LEAST_SHOWN]
    for drawn in dict.fromkeys(one["drawn"] for one in shown):
        rows = [
            [
                one["labeller"],
                "all" if one["by"] == "all" else one["group"][:30],
                one["errors"],
                one["n"],
                share(one, "share"),
            ]
            for one in shown
            if one["drawn"] == drawn
        ]
        screen.print(f"\nlabels that reviewers do not agree with, of rows {DRAWN.get(drawn, drawn)}", soft_wrap=True)
        screen.print(table(["labels", "rows", "wrong", "of", "share [95% interval]"], rows))
        screen.print(f"({CAVEATS[drawn]})", soft_wrap=True)
    if open_rows := payload["to_adjudicate"] + payload["awaiting"]:
        screen.print(
            f"({open_rows:,} rows without a settled label are in none of these shares, which can be too low for it)",
            soft_wrap=True,
        )
    for one in payload["dataset"]:
        if one["by"] == "all":
            wrong = share(one, "share")
            screen.print(f"whole dataset, weighed by its {one['rows']:,} rows: {wrong} of labels wrong", soft_wrap=True)
    if hidden := len(payload["errors"]) - len(shown):
        screen.print(f"{hidden:,} shares of strata with fewer than {LEAST_SHOWN} rows: --json")
    for drawn, counts in payload["confusion"].items():
        names = sorted({name for row in counts.values() for name in row} | set(counts))
        cells = [[label, *(counts.get(label, {}).get(name, 0) for name in names)] for label in sorted(counts)]
        screen.print(f"\npublished label by reviewers' label, of rows {DRAWN.get(drawn, drawn)}", soft_wrap=True)
        screen.print(table(["published", *names], cells))
    if found := payload["spot_check"]:
        counts = ", ".join(f"{name} {count}" for name, count in found["verdicts"].items())
        screen.print(f"\nspot check of the audit's flags: {counts}; agree {share(found['agree'])}", soft_wrap=True)
