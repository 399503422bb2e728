"""A folder of the user's texts (guidelines, definitions of scores) in place of a web search, ranked by BM25.

Passages are paragraphs joined to some 1,500 characters; the index is SQLite's full-text search (FTS5) in memory.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from pydantic import Field

from ground.errors import InputError
from ground.lm.cache import content_key
from ground.storage.files import sha256_of
from stewardship.tools.base import Arguments, ToolResult

__all__ = ["SUFFIXES", "ReferenceArguments", "ReferenceTool"]

SUFFIXES = (".md", ".txt", ".html", ".htm")
PASSAGE_CHARACTERS = 1_500
PASSAGES = 3
# Inside these, HTML holds no text for a reader; at these, a new paragraph begins.
SILENT = frozenset({"script", "style", "head", "nav", "template", "noscript"})
BREAKS = frozenset({"p", "div", "br", "li", "tr", "table", "h1", "h2", "h3", "h4", "h5", "h6", "section", "ul", "ol"})
BLANKS = re.compile(r"\s+")
WORD = re.compile(r"\w+")


class ReferenceArguments(Arguments):
    """Arguments of the reference folder."""

    query: str = Field(description="words to look for, such as the name of a score and what is not clear about it")


class ReferenceTool:
    """Searches the texts of a folder.

    Attributes:
        skipped: how many have another kind of name (PDF, images) and were not.
    """

    name = "reference"
    arguments = ReferenceArguments

    def __init__(self, folder: Path) -> None:
        """Read the folder, with those below it.

        Raises:
            InputError: no such folder, or it holds no text.
        """
        if not folder.is_dir():
            raise InputError("the reference folder is not there", file=folder)
        every = sorted(path for path in folder.rglob("*") if path.is_file())
        read = [path for path in every if path.suffix.lower() in SUFFIXES]
        self.files, self.skipped = len(read), len(every) - len(read)
        names = [path.relative_to(folder).as_posix() for path in read]
        self._digest = content_key({name: sha256_of(path) for name, path in zip(names, read, strict=True)})
        self._lock = threading.Lock()
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        self._index.execute(
            "create virtual table passage using fts5(file unindexed, text, tokenize='porter unicode61')"
        )
        for name, path in zip(names, read, strict=True):
            passages = _passages(_text(path))
            self._index.executemany("insert into passage values (?, ?)", ((name, passage) for passage in passages))
        if not self._index.execute("select count(*) from passage").fetchone()[0]:
            raise InputError("the reference folder holds no text", file=folder, expected=f"files {', '.join(SUFFIXES)}")

    def describe(self) -> dict[str, Any]:
        """Return the hash of all files' names and contents."""
        return {"sha256": self._digest, "files": self.files, "passages": PASSAGES, "characters": PASSAGE_CHARACTERS}

    def manual(self) -> str:
        """Return what the model is told."""
        return (
            f"`reference` searches {self.files} documents (definitions of scores, guidelines) by words and returns the "
            f"{PASSAGES} passages that fit best, each with the name of its document."
        )

    def use(self, arguments: ReferenceArguments) -> ToolResult:
        """Return the best passages, best first."""
        words = dict.fromkeys(WORD.findall(arguments.query.lower()))
        if not words:
            return ToolResult("the query has no words", ok=False)
        query = " or ".join(f'"{word}"' for word in words).replace(" or ", " OR ")
        with self._lock:
            passages = self._index.execute(
                "select file, text from passage where passage match ? order by bm25(passage), rowid limit ?",
                (query, PASSAGES),
            ).fetchall()
        if not passages:
            return ToolResult("no document has any of these words")
        return ToolResult("\n\n".join(f"[{name}]\n{text}" for name, text in passages))


class _Reader(HTMLParser):
    """Collects the text of a page; a heading or a paragraph begins a new line."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SILENT:
            self._silent.append(tag)
        elif tag in BREAKS:
            self.parts.append("\n\n")
        elif tag in ("td", "th"):
            self.parts.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if self._silent and tag == self._silent[-1]:
            self._silent.pop()
        elif tag in BREAKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(BLANKS.sub(" ", data))


def _text(path: Path) -> str:
    text = path.read_bytes().decode("utf-8-sig", "replace")
    if path.suffix.lower() not in (".html", ".htm"):
        return text
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return re.sub(" +", " ", "".join(reader.parts))


def _passages(text: str) -> Iterator[str]:
    """Cut a text at empty lines into passages of at most `PASSAGE_CHARACTERS`; longer paragraphs are cut at words."""
    passage = ""
    for paragraph in re.split(r"\n\s*\n", text):
        rest = paragraph.strip()
        if passage and len(passage) + len(rest) + 2 > PASSAGE_CHARACTERS:
            yield passage
            passage = ""
        while len(rest) > PASSAGE_CHARACTERS:
            end = rest.rfind(" ", 1, PASSAGE_CHARACTERS)
            end = PASSAGE_CHARACTERS if end < 0 else end
            yield rest[:end].strip()
            rest = rest[end:].strip()
        passage = f"{passage}\n\n{rest}".strip() if rest else passage
    if passage:
        yield passage
