"""A frozen dataclass that JSON can hold: what a stage made, what a check found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["JsonRecord"]


@dataclass(frozen=True)
class JsonRecord:
    """Fields that ``--json`` prints under their names."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)
