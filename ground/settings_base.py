"""What every table of settings is: frozen, typed, and closed to unknown keys."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Section"]


class Section(BaseModel):
    """A table of settings: frozen, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")
