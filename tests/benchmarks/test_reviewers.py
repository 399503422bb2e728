"""The benchmark of readers who save at once loses nothing and says so."""

from __future__ import annotations

from pathlib import Path

from benchmarks.reviewers import measured
from ground.storage.files import private_directory


def test_what_readers_save_at_once_is_kept(tmp_path: Path) -> None:
    found = measured(private_directory(tmp_path / "work"), readers=5, rows=3, pause=0)
    assert found["saves"] == found["kept"] == 15
