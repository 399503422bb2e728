"""Releases of labels: frozen tables with a version, made from the history by a recipe that is written down.

``{benchmark}/releases/X.Y.Z/`` holds ``labels.parquet``, ``labels.csv`` (the benchmark's own columns, without notes),
``manifest.json``, ``README.md`` and ``SHA256SUMS``. Each names the hash of the release before it, and how much of the
history it was made of, so that what was altered later is found. `stewardship.versions.releasing` makes them.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ground.contracts.grading import Reference, output_type_of
from ground.contracts.labels import parse_label
from ground.errors import InputError, UsageError
from ground.storage.files import sha256_of
from stewardship.benchmark.folder import Benchmark
from stewardship.versions.diffs import Grade
from stewardship.versions.recipes import Recipe, label_rows

__all__ = [
    "FOLDER",
    "Release",
    "Version",
    "check_history",
    "check_labels",
    "check_previous",
    "labels_sha256",
    "versions_of",
]

FOLDER = "releases"
PARQUET, CSV, MANIFEST, CARD, SUMS = "labels.parquet", "labels.csv", "manifest.json", "README.md", "SHA256SUMS"


class Version(NamedTuple):
    """A semantic version."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read ``1.2.3``.

        Raises:
            UsageError: it is no version.
        """
        match = re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", text.removeprefix("v"))
        if match is None:
            raise UsageError(
                "this is not the version of a release", found=text, expected="three numbers, such as 1.0.0"
            )
        return cls(*map(int, match.groups()))

    def after(self, grade: Grade) -> Version:
        """Return the next version where what changed is of a grade."""
        if grade == "major":
            return Version(self.major + 1, 0, 0)
        return Version(self.major, self.minor + 1, 0) if grade == "minor" else self._replace(patch=self.patch + 1)


@dataclass(frozen=True)
class Release:
    """A frozen release.

    Attributes:
        folder: where it lies.
        labels: *shape* (n, 11), text, columns `stewardship.versions.diffs.COLUMNS`, in the benchmark's order.
    """

    folder: Path
    version: Version
    manifest: dict[str, Any]
    labels: pl.DataFrame

    @property
    def sha256(self) -> str:
        """SHA-256 of ``SHA256SUMS``, which stands for every file of the release."""
        return sha256_of(self.folder / SUMS)

    @classmethod
    def open(cls, benchmark: Benchmark, version: Version | str | None = None) -> Release:
        """Open a release, the newest where none is named, and check each file against its hash.

        Raises:
            InputError: there is none, or one of its files was altered.
        """
        known = versions_of(benchmark)
        wanted = Version.parse(version) if isinstance(version, str) else version
        if not known or (wanted is not None and wanted not in known):
            raise InputError(
                "no such release" if known else "there is no release yet",
                file=benchmark.folder / FOLDER,
                found=str(wanted) if wanted else None,
                expected=", ".join(map(str, known)) or None,
                do="make one with `ontoground steward release`",
            )
        chosen = wanted or known[-1]
        folder = benchmark.folder / FOLDER / str(chosen)
        _check_sums(folder)
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return cls(folder, chosen, manifest, pl.read_parquet(folder / PARQUET, glob=False))

    def references(self) -> dict[str, Reference]:
        """Return each row's label with its limits, to grade against, by uid."""
        names = tuple(self.manifest["categories"])
        return {
            row["uid"]: Reference(
                parse_label(row["label"], categories=names),
                parse_label(row["lower"], categories=names),
                parse_label(row["upper"], categories=names),
                output_type_of(row["output_type"]),
            )
            for row in self.labels.iter_rows(named=True)
        }


def versions_of(benchmark: Benchmark) -> list[Version]:
    """Return the versions that were released, oldest first."""
    folders = (benchmark.folder / FOLDER).glob(f"*/{SUMS}")
    return sorted(Version.parse(file.parent.name) for file in folders if not file.parent.name.startswith("."))


def check_history(benchmark: Benchmark, release: Release) -> None:
    """Hold the history against the one that a release was made of.

    Raises:
        InputError: it says something else, or less.
    """
    of = release.manifest["history"]
    history = benchmark.history
    if len(history.events) < of["events"] or history.digest(of["events"]) != of["sha256"]:
        raise InputError(
            f"the history is not the one that release {release.version} was made of",
            file=history.file,
            expected=f"the same first {of['events']:,} events",
            do="restore the history",
        )


def check_labels(benchmark: Benchmark, release: Release) -> None:
    """Make the labels again from the history as it was, and hold the release against them.

    Raises:
        InputError: as `check_history`; or they are others.
    """
    check_history(benchmark, release)
    events = benchmark.history.as_of(release.manifest["history"]["events"])
    again = label_rows(benchmark, Recipe(**release.manifest["recipe"]), events)
    if not again.equals(release.labels):
        raise InputError(
            f"the labels of release {release.version} are not those that the history gives",
            file=release.folder / PARQUET,
            found=labels_sha256(release.labels),
            expected=labels_sha256(again),
        )


def check_previous(benchmark: Benchmark, release: Release) -> None:
    """Hold the release before this one against the hash that this one has of it.

    Raises:
        InputError: it is missing, or it is another one.
    """
    if (previous := release.manifest["previous"]) is None:
        return
    sums = benchmark.folder / FOLDER / previous["version"] / SUMS
    sha256 = sha256_of(sums) if sums.is_file() else "no release"
    if sha256 != previous["sha256"]:
        raise InputError(
            f"release {previous['version']} is not the one that {release.version} came after",
            file=sums,
            found=sha256,
            expected=previous["sha256"],
            do="restore the folder of the release",
        )


def labels_sha256(frame: pl.DataFrame) -> str:
    """Return a SHA-256 of what the labels are, whatever software writes them."""
    digest = hashlib.sha256()
    for row in frame.select("uid", "kind", "label", "lower", "upper", "output_type").sort("uid").iter_rows():
        digest.update(json.dumps(row).encode() + b"\n")
    return digest.hexdigest()


def _check_sums(folder: Path) -> None:
    """Hold each file of a release against its hash."""
    lines = (folder / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    expected = {name: sha256 for sha256, _, name in (line.partition("  ") for line in lines)}
    if missing := {PARQUET, CSV, MANIFEST, CARD} - set(expected):
        raise InputError("a release's list of hashes was altered", file=folder / SUMS, found=f"no {min(missing)}")
    for name, sha256 in expected.items():
        file = folder / name
        actual = sha256_of(file) if file.is_file() else "no file"
        if actual != sha256:
            raise InputError(
                "a file of a frozen release was altered",
                file=file,
                found=actual,
                expected=sha256,
                do="restore the file, or remove the release's folder and make it again",
            )
