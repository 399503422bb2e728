"""Where a build's pairs come from: which sources are named or found, where their files lie, and their feeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb

from builders.medhal.engines import Engine
from builders.medhal.feeds import Feed, own_feed, text_feed
from builders.texts.origin import Tally
from builders.texts.sources import NamedTexts, TextSource, resolve_sources, text_sources
from ground.errors import InputError, UsageError
from ground.flow.manifest import own_licence
from ground.storage.workspace import Workspace

__all__ = ["chosen_sources", "feeds_of"]

OWN_LAYOUT = "workspace"


def chosen_sources(names: str | None, named: NamedTexts, *, own: bool) -> dict[TextSource, Path | None]:
    """Return the sources of a build in the order of their table, each with its folder; None is the workspace itself.

    Sources with a folder of their own come last, whether ``names`` has them or not.

    Args:
        names: ``medqa,sumpubmed=DIR,mimic`` as a user names them; None means what is found.
        named: the folder below which sources have folders of their own, and further sources.
        own: whether the workspace can give facts of its own.

    Raises:
        UsageError: an unknown source, or nothing that could be meant.
        InputError: a folder is not there.
    """
    texts = named.folder
    if texts is not None and not texts.is_dir():
        raise InputError(
            "the folder of texts is not there", file=texts, expected="a folder with one folder a source: medqa, ..."
        )
    if names is not None:
        folders = _named(names)
        for source in named.sources:
            if folders.pop(source.source, None) is not None:
                raise UsageError(
                    f"the folder of {source.source} is named twice",
                    found=names,
                    expected=f"{source.source} in --sources without a folder, since --texts names it",
                )
        sources = resolve_sources(tuple(folders), "medhal")
        wanted = {source: _folder(source, folders[source.source], texts) for source in sources}
        return wanted | dict(named.sources)
    return _found(named, own=own)


def _found(named: NamedTexts, *, own: bool) -> dict[TextSource, Path | None]:
    texts = named.folder
    known = [source for source in text_sources().values() if source.dataset == "medhal"]
    chosen: dict[TextSource, Path | None] = {}
    for source in known:
        if source.layout == OWN_LAYOUT and own:
            chosen[source] = None
        elif source.layout != OWN_LAYOUT and texts is not None and (texts / source.folder).is_dir():
            chosen[source] = texts / source.folder
    chosen |= named.sources
    if not chosen:
        raise UsageError(
            "no source of medhal is named and none was found",
            expected=", ".join(source.source for source in known),
            do="name the folder of texts with --texts DIR or NAME=DIR:LAYOUT, or sources with --sources NAME,NAME=DIR",
        )
    return chosen


def _named(names: str) -> dict[str, Path | None]:
    """Read ``medqa,sumpubmed=DIR``."""
    folders: dict[str, Path | None] = {}
    for entry in names.split(","):
        name, equals, folder = entry.strip().partition("=")
        if not name or (equals and not folder) or name in folders:
            raise UsageError(
                "--sources cannot be read",
                found=entry.strip() or names,
                expected="NAME or NAME=DIR, each once, by commas",
            )
        folders[name] = Path(folder).expanduser() if equals else None
    return folders


def _folder(source: TextSource, named: Path | None, texts: Path | None) -> Path | None:
    what = f"the source {source.source} has no folder"
    if source.layout == OWN_LAYOUT:
        if named is not None:
            raise UsageError(what, found=str(named), expected="the workspace's own data")
        return None
    folder = named or (texts / source.folder if texts is not None else None)
    if folder is None:
        raise UsageError(what, expected=f"--texts DIR with DIR/{source.folder}, or --sources {source.source}=DIR")
    if not folder.is_dir():
        raise InputError(
            f"the folder of the source {source.source} is not there",
            file=folder,
            expected=f"the files of {source.name} ({source.origin})",
            do=f"put them there, name another folder with --sources {source.source}=DIR, or leave the source out",
        )
    return folder


def feeds_of(
    chosen: Mapping[TextSource, Path | None],
    engine: Engine,
    workspace: Workspace,
    own: duckdb.DuckDBPyConnection | None,
    tally: Tally,
) -> list[Feed]:
    """Return the feed of each source; ``own`` is the warehouse, open where the workspace gives facts."""
    feeds = []
    for source, folder in chosen.items():
        if folder is not None:
            feeds.append(text_feed(source, folder, engine, workspace.settings.medhal, tally))
        elif own is not None:
            feeds.append(own_feed(source, own_licence(own, source.licence), workspace, own, tally))
    return feeds
