"""What ``ontoground steward rule``, ``release``, ``diff`` and ``history`` do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, OntogroundError, UsageError
from ground.storage.files import atomic_path
from ontoground.cli.runs import require_packages

if TYPE_CHECKING:
    import polars as pl

    from ground.contracts.labels import LabelValue
    from ground.settings import StewardSettings
    from stewardship.benchmark.folder import Benchmark
    from stewardship.history.log import Event
    from stewardship.versions.recipes import Recipe
    from stewardship.versions.rules import Effect

__all__ = ["check_job", "diff_job", "history_job", "release_job", "revert_job", "rule_job"]


def rule_job(
    settings: StewardSettings, workspace: Path, name: str | None, file: Path, *, apply: bool, force: bool
) -> dict[str, Any]:
    """Try a rule, or apply it, and return what ``--json`` prints.

    Raises:
        InputError: no such benchmark or rule file, or the file is no rule.
        UsageError: the rule touches reviewed rows, rests on none, or does worse than what it replaces.
    """
    from stewardship.benchmark.folder import Benchmark
    from stewardship.versions.rule_files import read_rule
    from stewardship.versions.rules import apply_rule, try_rule

    benchmark = Benchmark.open(workspace, name)
    rule = read_rule(file)
    if rule.do.calculator is not None:
        require_packages("pint", extra="steward")
    outcome = try_rule(benchmark, rule, relative=settings.agree_rel, points=settings.ordinal_tolerance)
    batch = apply_rule(benchmark, outcome, force=force) if apply else None
    return {
        "verb": "steward rule",
        "workspace": str(workspace),
        "benchmark": benchmark.name,
        "rule": {"name": rule.name, "by": rule.by, "why": rule.why, "sha256": rule.sha256, "do": rule.do.named()[0]},
        "applied": batch is not None,
        "batch": batch,
        "changed": [_effect(one) for one in outcome.changed],
        "same": [one.uid for one in outcome.same],
        "without": [_effect(one) for one in outcome.without],
        "reviewed": [_effect(one) for one in outcome.reviewed],
        "agreed": {
            "before": sum(bool(one.agreed) for one in outcome.reviewed),
            "after": sum(bool(one.agrees) for one in outcome.reviewed),
        },
        "unlabelled": outcome.unlabelled,
        "finalised": bool({one.uid for one in outcome.changed} & set(benchmark.history.latest("final"))),
    }


def _effect(one: Effect) -> dict[str, Any]:
    def text(label: LabelValue | None) -> str | None:
        return None if label is None else label.text()

    return {
        "uid": one.uid,
        "stratum": one.stratum,
        "original": text(one.original),
        "before": text(one.before),
        "after": text(one.after),
        "note": one.note,
        "physician": text(one.physician),
        "agreed": one.agreed,
        "agrees": one.agrees,
    }


def revert_job(workspace: Path, name: str | None, batch: str, *, by: str, why: str) -> dict[str, Any]:
    """Take a batch of events back and return what ``--json`` prints.

    Raises:
        UsageError: no such batch, it was taken back before, or nobody is named.
    """
    from stewardship.benchmark.folder import Benchmark

    if not by.strip() or not why.strip():
        raise UsageError("who takes a batch back, and why, is part of the history", expected="--by NAME --why TEXT")
    benchmark = Benchmark.open(workspace, name)
    history = benchmark.history
    made = history.revert(batch, by=by, why=why)
    taken = next(one for one in history.batches() if one.name == batch)
    return {
        "verb": "steward rule",
        "workspace": str(workspace),
        "benchmark": benchmark.name,
        "reverted": batch,
        "was_by": taken.by,
        "events": taken.events,
        "batch": made,
        "by": by,
        "why": why,
    }


def release_job(
    settings: StewardSettings,
    workspace: Path,
    name: str | None,
    recipe: Recipe,
    *,
    version: str | None,
    licence: str | None,
    caveats: Sequence[str],
    dry_run: bool,
) -> dict[str, Any]:
    """Make a release, or say what it would be, and return what ``--json`` prints.

    Raises:
        InputError: there are no such labels, or a release or the history before it was altered.
        UsageError: the version does not fit what changed.
    """
    from stewardship.benchmark.folder import Benchmark
    from stewardship.versions.releases import Release, Version
    from stewardship.versions.releasing import made_of, make_release

    benchmark = Benchmark.open(workspace, name)
    wanted = Version.parse(version) if version else None
    if dry_run:
        made = made_of(benchmark, recipe, wanted, limit=settings.flag_rel_err)
    else:
        made = make_release(benchmark, recipe, wanted, licence=licence, caveats=caveats, limit=settings.flag_rel_err)
    release = Release.open(benchmark, made.version) if made.folder else None
    return {
        "verb": "steward release",
        "workspace": str(workspace),
        "benchmark": benchmark.name,
        "version": str(made.version),
        "new": made.new,
        "written": made.new and made.folder is not None,
        "recipe": {"labels": recipe.labels, "rest": recipe.rest, "limits": recipe.limits},
        "rows": made.frame.height,
        "by_source": _counted(made.frame, "source"),
        "by_kind": _counted(made.frame, "kind"),
        "previous": str(made.before) if made.before else None,
        "change": made.grade,
        "changes": made.diff.counts() if made.diff else {},
        "words": made.diff.words() if made.diff else [],
        "caveats": list(made.caveats),
        "labels_sha256": release.manifest["labels_sha256"] if release else None,
        "sha256": release.sha256 if release else None,
        "folder": str(made.folder) if made.folder else None,
    }


def _counted(frame: pl.DataFrame, column: str) -> dict[str, int]:
    counts = frame.group_by(column).len().sort(column)
    return dict(zip(counts[column], counts["len"], strict=True))


def check_job(workspace: Path, name: str | None) -> dict[str, Any]:
    """Hold each frozen release and the history against their hashes and return what ``--json`` prints.

    Raises:
        InputError: no such benchmark.
    """
    from stewardship.benchmark.folder import Benchmark
    from stewardship.versions.releases import Release, check_labels, check_previous, versions_of

    benchmark = Benchmark.open(workspace, name)
    found: list[dict[str, Any]] = []
    events = None
    try:
        events = len(benchmark.history.events)
    except OntogroundError as error:
        found.append({"of": "history", **error.as_dict()})
    releases = []
    for version in versions_of(benchmark):
        try:
            release = Release.open(benchmark, version)
            check_previous(benchmark, release)
            if events is not None:
                check_labels(benchmark, release)
            releases.append({"version": str(version), "sha256": release.sha256, "rows": release.labels.height})
        except OntogroundError as error:
            found.append({"of": str(version), **error.as_dict()})
    return {
        "verb": "steward release",
        "workspace": str(workspace),
        "benchmark": benchmark.name,
        "events": events,
        "checked": releases,
        "altered": found,
    }


def diff_job(
    settings: StewardSettings,
    workspace: Path,
    name: str | None,
    before: str | None,
    after: str | None,
    *,
    csv: Path | None,
) -> dict[str, Any]:
    """Compare two releases, roles or tables and return what ``--json`` prints.

    Raises:
        InputError: no such benchmark, release or table; fewer than two releases where none is named.
        UsageError: one side is named and the other is not.
    """
    from stewardship.benchmark.folder import Benchmark
    from stewardship.versions.diffs import compare
    from stewardship.versions.releases import versions_of

    benchmark = Benchmark.open(workspace, name)
    if (before is None) != (after is None):
        raise UsageError("one side of the comparison is missing", found=before, expected="two, or none")
    if before is None or after is None:
        known = versions_of(benchmark)
        if len(known) < 2:
            raise InputError(
                "there are no two releases to compare",
                file=benchmark.folder,
                found=", ".join(map(str, known)) or "none",
                do="name two of original, recomputed, physician, final, a release, or a table of labels",
            )
        before, after = str(known[-2]), str(known[-1])
    limit = settings.flag_rel_err
    sides = [_side(benchmark, side) for side in (before, after)]
    diff = compare(sides[0], sides[1], categories=benchmark.categories, limit=limit)
    if csv is not None:
        with atomic_path(csv) as temporary:
            diff.frame.write_csv(temporary)
    return {
        "verb": "steward diff",
        "workspace": str(workspace),
        "benchmark": benchmark.name,
        "before": {"name": before, "rows": diff.before},
        "after": {"name": after, "rows": diff.after},
        "limit": limit,
        "grade": diff.grade,
        "counts": diff.counts(),
        "words": diff.words(),
        "by_stratum": diff.by_stratum().to_dicts(),
        "by_why": diff.by_why().to_dicts(),
        "changes": diff.frame.to_dicts(),
        "csv": str(csv) if csv else None,
    }


def _side(benchmark: Benchmark, name: str) -> pl.DataFrame:
    """Return the labels that a name stands for: a role, a release, or a table."""
    from stewardship.history.log import ROLES
    from stewardship.versions.recipes import role_rows, table_rows
    from stewardship.versions.releases import Release

    role = next((role for role in ROLES if role == name and role != "audit"), None)
    if role is not None:
        return role_rows(benchmark, role)
    if name.removeprefix("v").replace(".", "").isdigit():
        return Release.open(benchmark, name).labels
    if (file := Path(name)).is_file():
        return table_rows(file, categories=benchmark.categories)
    raise UsageError(
        "nothing to compare goes by this name",
        found=name,
        expected="original, recomputed, physician, final, a release as 1.0.0, or a table of labels",
    )


def history_job(workspace: Path, name: str | None, uid: str | None) -> dict[str, Any]:
    """Return the history of one row, or all batches, as ``--json`` prints it.

    Raises:
        InputError: no such benchmark or row; the history was altered, and at which line.
    """
    import polars as pl

    from stewardship.benchmark.folder import Benchmark

    benchmark = Benchmark.open(workspace, name)
    history = benchmark.history
    batches = history.batches()
    payload: dict[str, Any] = {
        "verb": "steward history",
        "workspace": str(workspace),
        "benchmark": benchmark.name,
        "events": len(history.events),
        "chain": history.chain,
    }
    if uid is None:
        fields = ("name", "events", "roles", "statuses", "by", "at", "reverts", "holds")
        return {**payload, "batches": [{field: getattr(one, field) for field in fields} for one in batches]}
    rows = benchmark.items.filter(pl.col("uid") == uid)
    if not rows.height:
        raise InputError(
            "no such row in the benchmark", file=benchmark.folder, found=uid, expected="a key of its first table"
        )
    taken = {one.reverts: one.name for one in batches if one.reverts and one.holds}
    item = rows.row(0, named=True)
    return {
        **payload,
        "uid": uid,
        "row": {role: item.get(role) for role in ("stratum", "stratum_id", "category", "output_type", "question")},
        "holds": _holding(history.row(uid), taken),
        "history": [{**event.model_dump(), "taken_back_by": taken.get(event.batch)} for event in history.row(uid)],
    }


def _holding(events: Sequence[Event], taken: dict[str, str]) -> dict[str, str | None]:
    """Return the label of each role that holds."""
    standing = (event for event in events if event.batch not in taken and event.status != "reverted")
    return {event.role: event.value if event.role != "audit" else event.status for event in standing}
