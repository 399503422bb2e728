"""The templates: everything that they are given is text, and is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ground.storage.tables import read_table
from ontoground.cli.render import names_rows, number

__all__ = ["FOLDER", "alone", "in_notebook", "reasons_in_words", "rendered"]

FOLDER = Path(__file__).parent


@cache
def reasons_in_words() -> dict[str, str]:
    """Return what each reason to be unsure means, in a few words (docs/definitions.md#certainty)."""
    return {row["reason"]: row["words"] for row in read_table(FOLDER / "reasons.tsv", ("reason", "words", "source"))}


@cache
def _templates() -> Environment:
    folder = FileSystemLoader(FOLDER / "templates")
    environment = Environment(
        loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = number
    environment.filters["names_rows"] = names_rows
    environment.filters["reason"] = lambda name: reasons_in_words().get(name, name)
    environment.filters["words"] = lambda name: str(name).replace("_", " ")
    return environment


def rendered(template: str, /, **values: Any) -> str:
    """Return a template with these values."""
    return _templates().get_template(template).render(**values)


def in_notebook(template: str, height: int, /, **values: Any) -> str:
    """Return a template in a frame of its own, so that its style leaves the notebook alone and no script of it runs."""
    return rendered("frame.html", page=alone(template, **values), height=height)


def alone(template: str, /, **values: Any) -> str:
    """Return a template as a page that needs no other file: its style is in it, and no script."""
    style = (FOLDER / "static" / "page.css").read_text(encoding="utf-8")
    return rendered(template, style=style, **values)
