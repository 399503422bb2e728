"""SumPubMed's layout: articles by number, abstracts without headings and notices, what is counted and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders.medhal.sources import sumpubmed
from builders.texts.origin import Tally
from builders.texts.sources import text_sources
from ground.errors import InputError

SOURCE = text_sources()["sumpubmed"]
ABSTRACT = (
    "BACKGROUND\nthe drug lowers pressure.\n\n\nmethods\nwe gave it.\n\nRESULTS\npressure fell.\n\n\n"
    "CONCLUSIONS\nit works.\n\nelectronic supplementary material\nthe online version.\n\nkeywords\ndrugpressure\n"
)


def release(folder: Path, texts: dict[int, str], abstracts: dict[int, str]) -> Path:
    for part, contents in (("text", texts), ("abstract", abstracts)):
        (folder / part).mkdir(parents=True)
        for number, content in contents.items():
            (folder / part / f"{part}_{number}.txt").write_text(content, encoding="utf-8")
    return folder


def test_articles_come_by_number_with_the_running_text_of_their_abstracts(tmp_path: Path) -> None:
    folder = release(tmp_path, {10: "article ten.", 2: "article  two , in  short .\n"}, {2: ABSTRACT, 10: ABSTRACT})
    tally = Tally()
    items = list(sumpubmed.read(folder, SOURCE, tally))
    assert [item.origin.inner_id for item in items] == [item.origin.document for item in items] == ["2", "10"]
    assert {item.origin.split for item in items} == {"train"}
    assert items[0].text == "article two, in short."
    assert items[0].summary == "the drug lowers pressure. we gave it. pressure fell. it works."
    assert tally.read["sumpubmed"] == 2 and not tally.dropped


def test_articles_without_text_or_summary_are_counted(tmp_path: Path) -> None:
    folder = release(
        tmp_path, {1: "a.", 2: "b.", 3: "c."}, {2: ABSTRACT, 3: "BACKGROUND\n\nkeywords\nx\n", 4: ABSTRACT}
    )
    tally = Tally()
    assert [item.origin.inner_id for item in sumpubmed.read(folder, SOURCE, tally)] == ["2"]
    assert tally.read["sumpubmed"] == 4
    assert tally.reasons() == {"sumpubmed: no_summary": 2, "sumpubmed: no_text": 1}


def test_files_are_listed_by_number_and_other_files_are_not_read(tmp_path: Path) -> None:
    folder = release(tmp_path, {10: "a.", 9: "b."}, {9: ABSTRACT, 10: ABSTRACT})
    (folder / "text" / "notes.txt").write_text("x")
    names = [path.name for path in sumpubmed.files(folder)]
    assert names == ["abstract_9.txt", "text_9.txt", "abstract_10.txt", "text_10.txt"]


def test_a_folder_of_another_layout_and_a_broken_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        list(sumpubmed.read(tmp_path, SOURCE, Tally()))
    assert "text/text_N.txt" in str(raised.value) and raised.value.do
    folder = release(tmp_path / "release", {1: "a."}, {1: ABSTRACT})
    (folder / "text" / "text_1.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match="UTF-8"):
        list(sumpubmed.read(folder, SOURCE, Tally()))
