"""Manifests for invented dataset folders, as builders write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ground.flow.manifest import LicenceTier, manifest_of, to_json
from ground.storage.files import sha256_of

__all__ = ["write_manifest"]


def write_manifest(folder: Path, dataset: str, tier: LicenceTier = "open", **more: Any) -> Path:
    """Write the manifest of a folder whose Parquet files are there, and return its path; ``more`` is added to it."""
    files = {file.relative_to(folder).as_posix(): sha256_of(file) for file in sorted(folder.rglob("*.parquet"))}
    kept = {"files": files, "rows": 2}
    made = manifest_of(dataset, inputs=[], settings={}, seed=1, kept=kept, dropped={}, tier=tier)
    file = folder / "manifest.json"
    file.write_text(to_json(made | more), encoding="utf-8")
    return file
