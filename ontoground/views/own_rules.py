"""Which tables of the package a workspace adds rows to, with what."""

from __future__ import annotations

from typing import Any

from ground import ROOT
from ground.errors import UsageError
from ground.storage.own_rules import EXTENDABLE
from ground.storage.tables import read_table
from ground.storage.workspace import Workspace
from ontoground.flow.stages import check_rules

__all__ = ["own_rules", "package_table"]


def own_rules(workspace: Workspace, table: str | None = None) -> dict[str, Any]:
    """Return the tables that can be added to, or one of them, with the workspace's own rows (docs/schemas/rules.json).

    Raises:
        InputError: an own row cannot be read.
        UsageError: no such table can be added to.
    """
    check_rules(workspace.rules)
    tables = [package_table(name) for name in ([table] if table else EXTENDABLE)]
    for described in tables:
        rows = workspace.rules.rows(described["table"], tuple(described["columns"]))
        described |= {"own_rows": len(rows), "rows": [list(row.values()) for row in rows]}
    return {"folder": str(workspace.rules.folder), "tables": tables}


def package_table(name: str) -> dict[str, Any]:
    """Return what the package says of a table that can be added to, with rows of it as examples.

    Raises:
        UsageError: no such table can be added to.
    """
    if name not in EXTENDABLE:
        raise UsageError("this table takes no rows of yours", found=name, expected=", ".join(EXTENDABLE))
    extendable = EXTENDABLE[name]
    lines = (ROOT / extendable.file).read_text(encoding="utf-8").splitlines()
    about = [line for line in lines if line.startswith("#")]
    columns = tuple(lines[len(about)].split("\t"))
    rows = [list(row.values()) for row in read_table(ROOT / extendable.file, columns)]
    return {
        "table": name,
        "what": extendable.what,
        "stage": extendable.stage,
        "about": about,
        "columns": list(columns),
        "examples": [rows[len(rows) * quarter // 4] for quarter in (1, 2, 3)],
        "package_rows": len(rows),
    }
