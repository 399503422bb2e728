"""The reference pages say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ground.storage.sqlfiles import sql_names
from ontoground.cli.reference import DOCS, cli_page, settings_page

README = DOCS.parent / "README.md"


@pytest.mark.parametrize(("page", "text"), [("cli.md", cli_page), ("settings.md", settings_page)])
def test_the_pages_are_up_to_date(page: str, text: object) -> None:
    assert (DOCS / page).read_text() == text(), "run `python -m ontoground.cli.reference`"  # type: ignore[operator]


def test_the_readme_names_only_queries_and_files_that_exist() -> None:
    text = README.read_text()
    asked = re.findall(r"ontoground sql ([a-z_]+)", text)
    assert len(asked) == 5
    assert {f"ontoground/queries/{name}" for name in asked} <= set(sql_names("ontoground/queries"))
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert links and all((README.parent / link).exists() for link in links)


def test_the_citation_file_has_what_the_format_requires() -> None:
    text = Path(README.parent / "CITATION.cff").read_text()
    for key in ("cff-version: 1.2.0", "message:", "title:", "authors:"):
        assert re.search(rf"^{key}", text, re.MULTILINE)
