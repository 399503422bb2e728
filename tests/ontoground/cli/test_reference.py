"""The reference pages say what the code does."""

from __future__ import annotations

import re

import pytest

from ground.storage.sqlfiles import sql_names
from ontoground.cli.reference import DOCS, cli_page, columns_page, settings_page


@pytest.mark.parametrize(
    ("page", "text"), [("cli.md", cli_page), ("settings.md", settings_page), ("columns.md", columns_page)]
)
def test_the_pages_are_up_to_date(page: str, text: object) -> None:
    assert (DOCS / page).read_text() == text(), "run `python -m ontoground.cli.reference`"  # type: ignore[operator]


def test_the_first_five_questions_are_queries() -> None:
    asked = re.findall(r"ontoground sql ([a-z_]+)", (DOCS / "using.md").read_text())
    assert len(asked) == 5
    assert {f"ontoground/queries/{name}" for name in asked} <= set(sql_names("ontoground/queries"))


def test_the_citation_file_has_what_the_format_requires() -> None:
    text = (DOCS.parent / "CITATION.cff").read_text()
    for key in ("cff-version: 1.2.0", "message:", "title:", "authors:"):
        assert re.search(rf"^{key}", text, re.MULTILINE)
