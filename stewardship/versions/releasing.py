"""Making releases: which version the labels get, and the folder that is frozen.

Versions count up by what changed (`stewardship.versions.diffs`): rows or what they ask for, 1.0.0 to 2.0.0; labels, to
1.1.0; spelling, limits or reasons alone, to 1.0.1. The same history and recipe give the same bytes; there is no time in
them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from ground.errors import UsageError
from ground.flow.manifest import to_json, versions
from ground.markdown import harmless
from ground.spreadsheet import write_csv
from ground.storage.files import atomic_directory, sha256_of
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import layouts
from stewardship.versions.cards import card
from stewardship.versions.diffs import Diff, Grade, compare
from stewardship.versions.recipes import Recipe, caveats_of, label_rows
from stewardship.versions.releases import (
    CARD,
    CSV,
    FOLDER,
    MANIFEST,
    PARQUET,
    SUMS,
    Release,
    Version,
    check_history,
    check_previous,
    labels_sha256,
    versions_of,
)

__all__ = ["Draft", "draft_release", "make_release", "proposed"]

GRADES: tuple[Grade, ...] = ("major", "minor", "patch")
CSV_ROLES = ("uid", "stratum_id", "stratum", "category", "output_type", "label", "lower", "upper")


@dataclass(frozen=True)
class Draft:
    """What a release would be, or is.

    Attributes:
        frame: its labels, as `Release.labels`.
        grade: what changed since the release before it; None where there is none before, or nothing changed.
        diff: what changed; None where there is none before.
        folder: where it lies; None where it was not written.
        new: whether it is another one than those that are there.
    """

    version: Version
    frame: pl.DataFrame
    grade: Grade | None
    before: Version | None
    diff: Diff | None
    folder: Path | None
    new: bool
    caveats: tuple[str, ...] = ()


def proposed(
    frame: pl.DataFrame, before: Release | None, *, categories: Collection[str] = (), limit: float = 0.05
) -> tuple[Version, Grade | None, Diff | None]:
    """Return the version that labels would get, what changed, and how far it goes.

    Args:
        frame: the labels, as `label_rows`.
        before: the newest release; the first one is 1.0.0.
        limit: relative error above which two labels differ.
    """
    if before is None:
        return Version(1, 0, 0), None, None
    diff = compare(before.labels, frame, categories=categories, limit=limit)
    # Another source, reason or order is no change of a row, and other bytes all the same.
    grade = diff.grade or (None if frame.equals(before.labels) else "patch")
    return before.version.after(grade) if grade else before.version, grade, diff


def draft_release(
    benchmark: Benchmark, recipe: Recipe, version: Version | None = None, *, limit: float = 0.05
) -> Draft:
    """Return what a release would be, without writing it.

    Raises:
        InputError: as `label_rows`; a release before it was altered, or the history is not the one that it was made of.
        UsageError: the version does not fit what changed, or names a release that holds other labels.
    """
    known = versions_of(benchmark)
    again = version in known
    earlier = [item for item in known if version is None or not again or item < version]
    before = Release.open(benchmark, earlier[-1]) if earlier else None
    if known:
        newest = Release.open(benchmark, known[-1])
        check_history(benchmark, newest)
        check_previous(benchmark, newest)
    frame = label_rows(benchmark, recipe)
    fit, grade, diff = proposed(frame, before, categories=benchmark.categories, limit=limit)
    if again and version is not None:
        if not Release.open(benchmark, version).labels.equals(frame):
            other, _, _ = proposed(frame, newest, categories=benchmark.categories, limit=limit)
            raise UsageError("this release is frozen and has other labels", found=str(version), expected=str(other))
        fit = version
    elif version is not None:
        _check_version(version, before, grade)
        fit = version
    caveats = tuple(caveats_of(benchmark, frame, recipe))
    return Draft(fit, frame, grade, before.version if before else None, diff, None, fit not in known, caveats)


def _check_version(version: Version, before: Release | None, grade: Grade | None) -> None:
    if before is None:
        allowed = [Version(1, 0, 0)]
    elif grade is None:
        raise UsageError("nothing changed since the newest release", found=str(version), expected=str(before.version))
    else:
        # More than what changed calls for can be declared, never less.
        allowed = [before.version.after(item) for item in GRADES[: GRADES.index(grade) + 1]]
    if version not in allowed:
        raise UsageError(
            f"the version does not fit what changed ({grade})" if grade else "the first release is 1.0.0",
            found=str(version),
            expected=" or ".join(str(item) for item in reversed(allowed)),
        )


def make_release(
    benchmark: Benchmark,
    recipe: Recipe,
    version: Version | None = None,
    *,
    licence: str | None = None,
    caveats: Sequence[str] = (),
    limit: float = 0.05,
) -> Draft:
    """Make a release and return it; one that is there already with the same labels is left as it is.

    Args:
        version: of the release; the one proposed where left out.
        licence: of the labels, in words; that of the release before where left out.
        limit: relative error above which two labels differ, for what the card says of the changes.

    Raises:
        InputError, UsageError: as `draft_release`.
        UsageError: it is there already with another licence, or without one of the caveats.
    """
    draft = draft_release(benchmark, recipe, version, limit=limit)
    folder = benchmark.folder / FOLDER / str(draft.version)
    if not draft.new:
        return replace(draft, folder=folder, caveats=_frozen(Release.open(benchmark, draft.version), licence, caveats))
    before = Release.open(benchmark, draft.before) if draft.before else None
    stated = before.manifest["licence"] if before and licence is None else licence or ""
    lines = (*draft.caveats, *caveats)
    with atomic_directory(folder) as part:
        draft.frame.write_parquet(part / PARQUET)
        write_csv(_own_columns(benchmark, draft.frame), part / CSV)
        manifest = _manifest(benchmark, draft, recipe, before, part, licence=stated, caveats=lines)
        (part / MANIFEST).write_text(to_json(manifest), encoding="utf-8")
        (part / CARD).write_text(harmless(card(manifest, draft.diff)), encoding="utf-8")
        sums = "".join(f"{sha256_of(part / name)}  {name}\n" for name in (PARQUET, CSV, MANIFEST, CARD))
        (part / SUMS).write_text(sums, encoding="ascii")
        for file in part.iterdir():
            file.chmod(0o400)
    return replace(draft, folder=folder, caveats=lines)


def _frozen(release: Release, licence: str | None, caveats: Sequence[str]) -> tuple[str, ...]:
    """Return the caveats of a release that is there already; refuse to seem to give it others, or another licence."""
    stated, held = release.manifest["licence"], tuple(release.manifest["caveats"])
    if licence not in (None, stated) or set(caveats) - set(held):
        raise UsageError(
            "a frozen release keeps its licence and its caveats",
            file=release.folder,
            found=f"licence {stated}" if stated else "no licence",
            expected="the same labels under what they were released with",
            do="give it with the next release; one that nobody has yet is made again where its folder is removed",
        )
    return held


def _manifest(
    benchmark: Benchmark,
    draft: Draft,
    recipe: Recipe,
    before: Release | None,
    folder: Path,
    *,
    licence: str,
    caveats: Sequence[str],
) -> dict[str, Any]:
    history, frame = benchmark.history, draft.frame
    return {
        "benchmark": benchmark.name,
        "version": str(draft.version),
        "previous": {"version": str(before.version), "sha256": before.sha256} if before else None,
        "change": draft.grade,
        "changes": draft.diff.counts() if draft.diff else {},
        "recipe": asdict(recipe),
        "inputs": (benchmark.record or {}).get("files", []),
        "history": {"events": len(history.events), "sha256": history.digest()},
        "rows": {
            "benchmark": benchmark.items.height,
            "released": frame.height,
            "reviewed": len(history.labels("physician")),
            "by_kind": _count(frame, "kind"),
            "by_source": _count(frame, "source"),
            "by_output_type": _count(frame, "output_type"),
            "by_source_and_kind": frame.group_by("source", "kind").len("rows").sort("source", "kind").to_dicts(),
        },
        "labels_sha256": labels_sha256(frame),
        "files": {name: sha256_of(folder / name) for name in (PARQUET, CSV)},
        "categories": list(benchmark.categories),
        "licence": licence,
        "licence_tier": benchmark.licence_tier,
        "caveats": list(caveats),
        "software": versions(("ontoground", "polars")),
    }


def _count(frame: pl.DataFrame, column: str) -> dict[str, int]:
    return dict(frame.select(pl.col(column).fill_null("none")).group_by(column).len().sort(column).iter_rows())


def _own_columns(benchmark: Benchmark, frame: pl.DataFrame) -> pl.DataFrame:
    """Return labels and limits under the names that the benchmark's first table has; nothing of the notes is in it."""
    columns = layouts().get(((benchmark.record or {}).get("files") or [{}])[0].get("layout"), {})
    more = [name for name in ("stratum_id", "category") if name in benchmark.items.columns]
    table = frame.join(benchmark.items.select("uid", *more), on="uid", how="left", maintain_order="left")
    roles = [role for role in CSV_ROLES if role in table.columns and not table[role].is_null().all()]
    return table.select(pl.col(role).alias(columns.get(role, role)) for role in roles)
