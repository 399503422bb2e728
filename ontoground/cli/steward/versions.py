"""``ontoground steward rule|release|diff``: labels put right, frozen and compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from ground.errors import InputError, OntogroundError, UsageError
from ontoground.cli.options import WRITTEN, Result, verb
from ontoground.cli.render import Blocks, beginning, indented, number, relative, table, text, unfolded
from ontoground.cli.runs import require_packages
from ontoground.cli.steward.options import ConfiguredBenchmark, group
from ontoground.cli.steward.shares import short

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from stewardship.benchmark.folder import Benchmark
    from stewardship.versions.rules import Effect

__all__ = ["diff", "release", "rule"]


@verb(
    group,
    "Compare two releases, or two roles of labels.",
    "ontoground steward diff                          # the two newest",
    "ontoground steward diff 1.0.0 1.1.0 --csv changes.csv",
    "ontoground steward diff original recomputed",
    "ontoground steward diff 2.0.0 medcalc_v1_corrected.csv.gz",
)
def diff(
    options: ConfiguredBenchmark,
    before: Annotated[
        str | None,
        Argument(
            metavar="FROM",
            help="A release, a role (original, recomputed, physician, final), or a table of labels",
            show_default=False,
        ),
    ] = None,
    after: Annotated[str | None, Argument(metavar="TO", help="Another one", show_default=False)] = None,
    top: Annotated[int, Option(min=1, metavar="N", help="Rows of each table to print")] = 20,
    csv: Annotated[Path | None, Option("--csv", metavar="FILE", help="Write all changes to this file"), WRITTEN] = None,
) -> Result:
    """Describe in words and tables what differs: rows, labels, limits and spelling, by stratum and by reason."""
    from ground.spreadsheet import write_csv
    from ground.storage.files import atomic_path
    from stewardship.versions.diffs import compare

    limit, benchmark = options.settings.flag_rel_err, options.adopted
    names = _names(benchmark, before, after)
    changes = compare(*(_side(benchmark, name) for name in names), categories=benchmark.categories, limit=limit)
    if csv is not None:
        with atomic_path(csv) as temporary:
            write_csv(changes.frame, temporary)
    return options.result(
        "diff",
        partial(_blocks_of_diff, top=top),
        before={"name": names[0], "rows": changes.before},
        after={"name": names[1], "rows": changes.after},
        limit=limit,
        grade=changes.grade,
        counts=changes.counts(),
        words=changes.words(),
        by_stratum=changes.by_stratum().to_dicts(),
        by_why=changes.by_why().to_dicts(),
        changes=changes.frame.to_dicts(),
        csv=str(csv) if csv else None,
    )


def _names(benchmark: Benchmark, before: str | None, after: str | None) -> tuple[str, str]:
    """Return what is compared: what was named, else the two newest releases."""
    from stewardship.versions.releases import versions_of

    if before is not None and after is not None:
        return before, after
    if before is not None:
        raise UsageError("one side of the comparison is missing", found=before, expected="two, or none")
    known = [str(version) for version in versions_of(benchmark)]
    if len(known) < 2:
        raise InputError(
            "there are no two releases to compare",
            file=benchmark.folder,
            found=", ".join(known) or "none",
            do="name two of original, recomputed, physician, final, a release, or a table of labels",
        )
    return known[-2], known[-1]


def _side(benchmark: Benchmark, name: str) -> pl.DataFrame:
    """Return the labels that a name stands for: a role, a release, or a table."""
    from stewardship.benchmark.folder import STATUSES
    from stewardship.versions.recipes import role_rows, table_rows
    from stewardship.versions.releases import Release

    if name in STATUSES:
        return role_rows(benchmark, name)
    if name.removeprefix("v").replace(".", "").isdigit():
        return Release.open(benchmark, name).labels
    if (file := Path(name)).is_file():
        return table_rows(file, categories=benchmark.categories)
    raise UsageError(
        "nothing with this name can be compared",
        found=name,
        expected="original, recomputed, physician, final, a release such as 1.0.0, or a table of labels",
    )


def _blocks_of_diff(payload: dict[str, Any], *, top: int) -> Blocks:
    yield text(f"from {payload['before']['name']} to {payload['after']['name']}", "bold")
    yield from (indented(line, 2) for line in payload["words"])
    if not payload["changes"]:
        return
    strata, heads = payload["by_stratum"], {"label": "other label", "abstained": "N/A"}
    counts = [name for name in strata[0] if name != "stratum" and any(stratum[name] for stratum in strata)]
    rows = [[short(stratum["stratum"] or "(none)"), *(stratum[name] for name in counts)] for stratum in strata]
    yield from beginning(["stratum", *(heads.get(name, name) for name in counts)], rows, most=top)
    rows = [[item["rows"], item["change"], item["why"] or "(not said)"] for item in payload["by_why"]]
    yield from beginning(["rows", "change", "why the new label"], rows, most=top)
    rows = []
    for *_, apart, item in sorted(
        ((*_apart(change), change) for change in payload["changes"]), key=lambda each: each[:2]
    ):
        sides = (short(item[side], 14) for side in ("before", "after"))
        rows.append([item["uid"], short(item["stratum"], 30), *sides, apart])
    yield from beginning(
        ["uid", "stratum", "before", "after", "apart"], rows, title="rows, other labels first", most=top
    )
    if payload["csv"]:
        yield unfolded(f"all in {relative(Path(payload['csv']))}")


def _apart(item: dict[str, Any]) -> tuple[int, float, str]:
    """Say how far apart two labels are, behind their place.

    First come labels without a distance (N/A), then numbers by distance, dates, and last what is no other label.
    """
    change, distance = item["change"], item["distance"]
    if " to " not in change:
        return (3 if change.startswith("row ") else 4), 0.0, change
    if distance is None:
        return 0, 0.0, ""
    return (2, -distance, f"{distance:.0f} days") if item["unit"] == "days" else (1, -distance, f"{distance:.3f}")


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
        draft = draft_release(benchmark, recipe, version, limit=limit)
    else:
        caveats = options.caveats or ()
        draft = make_release(benchmark, recipe, version, licence=options.licence, caveats=caveats, limit=limit)
    frozen = Release.open(benchmark, draft.version) if draft.folder else None
    return options.result(
        "release",
        _blocks_of_release,
        version=str(draft.version),
        new=draft.new,
        written=draft.new and draft.folder is not None,
        recipe=asdict(recipe),
        rows=draft.frame.height,
        by_source=dict(draft.frame["source"].value_counts().sort("source").iter_rows()),
        by_kind=dict(draft.frame["kind"].value_counts().sort("kind").iter_rows()),
        previous=str(draft.before) if draft.before else None,
        change=draft.grade,
        changes=draft.diff.counts() if draft.diff else {},
        words=draft.diff.words() if draft.diff else [],
        disputed=len(disputed(benchmark.history)),
        caveats=list(draft.caveats),
        labels_sha256=frozen.manifest["labels_sha256"] if frozen else None,
        sha256=frozen.sha256 if frozen else None,
        folder=str(draft.folder) if draft.folder else None,
    )


def _blocks_of_release(payload: dict[str, Any]) -> Blocks:
    recipe, name = payload["recipe"], f"release {payload['version']}"
    sources = ", ".join(f"{number(count)} {source}" for source, count in payload["by_source"].items())
    kinds = {("N/A" if kind == "na" else kind): count for kind, count in payload["by_kind"].items()}
    rest = "keep the original" if recipe["rest"] == "original" else "are left out"
    yield text(f"{name} of {payload['benchmark']}", "bold")
    yield unfolded(f"labels   {recipe['labels']}; rows without one {rest}")
    yield f"limits   {recipe['limits']}\nrows     {number(payload['rows'])}: {sources}"
    yield f"kinds    {', '.join(f'{number(count)} {kind}' for kind, count in kinds.items())}"
    if payload["previous"]:
        change = f"a {payload['change']} change" if payload["change"] else "nothing changed"
        yield f"\nsince {payload['previous']}: {change}"
        yield from (indented(line, 2) for line in payload["words"])
    yield "\ncaveats"
    yield from (indented(line, 2) for line in payload["caveats"])
    there = "is there already, with the same labels"
    if payload["folder"] is None:
        yield f"\n{name} {'would be new; nothing was written' if payload['new'] else there}"
    else:
        outcome = "written and frozen" if payload["written"] else there
        yield unfolded(f"\n{outcome}: {relative(Path(payload['folder']))}")
        yield f"sha256   {payload['sha256']}"


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
    return options.result("release", _blocks_of_checked, 1 if altered else 0, **results)


def _blocks_of_checked(payload: dict[str, Any]) -> Blocks:
    if payload["checked"]:
        rows = [[item["version"], item["rows"], item["sha256"]] for item in payload["checked"]]
        yield table(["release", "rows", "sha256"], rows)
    for item in payload["altered"]:
        where = f"{item['file']}:{item['line']}" if item["line"] else str(item["file"])
        yield text(f"{item['of']}: {item['what']}", "bold")
        yield indented(where, 2)
        yield indented(f"found {item['found']}", 2)
    events = "cannot be read" if payload["events"] is None else f"{number(payload['events'])} events, each as written"
    yield f"history: {events}"
    yield f"{len(payload['altered']) or 'nothing was'} altered"


@verb(
    group,
    "Put right a fault that physicians found, on the rows that share it.",
    "ontoground steward rule methadone.toml           # shows, writes nothing",
    "ontoground steward rule methadone.toml --apply",
    "ontoground steward rule --revert 0005 --by NAME --why 'wrong factor'",
    "",
    "  # methadone.toml",
    "  name = 'methadone'",
    "  by = 'Dr A'",
    "  why = 'methadone was multiplied by 12 at every dose'",
    "  evidence = ['992', '1007']          # reviewed rows that show it",
    "  [rows]",
    "  strata = ['49']                     # or uids; and, if wanted,",
    '  where = """features->>\'Methadone Dose\' is not null"""',
    "  unlabelled = false                  # true: deferred rows too",
    "  [do]                                # one of",
    "  take = 'original'                   # or 'runs'",
    "  # calculator = 'corrected'          # or 'v1.0'",
    "  # abstain = true",
    "  # value = '12'",
    "  # multiply = 0.39",
    "  # add = -1                          # days, where labels are dates",
)
def rule(
    options: ConfiguredBenchmark,
    file: Annotated[Path | None, Argument(metavar="RULE.toml", help="The rule", show_default=False)] = None,
    apply: Annotated[bool, Option("--apply", help="Store the new labels; without it they are only shown")] = False,
    force: Annotated[
        bool, Option("--force", help="Apply even if the rule agrees with fewer physicians' labels than before")
    ] = False,
    revert: Annotated[str | None, Option("--revert", metavar="BATCH", help="Revert a batch of the history")] = None,
    by: Annotated[str, Option("--by", metavar="NAME", help="Who reverts it")] = "",
    why: Annotated[str, Option("--why", metavar="TEXT", help="Why it is reverted")] = "",
) -> Result:
    """Apply a rule to the unreviewed rows that share a fault, as one batch that can be reverted.

    Reviewed rows are never touched: they show whether the rule gives what the physicians said. The rule's labels are
    recomputed labels: run it before `finalise`. A condition sees the rows' columns, `features` as JSON, and the labels
    original, recomputed, physician and final as text.
    """
    if file is not None and revert is None:
        return _ruled(options, file, apply=apply, force=force)
    if file is None and revert is not None and not (apply or force):
        return _reverted(options, revert, by=by, why=why)
    raise UsageError("a rule file, or --revert alone", expected="RULE.toml [--apply], or --revert BATCH")


