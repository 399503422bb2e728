"""What all verbs share: how one is declared, the options that they have in common, and how they open the workspace.

A verb is a function that returns a `Result`. Options that several verbs take are the fields of a frozen dataclass,
declared once: a verb that has a parameter of that class gets an option for each field and is given the object. `--json`
belongs to every verb and is seen by none.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

import typer
from typer import Argument, Option

from ground.errors import InputError
from ontoground.cli.render import Blocks, emit, note, paint

if TYPE_CHECKING:
    from ground.settings import Settings
    from ground.storage.remote import Places
    from ground.storage.workspace import Workspace

__all__ = [
    "DEFAULT_WORKSPACE",
    "WRITTEN",
    "BuiltDataset",
    "Configured",
    "DatasetFolder",
    "Endpoint",
    "EndpointModel",
    "Force",
    "InWorkspace",
    "ModelConfig",
    "Overrides",
    "Paint",
    "Result",
    "Sharded",
    "WorkspaceDir",
    "text_of",
    "verb",
]

DEFAULT_WORKSPACE = Path("work")
_RUNNING: ContextVar[ExitStack | None] = ContextVar("running", default=None)
"""What is closed when the running verb ends; None once a workspace keeps its temporary files there."""

WorkspaceDir = Annotated[
    Path,
    Option(
        "--workspace", envvar="ONTOGROUND_WORKSPACE", metavar="DIR", help="Folder of the warehouse and the datasets."
    ),
]
Json = Annotated[
    bool, Option("--json", help="Print exactly one JSON object on standard output; the rest goes to stderr.")
]
Overrides = Annotated[
    list[str] | None,
    Option("--set", metavar="KEY=VALUE", help="Override one setting of ontoground.toml, as build.seed=7."),
]
Workers = Annotated[
    int | None,
    Option("--workers", min=1, metavar="N", help="Number of parallel workers; default: run.workers."),
]
Executor = Annotated[
    Literal["serial", "processes", "ray"] | None,
    Option("--executor", metavar="NAME", help="Where the notes are read: serial, processes or ray."),
]
Address = Annotated[
    str | None,
    Option("--address", metavar="HOST:PORT", help="Address of Ray, or auto; default: start Ray on this machine."),
]
Endpoint = Annotated[str | None, Option(metavar="URL", help="Ask a language model at this OpenAI-compatible server")]
EndpointModel = Annotated[str | None, Option(metavar="NAME", help="The server's name of that model")]
ModelConfig = Annotated[Path | None, Option(metavar="FILE", help="TOML file with [language_model] settings")]
DatasetFolder = Annotated[Path | None, Option(metavar="DIR", help="Dataset folder; default: the workspace's own")]
BuiltDataset = Annotated[Path, Argument(metavar="DATASET_DIR", help="A dataset that was built")]
WRITTEN = "written"
"""Marks an option that names a file or folder to write to."""
Force = Annotated[bool, Option("--force", help="Run the stages again even if they are up to date.")]


Paint = Callable[[dict[str, Any]], Blocks]
"""Returns what a person is shown of a payload."""
Verb = TypeVar("Verb", bound="Callable[..., Result]")


@dataclass(frozen=True)
class Result:
    """The result of a verb.

    Attributes:
        payload: the object that ``--json`` prints.
        blocks: returns what a person is shown of the payload.
        code: the exit code: 1 where a check found disagreements.
    """

    payload: dict[str, Any]
    blocks: Paint
    code: int = 0


@dataclass(frozen=True, kw_only=True)
class InWorkspace:
    """Options of every verb that reads a workspace."""

    workspace: WorkspaceDir = DEFAULT_WORKSPACE

    def __post_init__(self) -> None:
        """Keep a workspace that is there to its owner, whatever the verb."""
        from ground.storage.outputs import is_workspace

        if is_workspace(self.workspace):
            self._enter()

    def _enter(self) -> None:
        """Close the workspace to other users, and keep temporary files in it until the verb ends."""
        from ground.storage.files import keep_private
        from ground.storage.scratch import temporary_files_in

        if self.workspace.is_dir() and keep_private(self.workspace):
            note(f"{self.workspace} could be opened by other users; now only its owner can")
        running = _RUNNING.get()
        if running is not None and self.workspace.is_dir():
            _RUNNING.set(None)  # once
            running.enter_context(temporary_files_in(self.workspace))

    @property
    def flags(self) -> list[str]:
        """The settings that these options change, as ``SECTION.KEY=VALUE``."""
        return []

    def check_settings(self, settings: Settings) -> None:
        """Refuse settings with which this verb cannot work."""

    def open(
        self, *, create: bool = False, needs_warehouse: bool = True, folders: Mapping[str, Places] | None = None
    ) -> Workspace:
        """Open the workspace with its settings, flags over the file.

        Args:
            create: make the workspace where it is not there.
            needs_warehouse: False where the verb can do without one; the folder then need not be there.
            folders: by source, what is to be loaded.

        Raises:
            InputError: there is no warehouse, or one of the folders is not there.
            UsageError: a setting is unknown or wrong.
        """
        from ground.settings import read_settings
        from ground.storage.files import private_directory
        from ground.storage.workspace import Workspace

        # Nothing is created before settings and folders are right: a mistyped one must not leave an empty workspace.
        if create or not needs_warehouse:
            opened = Workspace(self.workspace, read_settings(self.workspace / "ontoground.toml"))
        else:
            opened = Workspace.existing(self.workspace)
        if self.flags:
            opened = Workspace(self.workspace, _with_overrides(opened.settings, self.flags))
        for source, folder in (folders or {}).items():
            from ontoground.flow.pipeline import check_folder

            check_folder(source, folder, opened.settings.remote)
        self.check_settings(opened.settings)
        if create:
            private_directory(self.workspace)
            self._enter()
            Workspace.create(self.workspace)
        return opened

    def result(self, verb: str, blocks: Paint, code: int = 0, /, **results: Any) -> Result:
        """Return the result of a verb; its payload begins with the verb and the workspace."""
        return Result({"verb": verb, "workspace": str(self.workspace), **results}, blocks, code)


@dataclass(frozen=True, kw_only=True)
class Configured(InWorkspace):
    """Options of a verb that reads settings."""

    overrides: Overrides = None

    @property
    def flags(self) -> list[str]:
        """The settings of ``--set``."""
        return self.overrides or []


@dataclass(frozen=True, kw_only=True)
class Sharded(Configured):
    """Options of a verb that works in shards."""

    workers: Workers = None
    executor: Executor = None
    address: Address = None

    @property
    def flags(self) -> list[str]:
        """The settings of ``--set``, and of the options of the work."""
        own = {"workers": self.workers, "executor": self.executor, "address": self.address}
        return super().flags + [f"run.{name}={value}" for name, value in own.items() if value is not None]

    def check_settings(self, settings: Settings) -> None:
        """Refuse an address without Ray, and Ray where it is not installed."""
        from ground.flow.executors import check_executor

        check_executor(settings.run)


def verb(app: typer.Typer, short_help: str, *examples: str) -> Callable[[Verb], Verb]:
    """Declare a verb: its docstring is its help, its parameters are its options, ``--json`` comes with it.

    Args:
        app: the command line, or a group of it.
        short_help: what the list of verbs says of it.
        examples: command lines that close its help.
    """

    def declare(function: Verb) -> Verb:
        classes: dict[str, type[Any]] = {}
        options = [*_options(function, classes), _option("as_json", Json, False)]
        outputs = [option.name for option in options if WRITTEN in getattr(option.annotation, "__metadata__", ())]

        def run(*, as_json: bool, **given: Any) -> None:
            with ExitStack() as running:
                _RUNNING.set(running)
                _refuse_overwriting(outputs, given)
                for parameter, kind in classes.items():
                    given[parameter] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
                result = function(**given)
            emit(result.payload, lambda out: paint(out, result.blocks(result.payload)), as_json=as_json)
            if result.code:
                raise typer.Exit(result.code)

        run.__doc__ = function.__doc__
        run.__annotations__ = {option.name: option.annotation for option in options}
        run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        app.command(name=function.__name__.replace("_", "-"), short_help=short_help, epilog=example(*examples))(run)
        return function

    return declare


def _refuse_overwriting(outputs: list[str], given: Mapping[str, Any]) -> None:
    """Refuse an output in the place of a file or folder that the command line names as an input."""
    from ground.storage.outputs import answer_file

    for output in outputs:
        if given[output] is not None:
            inputs = [value for name, value in given.items() if name not in (output, "workspace")]
            named = [item for value in inputs for item in (value if isinstance(value, list) else [value])]
            # A word, such as the name of a role, may be the name of a file too; it is none of a folder.
            files = [Path(item) for item in named if isinstance(item, str) and os.path.isfile(item)]  # noqa: PTH113 - a word may be too long for a name
            answer_file(given[output], [*files, *(item for item in named if isinstance(item, Path))])


def _options(declared: Callable[..., Any], classes: dict[str, type[Any]]) -> Iterator[inspect.Parameter]:
    """Yield the options of a verb in their order; parameters that are classes of options are added to ``classes``."""
    hints = get_type_hints(declared, include_extras=True)
    for name, parameter in inspect.signature(declared).parameters.items():
        if is_dataclass(kind := hints[name]):
            assert isinstance(kind, type)
            classes[name] = kind
            yield from _options(kind, classes)
        else:
            yield _option(name, kind, parameter.default)


def _option(name: str, kind: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def text_of(file: Path) -> str:
    """Return the text of a file in UTF-8, without a mark of it (U+FEFF); ``-`` is standard input."""
    if str(file) == "-":
        return sys.stdin.read().removeprefix("\ufeff")
    if file.is_dir():
        raise InputError("this is a folder", file=file, expected="a text in UTF-8, a file at a time")
    if not file.is_file():
        raise InputError("there is no such file", file=file)
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the file is not text in UTF-8", file=file, do="save it as UTF-8") from None


def example(*lines: str) -> str:
    """Return the closing paragraph of a verb's help, kept as it is by typer's ``\\b`` mark."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def _with_overrides(settings: Settings, overrides: list[str]) -> Settings:
    from ground.settings import settings_from
    from ontoground.cli.runs import merged, parsed_override

    values: dict[str, Any] = settings.model_dump()
    for override in overrides:
        values = merged(values, parsed_override(override, "SECTION.KEY=VALUE, as build.seed=7", most=2))
    return settings_from(values, "--set")
