"""What all verbs share: the options --workspace, --json and --set, and how they open the workspace."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from ground.settings import Settings
    from ground.storage.remote import Place
    from ground.storage.workspace import Workspace

__all__ = [
    "DEFAULT_WORKSPACE",
    "Address",
    "Executor",
    "Force",
    "Json",
    "Overrides",
    "Workers",
    "WorkspaceDir",
    "example",
    "open_to_work",
    "open_workspace",
]

DEFAULT_WORKSPACE = Path("work")

WorkspaceDir = Annotated[
    Path,
    typer.Option(
        "--workspace", envvar="ONTOGROUND_WORKSPACE", metavar="DIR", help="Folder of the warehouse and the datasets."
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on standard output; the rest goes to stderr.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one setting of ontoground.toml, as build.seed=7."),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="N", help="Processes that share the notes; run.workers where left out."),
]
Executor = Annotated[
    Literal["serial", "processes", "ray"] | None,
    typer.Option("--executor", metavar="NAME", help="Where the notes are read: serial, processes or ray."),
]
Address = Annotated[
    str | None,
    typer.Option("--address", metavar="HOST:PORT", help="Ray's address, or auto; it is started here where left out."),
]
Force = Annotated[bool, typer.Option("--force", help="Run the stages again although they are up to date.")]


def example(*lines: str) -> str:
    """Return the closing paragraph of a verb's help, kept as it is by typer's ``\\b`` mark."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def open_workspace(
    root: Path,
    overrides: list[str] | None = None,
    *,
    create: bool = False,
    needs_warehouse: bool = True,
    folders: Mapping[str, Place] | None = None,
) -> Workspace:
    """Open a workspace with its settings, flags over the file; ``folders`` (by source) are to be loaded into it.

    A verb that can do without a warehouse sets ``needs_warehouse`` to False; the folder then need not be there.

    Raises:
        InputError: it must exist and has no warehouse, or one of ``folders`` is not there.
        UsageError: a setting is unknown or wrong.
    """
    from ground.settings import read_settings
    from ground.storage.workspace import Workspace

    # Nothing is created before settings and folders are right: a mistyped one must not leave an empty workspace.
    may_be_new = create or not needs_warehouse
    workspace = Workspace(root, read_settings(root / "ontoground.toml")) if may_be_new else Workspace.existing(root)
    if overrides:
        workspace = Workspace(root, _with_overrides(workspace.settings, overrides))
    if folders:
        from ontoground.flow.pipeline import check_folder

        for source, folder in folders.items():
            check_folder(source, folder, workspace.settings.remote)
    if create:
        Workspace.create(root)
    return workspace


def open_to_work(
    root: Path,
    overrides: list[str] | None,
    workers: int | None,
    executor: str | None,
    address: str | None,
    *,
    create: bool = False,
    folders: Mapping[str, Place] | None = None,
) -> Workspace:
    """Open a workspace for stages that work in shards: as `open_workspace`, with the options that say where.

    Raises:
        InputError: see `open_workspace`.
        UsageError: a setting is unknown or wrong, an address is given without Ray, or Ray is not installed.
    """
    from ground.flow.executors import check_executor
    from ground.storage.workspace import Workspace

    chosen = {"workers": workers, "executor": executor, "address": address}
    own = [f"run.{name}={value}" for name, value in chosen.items() if value is not None]
    opened = open_workspace(root, [*(overrides or []), *own], needs_warehouse=not create, folders=folders)
    check_executor(opened.settings.run)
    if create:
        Workspace.create(root)
    return opened


def _with_overrides(settings: Settings, overrides: list[str]) -> Settings:
    from ground.settings import settings_from

    values: dict[str, Any] = settings.model_dump()
    for override in overrides:
        section, name, value = _parse(override)
        values.setdefault(section, {})[name] = value
    return settings_from(values, "--set")


def _parse(override: str) -> tuple[str, str, Any]:
    from ground.errors import UsageError

    key, equals, text = override.partition("=")
    section, dot, name = key.strip().partition(".")
    if not (equals and dot and section and name):
        raise UsageError("--set does not name a setting", found=override, expected="SECTION.KEY=VALUE, as build.seed=7")
    try:
        return section, name, tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        # A bare word stands for itself, so that the shell needs no second pair of quotes.
        return section, name, text
