"""The reference folder: the user's texts, found by their words."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.errors import InputError
from stewardship.tools.reference import ReferenceArguments, ReferenceTool

PAGE = """<html><head><title>no text</title><style>p {}</style></head><body><nav>menu</nav>
<h1>Wells criteria</h1><p>Heart rate over <b>100</b>: 1.5 points</p>
<table><tr><td>Hemoptysis</td><td>1</td></tr></table><script>secret()</script></body></html>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three texts, one of them HTML, and a file that cannot be read."""
    texts = tmp_path / "texts"
    (texts / "below").mkdir(parents=True)
    (texts / "wells.html").write_text(PAGE)
    (texts / "gap.md").write_text("# Anion gap\n\nSodium minus chloride and bicarbonate.\n")
    (texts / "below" / "long.txt").write_text(
        "\n\n".join(f"Paragraph {n} on dosing. " + "word " * 60 for n in range(30))
    )
    (texts / "scan.pdf").write_bytes(b"%PDF")
    return texts


def lookup(tool: ReferenceTool, query: str) -> str:
    return tool.use(ReferenceArguments(query=query)).text


def test_the_passage_that_fits_comes_first_with_its_file(folder: Path) -> None:
    tool = ReferenceTool(folder)
    assert lookup(tool, "sodium chlorides?").startswith("[gap.md]\n# Anion gap\n\nSodium minus")
    assert lookup(tool, "WELLS heart rates").startswith("[wells.html]\n")
    assert "[below/long.txt]\nParagraph" in lookup(tool, "dosing")
    assert (tool.files, tool.skipped) == (3, 1)


def test_a_page_is_read_without_its_scripts_and_menus(folder: Path) -> None:
    text = lookup(ReferenceTool(folder), "wells")
    assert "Heart rate over 100: 1.5 points" in text and "| Hemoptysis | 1" in text
    assert not any(word in text for word in ("secret", "menu", "no text", "<"))


@pytest.mark.parametrize("query", ['"; drop table passage', "sodium AND (", "NEAR(sodium", "sodium*^"])
def test_words_are_words_whatever_stands_round_them(folder: Path, query: str) -> None:
    assert ReferenceTool(folder).use(ReferenceArguments(query=query)).ok


def test_no_word_and_no_hit_are_said(folder: Path) -> None:
    tool = ReferenceTool(folder)
    assert not tool.use(ReferenceArguments(query="?!")).ok
    assert lookup(tool, "zebra") == "no document has any of these words"


def test_other_texts_are_another_tool(folder: Path) -> None:
    before = ReferenceTool(folder).describe()
    assert ReferenceTool(folder).describe() == before
    (folder / "gap.md").write_text("# Anion gap\n\nwith potassium\n")
    assert ReferenceTool(folder).describe() != before


def test_a_folder_that_is_missing_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not there"):
        ReferenceTool(tmp_path / "nothing")
    with pytest.raises(InputError, match="no text"):
        ReferenceTool(tmp_path)
