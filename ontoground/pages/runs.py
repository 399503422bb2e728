"""Runs: the reports that training, evaluation and stewardship wrote, with their tables and pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ontoground.pages.explorer import Explorer, explorer_of, page_of

__all__ = ["ROUTES", "Block", "blocks"]

PLACES = {"Training and evaluation": "runs", "Stewardship": "stewardship"}
REPORT = "report.md"
RULE = re.compile(r"^\|(?: *:?-+:? *\|)+$")
NUMBER = re.compile(r"^[+-]?\d[\d,]*(\.\d+)?$")
PICTURE = re.compile(r"^!\[([^\]]*)\]\(([^)\s]+)\)$")


@dataclass(frozen=True)
class Value:
    """A cell of a table as it is written, with its number where it is one, so that tables sort by it."""

    text: str

    @property
    def number(self) -> float | None:
        """The number that the cell is."""
        return float(self.text.replace(",", "")) if NUMBER.match(self.text) else None


@dataclass(frozen=True)
class Block:
    """A title, a paragraph, an item, a table or a picture of a report, as plain text."""

    kind: str
    text: str = ""
    level: int = 2
    head: list[str] = field(default_factory=list)
    rows: list[list[Value]] = field(default_factory=list)
    key: str = ""


def runs(request: Request) -> Response:
    """List all reports."""
    root = explorer_of(request).workspace.root
    places = {
        title: [report.parent.relative_to(root).as_posix() for report in sorted((root / folder).rglob(REPORT))]
        for title, folder in PLACES.items()
    }
    return page_of(request, "runs.html", places=places)


def run(request: Request) -> Response:
    """Show a report."""
    explorer = explorer_of(request)
    name = explorer.value(str(request.path_params["key"]))
    folder = explorer.workspace.root / name
    if not (folder / REPORT).is_file():
        raise HTTPException(404, "this report is no longer there")
    text = (folder / REPORT).read_text(encoding="utf-8")
    return page_of(request, "run.html", name=name, blocks=list(blocks(text, explorer, folder)))


def picture(request: Request) -> Response:
    """Send a picture that a report shows."""
    path = Path(explorer_of(request).value(str(request.path_params["key"])))
    if not path.is_file():
        raise HTTPException(404, "this picture is no longer there")
    return FileResponse(path, media_type="image/png")


def blocks(text: str, explorer: Explorer, folder: Path) -> Iterator[Block]:
    """Yield the parts of a report in Markdown, of which our reports use these few; all of it stays text."""
    for part in re.split(r"\n\s*\n", text):
        lines = part.strip("\n").splitlines()
        if len(lines) > 1 and RULE.match(lines[1]):
            yield Block(
                "table", head=_cells(lines[0]), rows=[[Value(cell) for cell in _cells(line)] for line in lines[2:]]
            )
            continue
        for line in lines:
            yield from _line(line, explorer, folder)


def _line(line: str, explorer: Explorer, folder: Path) -> Iterator[Block]:
    if match := re.match(r"^(#+) (.*)$", line):
        yield Block("title", _without_marks(match[2]), level=min(len(match[1]) + 1, 4))
    elif match := PICTURE.match(line):
        path = (folder / match[2]).resolve()
        there = path.is_relative_to(folder.resolve()) and path.suffix == ".png"
        yield Block("picture", match[1], key=explorer.key(path) if there else "")
    elif match := re.match(r"^ *[-*] (.*)$", line):
        yield Block("item", _without_marks(match[1]))
    elif line.strip():
        yield Block("text", _without_marks(line))


def _cells(line: str) -> list[str]:
    return [_without_marks(cell.strip().replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def _without_marks(text: str) -> str:
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text.replace("**", "").replace("`", ""))


ROUTES = [Route("/runs", runs), Route("/runs/{key}", run), Route("/picture/{key}", picture)]
