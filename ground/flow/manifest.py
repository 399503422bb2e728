"""The manifest of a dataset folder: what it was made from, with what settings and software, what was left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any, Literal

import duckdb

from ground import __version__
from ground.errors import InputError
from ground.progress import warn
from ground.storage.files import sha256_of

__all__ = [
    "LicenceTier",
    "data_files",
    "differences",
    "dropped",
    "inputs",
    "is_open_release",
    "licence_tier",
    "manifest_of",
    "own_licence",
    "read_manifest",
    "releases",
    "replacing",
    "state_licence",
    "tier_in",
    "tier_of",
    "to_json",
    "versions",
]

LicenceTier = Literal["open", "credentialed"]

# Software whose version can change a byte of the data files.
SOFTWARE = ("duckdb", "numpy", "polars", "pyarrow", "numba")
PARTS = ("dataset", "inputs", "settings", "seed", "licence_tier", "ontoground", "software")
"""Parts of a manifest that say what a build was made of."""
OPEN_RELEASE = "openworld"
STATED_OPEN = ", open by the settings: "
OPEN_WORLD_LICENCE = "the embedded open world: invented patients, free to share"


def to_json(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Write JSON with sorted keys, so that equal content is equal text."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str) + "\n"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a dataset folder; empty if the folder has none.

    Raises:
        InputError: it is no JSON.
    """
    file = folder / "manifest.json"
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError("the manifest is no JSON", file=file) from error
    return content if isinstance(content, dict) else {}


def tier_in(manifest: Mapping[str, Any]) -> LicenceTier:
    """Return ``open`` if an unedited manifest says so, else ``credentialed``."""
    whole = manifest.get("provenance_sha256") == _provenance(manifest)
    return "open" if whole and manifest.get("licence_tier") == "open" and data_files(manifest) else "credentialed"


def tier_of(folder: Path) -> LicenceTier:
    """Return ``open`` if a dataset folder is as it was built from open sources, else ``credentialed``.

    A folder without a manifest, a manifest that was edited, and data files other than those that it names are of
    unknown provenance.

    Raises:
        InputError: the manifest is no JSON.
    """
    manifest = read_manifest(folder)
    files = data_files(manifest)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}
    if tier_in(manifest) != "open" or there != set(files):
        return "credentialed"
    return "open" if all(sha256_of(folder / name) == files[name] for name in there) else "credentialed"


