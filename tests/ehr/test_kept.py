"""What is kept of a lexicon reads as what was built, is stale where names or rules changed, and is never needed."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from ehr.lexicon import FOLDER, build_lexicon
from ehr.reading import TextReader, TextReading
from ground.flow.fingerprints import mark_done
from ground.settings import NoteSettings
from ground.storage.own_rules import NO_RULES, OwnRules
from tests.ehr.test_lexicon import fill
from tests.ehr.test_own_rules import NOTE, ROWS, own


@pytest.fixture
def named(warehouse: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    fill(warehouse)
    mark_done(warehouse, "graph", "first")
    return warehouse


def built(connection: duckdb.DuckDBPyConnection, rules: OwnRules) -> TextReading:
    return TextReader.of(build_lexicon(connection, rules), NoteSettings(), rules).read(NOTE)


def test_what_is_kept_reads_as_what_was_built_until_rules_or_names_change(
    named: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    kept, rules = tmp_path / FOLDER, own(name_stops=ROWS["name_stops"])
    readings, folders = [], []
    for given, release in ((NO_RULES, "first"), (rules, "first"), (rules, "second")):
        if release == "second":
            named.execute("delete from kg.name where lower(name) = 'hypertension'")
            mark_done(named, "graph", release)
        reader = TextReader.open(named, own=given)
        assert reader.lexicon.folder is not None
        written = reader.lexicon.folder.stat().st_mtime_ns
        again = TextReader.open(named, own=given)
        assert again.lexicon.folder == reader.lexicon.folder
        assert again.lexicon.folder.stat().st_mtime_ns == written
        assert [*kept.iterdir()] == [again.lexicon.folder]
        assert reader.read(NOTE) == again.read(NOTE)
        readings.append({(mention.text.lower(), mention.cuis) for mention in again.read(NOTE).mentions})
        folders.append(reader.lexicon.folder)
    assert again.read(NOTE) == built(named, rules)
    assert len(set(folders)) == 3
    assert {text for text, _ in readings[0] - readings[1]} == {"metoprolol"}
    assert {text for text, _ in readings[1] - readings[2]} == {"hypertension"}


def test_what_cannot_be_kept_or_was_damaged_is_built_again(named: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    kept = tmp_path / FOLDER
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("no folder can be made here", encoding="utf-8")
    right = TextReader.open(named)
    assert right.lexicon.folder is None
    kept.unlink()
    folder = TextReader.open(named).lexicon.folder
    assert folder is not None
    for name, left in (("rules_nodes.npy", 0), ("terms.json", 99)):
        file = folder / name
        whole = file.read_bytes()
        file.write_bytes(whole[:left])
        assert TextReader.open(named).read(NOTE) == right.read(NOTE), name
        assert file.read_bytes() == whole
    mark_done(named, "graph", "")
    assert TextReader.open(named).lexicon.folder is None
