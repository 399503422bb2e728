"""What all verbs share: how one is declared, the options that they have in common, and how they open the workspace.

A verb is a function that returns a `Result`. Options that several verbs take are the fields of a frozen dataclass,
declared once: a verb that has a parameter of that class gets an option for each field and is given the object. `--json`
belongs to every verb and is seen by none.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from ground.settings import Settings
    from ground.storage.remote import Place
    from ground.storage.workspace import Workspace

__all__ = [
    "DEFAULT_WORKSPACE",
    "Configured",
    "Force",
    "InWorkspace",
    "Overrides",
    "Result",
    "Sharded",
    "WorkspaceDir",
    "open_workspace",
    "verb",
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


Verb = TypeVar("Verb", bound="Callable[..., Result]")


@dataclass(frozen=True)
class Result:
    """What a verb found.

    Attributes:
        payload: the object that ``--json`` prints.
        paint: shows the payload to a person.
        code: the exit code: 1 where a check found disagreements.
    """

    payload: dict[str, Any]
    paint: Callable[[Console, dict[str, Any]], None]
    code: int = 0


@dataclass(frozen=True, kw_only=True)
class InWorkspace:
    """Options of every verb that reads a workspace."""

    workspace: WorkspaceDir = DEFAULT_WORKSPACE

    def open(self) -> Workspace:
        """Open the workspace; see `open_workspace`."""
        return open_workspace(self.workspace)


@dataclass(frozen=True, kw_only=True)
class Configured(InWorkspace):
    """Options of a verb that reads settings."""

    overrides: Overrides = None

    def open(self, *, create: bool = False, folders: Mapping[str, Place] | None = None) -> Workspace:
        """Open the workspace with its settings; see `open_workspace`."""
        return open_workspace(self.workspace, self.overrides, create=create, folders=folders)


@dataclass(frozen=True, kw_only=True)
class Sharded(InWorkspace):
    """Options of a verb that works in shards."""

    workers: Workers = None
    executor: Executor = None
    address: Address = None
    overrides: Overrides = None

    def open(self, *, create: bool = False, folders: Mapping[str, Place] | None = None) -> Workspace:
        """Open the workspace for stages that work in shards.

        Raises:
            InputError: see `open_workspace`.
            UsageError: a setting is unknown or wrong, an address is given without Ray, or Ray is not installed.
        """
        from ground.flow.executors import check_executor
        from ground.storage.workspace import Workspace

        chosen = {"workers": self.workers, "executor": self.executor, "address": self.address}
        own = [f"run.{name}={value}" for name, value in chosen.items() if value is not None]
        overrides = [*(self.overrides or []), *own]
        opened = open_workspace(self.workspace, overrides, needs_warehouse=not create, folders=folders)
        check_executor(opened.settings.run)
        if create:
            Workspace.create(self.workspace)
        return opened


def verb(app: typer.Typer, short_help: str, *examples: str, name: str | None = None) -> Callable[[Verb], Verb]:
    """Declare a verb: its docstring is its help, its parameters are its options, ``--json`` comes with it.

    Args:
        app: the command line, or a group of it.
        short_help: what the list of verbs says of it.
        examples: command lines that close its help.
        name: where it is not the function's.
    """

    def declare(function: Verb) -> Verb:
        classes, parameters = _flattened(function)

        def run(*, as_json: bool, **given: Any) -> None:
            from ontoground.cli.render import emit

            for parameter, kind in classes.items():
                given[parameter] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            result = function(**given)
            emit(result.payload, lambda out: result.paint(out, result.payload), as_json=as_json)
            if result.code:
                raise typer.Exit(result.code)

        parameters.append(_parameter("as_json", Json, False))
        run.__doc__ = function.__doc__
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        app.command(name=name or function.__name__, short_help=short_help, epilog=example(*examples))(run)
        return function

    return declare


def _flattened(function: Callable[..., Result]) -> tuple[dict[str, type[Any]], list[inspect.Parameter]]:
    """Return the parameters of a verb that are classes of options, and all its options in their order."""
    hints = get_type_hints(function, include_extras=True)
    classes: dict[str, type[Any]] = {}
    found = []
    for parameter in inspect.signature(function).parameters.values():
        kind = hints[parameter.name]
        if not is_dataclass(kind):
            found.append(_parameter(parameter.name, kind, parameter.default))
            continue
        assert isinstance(kind, type)
        classes[parameter.name] = kind
        own = get_type_hints(kind, include_extras=True)
        defaults = {
            one.name: inspect.Parameter.empty if one.default is MISSING else one.default for one in fields(kind)
        }
        found += [_parameter(option, own[option], default) for option, default in defaults.items()]
    return classes, found


def _parameter(name: str, kind: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


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
    """Old way, until all verbs are converted."""
    options = Sharded(workspace=root, overrides=overrides, workers=workers, executor=executor, address=address)  # type: ignore[arg-type]
    return options.open(create=create, folders=folders)