def _ruled(options: ConfiguredBenchmark, file: Path, *, apply: bool, force: bool) -> Result:
    from stewardship.versions.rules import apply_rule, read_rule, try_rule

    benchmark = options.adopted
    read = read_rule(file)
    if read.do.calculator is not None:
        require_packages("pint", extra="steward")
    effects = try_rule(benchmark, read, options.settings)
    seen, batch = effects.reviewed, apply_rule(benchmark, effects, force=force) if apply else None
    return options.result(
        "rule",
        _blocks_of_rule,
        rule={"name": read.name, "by": read.by, "why": read.why, "sha256": read.sha256, "do": read.do.named()[0]},
        applied=batch is not None,
        batch=batch,
        changed=_effects(effects.changed),
        same=[item.uid for item in effects.same],
        without=_effects(effects.without),
        reviewed=_effects(seen),
        agreed={"before": sum(bool(item.agreed) for item in seen), "after": sum(bool(item.agrees) for item in seen)},
        unlabelled=effects.unlabelled,
        finalised=bool({item.uid for item in effects.changed} & set(benchmark.history.latest("final"))),
    )


def _effects(effects: Iterable[Effect]) -> list[dict[str, Any]]:
    """Return what becomes of rows, their labels as text."""
    from ground.contracts.labels import LabelValue

    return [
        {name: value.text() if isinstance(value, LabelValue) else value for name, value in vars(item).items()}
        for item in effects
    ]


