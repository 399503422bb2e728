"""The workspace: one folder (mode 0700) that holds the warehouse, the graph, the datasets and the runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ground.errors import InputError
from ground.settings import Settings, read_settings
from ground.storage.files import keep_private, private_directory
from ground.storage.own_rules import OwnRules

__all__ = ["Workspace"]


@dataclass(frozen=True)
class Workspace:
    """Paths of a workspace (docs/definitions.md#workspace) and the settings that hold in it."""

    root: Path
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def create(cls, root: Path) -> Workspace:
        """Open a workspace, creating its folder where needed."""
        keep_private(private_directory(root))
        return cls(root, read_settings(root / "ontoground.toml"))

    @classmethod
    def existing(cls, root: Path) -> Workspace:
        """Open a workspace that must be there.

        Raises:
            InputError: the folder or its warehouse is missing.
        """
        workspace = cls(root, read_settings(root / "ontoground.toml"))
        if not workspace.warehouse.is_file():
            raise InputError(
                "this workspace has no warehouse yet",
                file=workspace.warehouse,
                do="load data first, for example `ontoground load mimic DIR`, or try `ontoground demo`",
            )
        return workspace

    @property
    def warehouse(self) -> Path:
        """The DuckDB file."""
        return self.root / "warehouse.duckdb"

    @property
    def graph(self) -> Path:
        """The folder of graph arrays."""
        return self.root / "graph"

    @cached_property
    def rules(self) -> OwnRules:
        """The user's own rules, as they were when they were first asked for.

        Raises:
            InputError: a file of the folder ``rules`` is none of a table that can be added to.
        """
        return OwnRules.read(self.root / "rules")

    def dataset(self, name: str) -> Path:
        """Return the folder of one dataset: medieval, medhal or medval."""
        return self.root / "datasets" / name
