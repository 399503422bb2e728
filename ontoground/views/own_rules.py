"""Which tables of the package a workspace adds rows to, with what."""

from __future__ import annotations

from typing import Any

from ground import ROOT
from ground.errors import UsageError
from ground.storage.own_rules import EXTENDABLE
from ground.storage.tables import read_table
from ground.storage.workspace import Workspace
from ontoground.flow.stages import check_rules

__all__ = ["own_rules"]


def own_rules(workspace: Workspace, table: str | None = None) -> dict[str, Any]:
    """Return the tables that can be added to, or one of them, with the workspace's own rows (docs/schemas/rules.json).

    Raises:
        InputError: an own row cannot be read.
        UsageError: no such table can be added to.
    """
    if table is not None and table not in EXTENDABLE:
        raise UsageError("no such table takes own rows", found=table, expected=", ".join(EXTENDABLE))
    check_rules(workspace.rules)
    named = [table] if table else [*EXTENDABLE]
    return {"folder": str(workspace.rules.folder), "tables": [_table(workspace, name) for name in named]}


def _table(workspace: Workspace, name: str) -> dict[str, Any]:
    one = EXTENDABLE[name]
    lines = (ROOT / one.file).read_text(encoding="utf-8").splitlines()
    about = [line for line in lines if line.startswith("#")]
    columns = tuple(lines[len(about)].split("\t"))
    own = workspace.rules.rows(name, columns)
    return {
        "table": name,
        "what": one.what,
        "stage": one.stage,
        "about": about,
        "columns": list(columns),
        "package_rows": len(read_table(ROOT / one.file, columns)),
        "own_rows": len(own),
        "rows": [list(row.values()) for row in own],
    }
