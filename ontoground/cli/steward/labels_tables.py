"""How ``ontoground steward rule``, ``release``, ``diff`` and ``history`` look to a person: tables of 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontoground.cli.render import Cell, indented, number, relative, table, text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["paint_check", "paint_diff", "paint_history", "paint_release", "paint_reverted", "paint_rule"]

STRATUM = 34
SHOWN = 20
VALUE = 14
COUNTS = {
    "label": "other label",
    "differ": "differ",
    "abstained": "N/A",
    "limits": "limits",
    "added": "added",
    "removed": "removed",
}
# Statuses that say no more than the role does.
PLAIN = ("published", "labelled", "finalised", "reverted", "rule")


def paint_rule(screen: Console, payload: dict[str, Any]) -> None:
    """Show what a rule changes, and how it does on the reviewed rows."""
    rule, changed = payload["rule"], payload["changed"]
    screen.print(text(f"{rule['name']} ({rule['by']}): {rule['why']}"))
    screen.print(text(f"does: {rule['do']}"))
    screen.print()
    if changed:
        rows = [
            [one["uid"], _short(one["stratum"], 30), one["original"] or "", one["before"] or "(none)", one["after"]]
            for one in changed
        ]
        _part(
            screen, ["uid", "stratum", "original", "before", "after"], rows, "rows that nobody reviewed: another label"
        )
    if reviewed := payload["reviewed"]:
        cells = [
            [one["uid"], one["physician"], one["before"] or "(none)", _yes(one["agreed"]), one["after"] or "(none)",
             _yes(one["agrees"])]
            for one in reviewed
        ]  # fmt: skip
        columns = ["uid", "physician", "label now", "agrees", "by the rule", "agrees "]
        _part(screen, columns, cells, "reviewed rows: never touched, shown as proof")
    if without := payload["without"]:
        rows = [[one["uid"], _short(one["stratum"]), one["before"] or "(none)", one["note"]] for one in without]
        _part(screen, ["uid", "stratum", "keeps", "because"], rows, "rows for which the rule has no label")
    agreed, n = payload["agreed"], len(payload["reviewed"])
    counts = [f"{number(len(changed))} changed", f"{number(len(payload['same']))} have the rule's label already"]
    if payload["without"]:
        counts.append(f"{number(len(payload['without']))} keep theirs")
    screen.print(", ".join(counts), soft_wrap=True)
    screen.print(f"agrees with {agreed['after']} of {n} physicians' labels; before: {agreed['before']}")
    if payload["unlabelled"]:
        unlabelled = payload["unlabelled"]
        screen.print(
            f"{number(unlabelled)} more fit and have no recomputed label: `unlabelled = true` takes them in",
            soft_wrap=True,
        )
    if payload["batch"]:
        screen.print(f"recorded as batch {payload['batch']}; take it back with --revert {payload['batch']}")
        if payload["finalised"]:
            screen.print("labels were finalised before: run `ontoground steward finalise` again", soft_wrap=True)
    else:
        screen.print("nothing was written" + (": record it with --apply" if changed else ""))


def paint_reverted(screen: Console, payload: dict[str, Any]) -> None:
    """Show what was taken back."""
    screen.print(
        f"batch {payload['reverted']} ({payload['was_by']}, {number(payload['events'])} events) holds no longer",
        soft_wrap=True,
    )
    screen.print(f"recorded as batch {payload['batch']}; take that back to restore it", soft_wrap=True)


def paint_release(screen: Console, payload: dict[str, Any]) -> None:
    """Show a release, or what it would be."""
    recipe = payload["recipe"]
    screen.print(text(f"release {payload['version']} of {payload['benchmark']}", "bold"))
    sources = ", ".join(f"{number(count)} {source}" for source, count in payload["by_source"].items())
    kinds = ", ".join(
        f"{number(count)} {'N/A' if kind == 'na' else kind}" for kind, count in payload["by_kind"].items()
    )
    rest = "keep the original" if recipe["rest"] == "original" else "are left out"
    screen.print(f"labels   {recipe['labels']}; rows without one {rest}", soft_wrap=True)
    screen.print(f"limits   {recipe['limits']}")
    screen.print(f"rows     {number(payload['rows'])}: {sources}")
    screen.print(f"kinds    {kinds}")
    screen.print()
    if payload["previous"]:
        change = f"a {payload['change']} change" if payload["change"] else "nothing changed"
        screen.print(text(f"since {payload['previous']}: {change}"))
        for line in payload["words"]:
            screen.print(indented(line, 2))
        screen.print()
    screen.print("caveats")
    for line in payload["caveats"]:
        screen.print(indented(line, 2))
    screen.print()
    if payload["folder"] is None:
        said = "would be new; nothing was written" if payload["new"] else "is there already, with the same labels"
        screen.print(f"release {payload['version']} {said}")
        return
    said = "written and frozen" if payload["written"] else "is there already, with the same labels"
    screen.print(f"{said}: {relative(Path(payload['folder']))}", soft_wrap=True)
    screen.print(f"sha256   {payload['sha256']}")


def paint_check(screen: Console, payload: dict[str, Any]) -> None:
    """Show which releases are as they were frozen."""
    if payload["checked"]:
        rows: list[Sequence[Cell]] = [[one["version"], one["rows"], one["sha256"]] for one in payload["checked"]]
        screen.print(table(["release", "rows", "sha256"], rows))
        screen.print()
    for one in payload["altered"]:
        where = f"{one['file']}:{one['line']}" if one["line"] else str(one["file"])
        screen.print(text(f"{one['of']}: {one['what']}", "bold"))
        screen.print(indented(where, 2))
        screen.print(indented(f"found {one['found']}", 2))
    events = "cannot be read" if payload["events"] is None else f"{number(payload['events'])} events, each as written"
    screen.print(f"history: {events}")
    n = len(payload["altered"])
    screen.print("nothing was altered" if not n else f"{n} altered")


def paint_diff(screen: Console, payload: dict[str, Any], *, top: int = SHOWN) -> None:
    """Show the differences in words, by stratum, and row by row."""
    screen.print(text(f"from {payload['before']['name']} to {payload['after']['name']}", "bold"))
    for line in payload["words"]:
        screen.print(indented(line, 2))
    if not payload["changes"]:
        return
    screen.print()
    strata = payload["by_stratum"]
    columns = ["stratum", *(name for name in COUNTS if any(one[name] for one in strata))]
    by_stratum: list[list[Cell]] = [
        [_short(one["stratum"] or "(none)"), *(one[name] for name in columns[1:])] for one in strata
    ]
    _part(screen, ["stratum", *(COUNTS[name] for name in columns[1:])], by_stratum, None, top=top)
    if payload["by_why"]:
        whys = [[one["rows"], one["change"], one["why"] or "(not said)"] for one in payload["by_why"]]
        _part(screen, ["rows", "change", "why the new label"], whys, None, top=top)
    worst = sorted(payload["changes"], key=_worst)
    rows = [
        [one["uid"], _short(one["stratum"], 30), _short(one["before"] or "", VALUE), _short(one["after"] or "", VALUE),
         _apart(one)]
        for one in worst
    ]  # fmt: skip
    _part(screen, ["uid", "stratum", "before", "after", "apart"], rows, "rows, other labels first", top=top)
    if payload["csv"]:
        screen.print(f"all in {relative(Path(payload['csv']))}", soft_wrap=True)


def _worst(one: Mapping[str, Any]) -> tuple[int, float]:
    """Put labels without a distance first (N/A), then numbers by distance, dates, and last what is no other label."""
    if " to " not in one["change"]:
        return (3 if one["change"].startswith("row ") else 4), 0.0
    if one["distance"] is None:
        return 0, 0.0
    return (2 if one["unit"] == "days" else 1), -one["distance"]


def _apart(one: Mapping[str, Any]) -> str:
    if one["distance"] is None:
        return one["change"] if " to " not in one["change"] else ""
    return f"{one['distance']:.0f} days" if one["unit"] == "days" else f"{one['distance']:.3f}"


def paint_history(screen: Console, payload: dict[str, Any]) -> None:
    """Show the history of a row, or all batches."""
    if "batches" in payload:
        rows = [
            [one["name"], one["at"][:10], one["events"], ", ".join(one["roles"]), _batch_note(one)]
            for one in payload["batches"]
        ]
        screen.print(table(["batch", "when", "events", "labels", "who or what"], rows))
        screen.print()
        screen.print(f"{number(payload['events'])} events, each as written; chain {payload['chain'][:16]}")
        return
    row = payload["row"]
    named = [one for one in (row["stratum"], row["output_type"]) if one]
    screen.print(text(f"row {payload['uid']} of {payload['benchmark']}: {', '.join(named)}", "bold"))
    if row["question"]:
        screen.print(indented(row["question"].strip(), 2))
    screen.print()
    rows = [[one["batch"], one["at"][:10], one["role"], _said(one), _reasons(one)] for one in payload["history"]]
    screen.print(table(["batch", "when", "label of", "label", "who, why, from what"], rows))
    screen.print()
    holds = ", ".join(f"{role} {value if value is not None else '(none)'}" for role, value in payload["holds"].items())
    screen.print(f"holds: {holds or 'nothing'}", soft_wrap=True)


def _batch_note(one: Mapping[str, Any]) -> str:
    note = f"takes back {one['reverts']} ({one['by']})" if one["reverts"] else one["by"]
    return note if one["holds"] else f"{note}; taken back"


def _said(one: Mapping[str, Any]) -> str:
    return _short(one["value"], VALUE) if one["value"] is not None else f"({one['status']})"


def _reasons(one: Mapping[str, Any]) -> str:
    evidence = [
        f"{name} {_plain(name, value)}"
        for name, value in one["evidence"].items()
        if value not in (None, "", [])
        and value != one["by"]
        and not (name == "rule" and value in one["by"])
        and f"{name} {value}" != one["by"]
    ]
    status = "" if one["status"] in PLAIN or one["value"] is None else f" ({one['status'].replace('_', ' ')})"
    parts = [f"{one['by']}{status}", one["why"], ", ".join(evidence)]
    if one["taken_back_by"]:
        parts.append(f"TAKEN BACK by batch {one['taken_back_by']}")
    return "; ".join(part for part in parts if part)


def _plain(name: str, value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)[:12] if name.endswith("sha256") else str(value)


def _part(
    screen: Console, columns: Sequence[str], rows: Sequence[Sequence[Cell]], title: str | None, *, top: int = SHOWN
) -> None:
    if title:
        screen.print(text(title, "bold"))
    screen.print(table(columns, rows[:top]))
    if len(rows) > top:
        screen.print(f"and {number(len(rows) - top)} more; --json lists all")
    screen.print()


def _short(name: str | None, width: int = STRATUM) -> str:
    return (name or "") if len(name or "") <= width else f"{(name or '')[: width - 1]}…"


def _yes(value: bool | None) -> str:
    return "" if value is None else ("yes" if value else "no")