def data_files(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each data file of a dataset by its name, as its manifest has them."""
    rows = manifest.get("rows")
    files = rows.get("files") if isinstance(rows, dict) else None
    return files if isinstance(files, dict) else {}


def _provenance(manifest: Mapping[str, Any]) -> str:
    parts = {name: manifest.get(name) for name in ("dataset", "inputs", "licence_tier")}
    return hashlib.sha256(to_json({**parts, "files": data_files(manifest)}).encode()).hexdigest()


def inputs(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return the loaded files with size, SHA-256, rows and release, sorted."""
    rows = connection.execute(
        "select source, parse_filename(file), bytes, sha256, rows_read, rows_rejected, release "
        "from ground.load order by source, file"
    ).fetchall()
    names = ("source", "file", "bytes", "sha256", "rows_read", "rows_rejected", "release")
    return [dict(zip(names, row, strict=True)) for row in rows]


def releases(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Return source and release of what is loaded, sorted; a release's name says that it is a subset, and why."""
    return connection.execute(
        "select distinct source, release from ground.load where release is not null order by all"
    ).fetchall()


def dropped(connection: duckdb.DuckDBPyConnection, stage: str) -> dict[str, int]:
    """Return what a stage left out, by reason."""
    rows = connection.execute(
        "select reason, sum(n)::bigint from ground.drop where stage = ? group by reason order by reason", [stage]
    ).fetchall()
    return {str(reason): int(n) for reason, n in rows}


def licence_tier(connection: duckdb.DuckDBPyConnection) -> LicenceTier:
    """Return ``open`` where every source is the embedded open world or open as the settings say, else ``credentialed``.

    Whatever holds MIMIC-IV or UMLS content stays under PhysioNet's and NLM's agreements, derived rows included. Files
    of ontologies state their release themselves, and not their licence.
    """
    row = connection.execute(
        "select count(*), count(*) filter (where contains(release, $stated) or (source <> 'ontology' "
        "and starts_with(lower(release), $world))) from ground.load",
        {"stated": STATED_OPEN, "world": OPEN_RELEASE},
    ).fetchone()
    return "open" if row and row[0] == row[1] > 0 else "credentialed"


def own_licence(connection: duckdb.DuckDBPyConnection, otherwise: str) -> str:
    """Return the licence of what is made of a workspace's own records, in words; ``otherwise`` where it is not open."""
    if licence_tier(connection) != "open":
        return otherwise
    stated = sorted({name.partition(STATED_OPEN)[2] for _, name in releases(connection) if STATED_OPEN in name})
    return f"open, by the settings: {'; '.join(stated)}" if stated else OPEN_WORLD_LICENCE


def state_licence(connection: duckdb.DuckDBPyConnection, source: str, licence: str | None) -> None:
    """Put the licence that makes a source open, by the settings, into its release's name; None takes it out."""
    connection.execute(
        "update ground.load set release = nullif(split_part(coalesce(release, ''), $mark, 1) || $said, '') "
        "where source = $source",
        {"mark": STATED_OPEN, "said": f"{STATED_OPEN}{licence}" if licence else "", "source": source},
    )


def is_open_release(release: str | None) -> bool:
    """Tell whether a release is the embedded open world; every other one counts as credentialed."""
    return (release or "").lower().startswith(OPEN_RELEASE)


def versions(packages: Iterable[str]) -> dict[str, str | None]:
    """Return the installed version of each package, None where it is not installed."""

    def installed(package: str) -> str | None:
        try:
            return version(package)
        except PackageNotFoundError:
            return None

    return {package: installed(package) for package in packages}


def manifest_of(
    dataset: str,
    *,
    inputs: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
    seed: int,
    kept: Mapping[str, Any],
    dropped: Mapping[str, int],
    tier: LicenceTier,
) -> dict[str, Any]:
    """Return the manifest of a dataset: the same inputs and settings give the same text (there is no time in it).

    Args:
        dataset: medieval, medhal or medval.
        inputs: files that it was made from, each with its size and SHA-256.
        settings: what decides the content.
        seed: of every choice.
        kept: rows, and the SHA-256 of the data files.
        dropped: what was left out, by reason.
        tier: ``open`` or ``credentialed``.
    """
    manifest = {
        "dataset": dataset,
        "ontoground": __version__,
        "inputs": list(inputs),
        "settings": dict(settings),
        "seed": seed,
        "software": {"python": python_version(), **versions(SOFTWARE)},
        "rows": dict(kept),
        "dropped": dict(dropped),
        "licence_tier": tier,
    }
    return {**manifest, "provenance_sha256": _provenance(manifest)}


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any], parts: Sequence[str] = PARTS
) -> list[dict[str, Any]]:
    """Return key, before and after of what two manifests do not both say; null where a side does not say it."""
    old, new = (dict(_flat("", {part: manifest.get(part) for part in parts})) for manifest in (before, after))
    sides = [{"key": key, "before": old.get(key), "after": new.get(key)} for key in sorted(old.keys() | new.keys())]
    return [side for side in sides if side["before"] != side["after"]]


def _flat(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a manifest by dotted key; files of the inputs go by source and name."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}" if key else str(name), inner)
    elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        for entry in value:
            name = "/".join(str(entry[part]) for part in ("source", "file") if part in entry)
            yield from _flat(f"{key}.{name}", {k: v for k, v in entry.items() if k not in ("source", "file")})
    else:
        yield key, value


@contextmanager
def replacing(folder: Path) -> Iterator[None]:
    """Say what the dataset was built with that the block replaces, where that are other settings."""
    try:
        before = read_manifest(folder)
    except InputError:
        before = {}
    yield
    after = read_manifest(folder)
    # A setting that one of two versions did not have is no choice of the user's.
    first, second = (dict(_flat("", {"settings": manifest.get("settings")})) for manifest in (before, after))
    others = [
        other for other in differences(before, after, ("settings",)) if other["key"] in first.keys() & second.keys()
    ]
    if others:
        names = [other["key"].removeprefix("settings.") for other in others]
        values = ["unset" if other["before"] is None else json.dumps(other["before"]) for other in others]
        had = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
        warn(f"{folder} took the place of a dataset of other settings ({had}); another --workspace keeps both")