def _blocks_of_rule(payload: dict[str, Any]) -> Blocks:
    rule = payload["rule"]
    changed, without, reviewed = (
        [item | {side: item[side] or "(none)" for side in ("before", "after")} for item in payload[name]]
        for name in ("changed", "without", "reviewed")
    )
    yield f"{rule['name']} ({rule['by']}): {rule['why']}\ndoes: {rule['do']}"
    rows = [
        [item["uid"], short(item["stratum"], 30), item["original"], item["before"], item["after"]] for item in changed
    ]
    yield from beginning(
        ["uid", "stratum", "original", "before", "after"], rows, title="rows that nobody reviewed: another label"
    )
    names = ("uid", "physician", "before", "agreed", "after", "agrees")
    columns = ["uid", "physician", "label now", "agrees", "by the rule", "agrees "]
    rows = [[number(item[name]) for name in names] for item in reviewed]
    yield from beginning(columns, rows, title="reviewed rows: never touched, shown as proof")
    rows = [[item["uid"], short(item["stratum"]), item["before"], item["note"]] for item in without]
    yield from beginning(["uid", "stratum", "keeps", "because"], rows, title="rows for which the rule has no label")
    keep = f", {number(len(without))} keep theirs" if without else ""
    have = f"{number(len(payload['same']))} have the rule's label already"
    yield unfolded(f"{number(len(changed))} changed, {have}{keep}")
    agreed = payload["agreed"]
    yield f"agrees with {agreed['after']} of {len(reviewed)} physicians' labels; before: {agreed['before']}"
    if more := payload["unlabelled"]:
        does = "more fit and have no recomputed label: `unlabelled = true` takes them in"
        yield unfolded(f"{number(more)} {does}")
    if batch := payload["batch"]:
        yield f"recorded as batch {batch}; take it back with --revert {batch}"
        if payload["finalised"]:
            yield unfolded("labels were finalised before: run `ontoground steward finalise` again")
    else:
        yield "nothing was written" + (": record it with --apply" if changed else "")


def _reverted(options: ConfiguredBenchmark, batch: str, *, by: str, why: str) -> Result:
    if not by.strip() or not why.strip():
        raise UsageError("the history needs to know who reverts a batch, and why", expected="--by NAME --why TEXT")
    benchmark = options.adopted
    undo = benchmark.history.revert(batch, by=by, why=why)
    taken = next(item for item in benchmark.history.batches() if item.name == batch)
    results = {"reverted": batch, "was_by": taken.by, "events": taken.events, "batch": undo, "by": by, "why": why}
    return options.result("rule", _blocks_of_reverted, **results)


def _blocks_of_reverted(payload: dict[str, Any]) -> Blocks:
    was = f"{payload['was_by']}, {payload['events']:,} events"
    yield unfolded(f"batch {payload['reverted']} ({was}) holds no longer")
    yield unfolded(f"recorded as batch {payload['batch']}; take that back to restore it")
