"""The benchmark of the text builders: copies are rows of their own, and each build is measured by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.text_builders import build_once, main, multiply
from ground.errors import InputError
from tests.builders.medhal.texts_world import write_texts


def test_copies_are_rows_of_their_own(tmp_path: Path) -> None:
    texts = write_texts(tmp_path / "texts", 6, ("medqa", "sumpubmed", "mednli"))
    assert multiply(texts, tmp_path / "copies", 3) == ["medqa", "sumpubmed"]
    done = build_once(tmp_path / "copies", tmp_path / "work")
    factual = {source: rows // 2 for source, rows in done.figures.items()}
    # What an edit of a summary puts in must be taken out elsewhere as often, so few of the copies' pairs stay.
    assert factual["medqa"] == 3 * 11 and 0 < factual["sumpubmed"] <= 3 * 6
    assert done.rows == sum(done.figures.values()) == 2 * sum(factual.values())


def test_a_folder_without_texts_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no text"):
        main(["--texts", str(tmp_path), "--copies", "1"])
