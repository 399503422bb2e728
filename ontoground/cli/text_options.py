"""What `build medhal` and `build medval` share: sources by name or folder, and the language model that is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ground.errors import InputError, UsageError

if TYPE_CHECKING:
    from builders.texts.registry import TextSource
    from ground.lm.client import LanguageModel
    from ground.lm.settings import LmSettings

__all__ = [
    "OF_MODEL",
    "Chosen",
    "ModelOptions",
    "chosen_sources",
    "described_model",
    "language_model_settings",
    "split_overrides",
]

OWN_LAYOUT = "workspace"
OF_MODEL = ("language_model",)
"""Tables of overrides that are the language model's, not those of ``ontoground.toml``."""


@dataclass(frozen=True)
class Chosen:
    """A source and the folder of its files; None for what the workspace itself holds."""

    source: TextSource
    folder: Path | None


@dataclass(frozen=True)
class ModelOptions:
    """How the language models of ``--engine lm`` are named: by flags, by a file, by overrides ``TABLE.KEY=VALUE``."""

    endpoint: str | None = None
    endpoint_model: str | None = None
    config: Path | None = None
    overrides: tuple[str, ...] = ()

    @property
    def given(self) -> bool:
        """Whether anything of it was said."""
        return bool(self.endpoint or self.endpoint_model or self.config or self.overrides)


def chosen_sources(
    dataset: Literal["medhal", "medval"], names: str | None, texts: Path | None, own: Iterable[str] = ()
) -> tuple[Chosen, ...]:
    """Return the sources of a build, in the order of the source table.

    Args:
        dataset: which sources are meant.
        names: ``medqa,sumpubmed=DIR,mimic`` as ``--sources`` gives it; None means what is found.
        texts: the folder below which sources have folders of their own.
        own: sources that the workspace itself can give, taken where ``names`` is None.

    Raises:
        UsageError: an unknown source, or nothing that could be meant.
        InputError: a folder is not there.
    """
    from builders.texts.registry import resolve_sources, text_sources

    if texts is not None and not texts.is_dir():
        raise InputError(
            "the folder of texts is not there", file=texts, expected="a folder with one folder a source: medqa, ..."
        )
    if names is None:
        chosen = _found(dataset, texts, set(own))
        if not chosen:
            raise UsageError(
                f"no source of {dataset} is named and none was found",
                expected=", ".join(name for name, one in text_sources().items() if one.dataset == dataset),
                do="name the folder of texts with --texts DIR, or sources with --sources NAME,NAME=DIR",
            )
        return chosen
    folders = _named(names)
    sources = resolve_sources(tuple(folders), dataset)
    return tuple(Chosen(source, _folder(source, folders[source.source], texts)) for source in sources)


def _named(names: str) -> dict[str, Path | None]:
    """Read ``medqa,sumpubmed=DIR``."""
    found: dict[str, Path | None] = {}
    for one in names.split(","):
        name, equals, folder = one.strip().partition("=")
        if not name or (equals and not folder) or name in found:
            raise UsageError(
                "--sources cannot be read",
                found=one.strip() or names,
                expected="NAME or NAME=DIR, each once, by commas",
            )
        found[name] = Path(folder).expanduser() if equals else None
    return found


def _found(dataset: str, texts: Path | None, own: set[str]) -> tuple[Chosen, ...]:
    from builders.texts.registry import text_sources

    chosen = []
    for source in text_sources().values():
        if source.dataset != dataset:
            continue
        if source.layout == OWN_LAYOUT:
            chosen += [Chosen(source, None)] if source.source in own else []
        elif texts is not None and (texts / source.folder).is_dir():
            chosen.append(Chosen(source, texts / source.folder))
    return tuple(chosen)


def _folder(source: TextSource, named: Path | None, texts: Path | None) -> Path | None:
    if source.layout == OWN_LAYOUT:
        if named is not None:
            raise UsageError(
                f"the source {source.source} has no folder", found=str(named), expected="the workspace's own data"
            )
        return None
    folder = named or (texts / source.folder if texts is not None else None)
    if folder is None:
        raise UsageError(
            f"the source {source.source} has no folder",
            expected=f"--texts DIR with DIR/{source.folder}, or --sources {source.source}=DIR",
        )
    if not folder.is_dir():
        raise InputError(
            f"the folder of the source {source.source} is not there",
            file=folder,
            expected=f"the files of {source.name} ({source.origin})",
            do=f"put them there, name another folder with --sources {source.source}=DIR, or leave the source out",
        )
    return folder


def split_overrides(
    overrides: Sequence[str] | None, tables: Sequence[str] = OF_MODEL
) -> tuple[list[str], tuple[str, ...]]:
    """Return overrides of ``ontoground.toml`` and those of the language models (``TABLE.KEY=VALUE``)."""
    given = list(overrides or ())
    of_model = tuple(one for one in given if one.partition(".")[0].strip() in tables)
    return [one for one in given if one not in of_model], of_model


def language_model_settings(options: ModelOptions, roles: Sequence[str] = OF_MODEL) -> dict[str, LmSettings]:
    """Return the settings of the language models by role; the first role must be named, the others may be.

    Raises:
        UsageError: none is named, or a setting is unknown or wrong.
    """
    from pydantic import create_model

    from ground.lm.settings import LmSettings
    from ground.settings import Section
    from ontoground.cli.runs import model_overrides, require_packages, run_settings

    require_packages("openai", extra="lm")
    if options.endpoint_model is None and options.config is None and not options.overrides:
        raise UsageError(
            "--engine lm without a model",
            expected="--endpoint URL --endpoint-model NAME, or --config FILE with a table [language_model]",
        )
    overrides = [*options.overrides, *model_overrides(options.endpoint, options.endpoint_model)]
    fields: dict[str, Any] = dict.fromkeys(roles, (LmSettings | None, None)) | {roles[0]: (LmSettings, ...)}
    found = run_settings(create_model("TextBuild", __base__=Section, **fields), options.config, overrides)
    named = {role: getattr(found, role) for role in roles}
    return {role: settings for role, settings in named.items() if settings is not None}


def described_model(model: LanguageModel) -> dict[str, Any]:
    """Return what decides the answers, and why a host may have credentialed text where one may; no address."""
    allowed = model.settings.model_dump(mode="json", include={"allow_remote_credentialed", "allow_remote_reason"})
    return {**model.describe(), **{name: value for name, value in allowed.items() if value}}
