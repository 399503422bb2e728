"""``ontoground steward release``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ground.errors import OntogroundError
from ontoground.cli.options import Result, verb
from ontoground.cli.steward.options import ConfiguredBenchmark, group

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["release"]


@dataclass(frozen=True, kw_only=True)
class Wanted(ConfiguredBenchmark):
    """What to release, or to check."""

    labels: Annotated[Literal["final", "recomputed", "original"], Option(help="Whose labels, by the history")] = "final"
    rest: Annotated[
        Literal["original", "left_out"], Option(help="Rows without such a label keep the original, or are left out")
    ] = "original"
    limits: Annotated[
        Literal["corrected", "v1"],
        Option(help="corrected: 5% about every number; v1: about decimals alone, all else exact"),
    ] = "corrected"
    version: Annotated[
        str | None,
        Option("--version", metavar="X.Y.Z", help="Version number; default: the one that fits the changes"),
    ] = None
    licence: Annotated[
        str | None, Option("--licence", metavar="TEXT", help="Licence of the labels; default: as in the last release")
    ] = None
    caveats: Annotated[
        list[str] | None, Option("--caveat", metavar="TEXT", help="A further caveat for the card; repeatable")
    ] = None
    dry_run: Annotated[bool, Option("--dry-run", help="Show what the release would be, and write nothing")] = False
    check: Annotated[
        bool, Option("--check", help="Check history and frozen releases against their hashes, and write nothing")
    ] = False


@verb(
    group,
    "Freeze labels as a version with a card and hashes.",
    "ontoground steward release --dry-run",
    "ontoground steward release --licence 'CC BY-SA 4.0'",
    "ontoground steward release --labels original --limits v1 --version 1.0.0",
    "ontoground steward release --check",
)
def release(options: Wanted) -> Result:
    """Release labels: a frozen folder with labels, limits, manifest, card and hashes.

    The first release is 1.0.0. Rows that come or go make 2.0.0 of it, other labels 1.1.0, spelling and limits alone
    1.0.1; a version that says less than what changed is refused. The same history and options give the same bytes.
    """
    return _checked(options) if options.check else _released(options)


def _released(options: Wanted) -> Result:
    from stewardship.adjudication.standing import disputed
    from stewardship.versions.recipes import Recipe
    from stewardship.versions.releases import Release, Version
    from stewardship.versions.releasing import draft_release, make_release

    recipe = Recipe(options.labels, options.rest, options.limits)
    limit, benchmark = options.settings.flag_rel_err, options.adopted
    version = Version.parse(options.version) if options.version else None
    if options.dry_run:
        result = draft_release(benchmark, recipe, version, limit=limit)
    else:
        caveats = options.caveats or ()
        result = make_release(benchmark, recipe, version, licence=options.licence, caveats=caveats, limit=limit)
    frozen = Release.open(benchmark, result.version) if result.folder else None
    return options.result(
        "release",
        _paint,
        version=str(result.version),
        new=result.new,
        written=result.new and result.folder is not None,
        recipe=asdict(recipe),
        rows=result.frame.height,
        by_source=dict(result.frame["source"].value_counts().sort("source").iter_rows()),
        by_kind=dict(result.frame["kind"].value_counts().sort("kind").iter_rows()),
        previous=str(result.before) if result.before else None,
        change=result.grade,
        changes=result.diff.counts() if result.diff else {},
        words=result.diff.words() if result.diff else [],
        disputed=len(disputed(benchmark.history)),
        caveats=list(result.caveats),
        labels_sha256=frozen.manifest["labels_sha256"] if frozen else None,
        sha256=frozen.sha256 if frozen else None,
        folder=str(result.folder) if result.folder else None,
    )


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import indented, number, relative

    recipe, name = payload["recipe"], f"release {payload['version']}"
    sources = ", ".join(f"{number(count)} {source}" for source, count in payload["by_source"].items())
    kinds = {("N/A" if kind == "na" else kind): count for kind, count in payload["by_kind"].items()}
    rest = "keep the original" if recipe["rest"] == "original" else "are left out"
    out.print(f"{name} of {payload['benchmark']}", style="bold")
    out.print(f"labels   {recipe['labels']}; rows without one {rest}", soft_wrap=True)
    out.print(f"limits   {recipe['limits']}\nrows     {number(payload['rows'])}: {sources}")
    out.print(f"kinds    {', '.join(f'{number(count)} {kind}' for kind, count in kinds.items())}\n")
    if payload["previous"]:
        change = f"a {payload['change']} change" if payload["change"] else "nothing changed"
        out.print(f"since {payload['previous']}: {change}")
        out.print(*(indented(line, 2) for line in payload["words"]), "")
    out.print("caveats")
    out.print(*(indented(line, 2) for line in payload["caveats"]), "")
    there = "is there already, with the same labels"
    if payload["folder"] is None:
        out.print(f"{name} {'would be new; nothing was written' if payload['new'] else there}")
    else:
        answer = "written and frozen" if payload["written"] else there
        out.print(f"{answer}: {relative(Path(payload['folder']))}", soft_wrap=True)
        out.print(f"sha256   {payload['sha256']}")


def _checked(options: Wanted) -> Result:
    """Hold each frozen release and the history against their hashes."""
    from stewardship.versions.releases import Release, check_labels, check_previous, versions_of

    benchmark = options.adopted
    events, releases, altered = None, [], []
    try:
        events = len(benchmark.history.events)
    except OntogroundError as error:
        altered.append({"of": "history", **error.as_dict()})
    for version in versions_of(benchmark):
        try:
            frozen = Release.open(benchmark, version)
            check_previous(benchmark, frozen)
            if events is not None:
                check_labels(benchmark, frozen)
            releases.append({"version": str(version), "sha256": frozen.sha256, "rows": frozen.labels.height})
        except OntogroundError as error:
            altered.append({"of": str(version), **error.as_dict()})
    results = {"events": events, "checked": releases, "altered": altered}
    return options.result("release", _paint_checked, 1 if altered else 0, **results)


def _paint_checked(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import indented, number, table

    if payload["checked"]:
        rows = [[item["version"], item["rows"], item["sha256"]] for item in payload["checked"]]
        out.print(table(["release", "rows", "sha256"], rows), "")
    for item in payload["altered"]:
        where = f"{item['file']}:{item['line']}" if item["line"] else str(item["file"])
        out.print(f"{item['of']}: {item['what']}", style="bold")
        out.print(indented(where, 2), indented(f"found {item['found']}", 2))
    events = "cannot be read" if payload["events"] is None else f"{number(payload['events'])} events, each as written"
    out.print(f"history: {events}")
    out.print(f"{len(payload['altered']) or 'nothing was'} altered")
