"""What a folder of ``benchmarks.run`` has measured so far: one file a step or stage, written when it has ended.

A run that was stopped, or one that measured some steps only, goes on where it ended: nothing kept is measured again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.measures import Check, Measure, Result
from ground.errors import UsageError
from ground.storage.files import private_directory, write_text

__all__ = ["Kept"]

Settings = Mapping[str, object]


@dataclass(frozen=True)
class Kept:
    """The measures below a folder; all of them are made with the same settings."""

    folder: Path

    @classmethod
    def open(cls, folder: Path, settings: Settings) -> Kept:
        """Open the measures of a folder; where there are none, it must be empty or new.

        Raises:
            UsageError: it holds something else, or what was measured with other settings.
        """
        kept = cls(folder / "measured")
        there = kept._path("settings")
        if not there.exists():
            if folder.exists() and any(folder.iterdir()):
                raise UsageError("the folder is not empty", found=str(folder), expected="empty, or one of this program")
            private_directory(folder)
            private_directory(kept.folder)
            write_text(there, json.dumps(settings, indent=1) + "\n")
        elif (before := json.loads(there.read_text(encoding="utf-8"))) != settings:
            raise UsageError("the folder holds measures of other settings", found=str(settings), expected=str(before))
        return kept

    def _path(self, name: str) -> Path:
        return self.folder / f"{name.replace(' ', '-')}.json"

    def get(self, name: str) -> Result | None:
        """Return what was measured under a name; None where it was not, or failed."""
        path = self._path(name)
        if not path.exists():
            return None
        result = _result(json.loads(path.read_text(encoding="utf-8")))
        return None if result.ours.failed else result

    def put(self, name: str, result: Result) -> Result:
        """Keep a measure, and return it."""
        write_text(self._path(name), json.dumps(asdict(result), indent=1) + "\n")
        return result

    def results(self, names: Sequence[str]) -> list[Result]:
        """Return what was measured of these, in their order; those that failed too."""
        paths = [self._path(name) for name in names]
        return [_result(json.loads(path.read_text(encoding="utf-8"))) for path in paths if path.exists()]


def _result(saved: Mapping[str, Any]) -> Result:
    measures = [Measure(**fields) for fields in saved["measures"]]
    return Result(
        saved["stage"], measures, [Check(**fields) for fields in saved["checks"]], saved["remark"], saved["kind"]
    )
