"""Loading RRF releases: what is read, checked, skipped, resumed and replaced."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import duckdb
import pytest

from ground import ROOT
from ground.errors import InputError, UsageError
from ground.settings import LoadSettings
from ground.storage.loading import LoadedFile
from kg import load as kg_load
from kg.load import load_rxnorm, load_umls
from kg.release import RrfFile, find_release
from tests.kg.rrf_files import columns_of, line, write_release

SETTINGS = LoadSettings()
PART = LoadSettings(subset="few rows of a test")
WHOLE = LoadSettings(attributes=(), skip_tables=())
Connection = duckdb.DuckDBPyConnection


def rows(connection: Connection, query: str) -> list[tuple[object, ...]]:
    return connection.execute(query).fetchall()


def one(connection: Connection, query: str) -> object:
    return rows(connection, query)[0][0]


def test_tables_columns_and_bookkeeping(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    report = load_umls(warehouse, folder, SETTINGS)
    assert [(t.table, t.rows_read, t.rows_rejected, t.skipped_because_done) for t in report.tables] == [
        ("umls.mrconso", 200, 0, False),
        ("umls.mrrel", 199, 0, False),
        ("umls.mrsty", 200, 0, False),
    ]
    described = rows(warehouse, "describe umls.mrconso")
    assert [row[0] for row in described] == list(columns_of("MRCONSO"))
    assert {row[1] for row in described} == {"VARCHAR"}
    booked = rows(warehouse, "select file, bytes, rows_read, length(sha256) from ground.load order by file")
    assert booked == [
        (f"{name}.RRF", (folder / f"{name}.RRF").stat().st_size, n, 64)
        for name, n in (("MRCONSO", 200), ("MRREL", 199), ("MRSTY", 200))
    ]
    assert report.as_dict()["tables"][0]["table"] == "umls.mrconso"


def test_the_folder_above_is_found(warehouse: Connection, tmp_path: Path) -> None:
    write_release(tmp_path / "2025AA" / "META")
    assert find_release("umls", tmp_path).name == "2025AA"
    assert load_umls(warehouse, tmp_path / "2025AA", SETTINGS).release == "2025AA"


def test_two_releases_side_by_side_are_not_guessed_at(warehouse: Connection, tmp_path: Path) -> None:
    write_release(tmp_path / "2024AB" / "META")
    write_release(tmp_path / "2025AA" / "META")
    with pytest.raises(InputError, match="several releases") as caught:
        load_umls(warehouse, tmp_path, SETTINGS)
    assert caught.value.found == "2024AB/META, 2025AA/META"


def test_a_file_that_is_missing_gets_an_empty_table(warehouse: Connection, tmp_path: Path) -> None:
    report = load_umls(warehouse, write_release(tmp_path / "META"), SETTINGS)
    assert "MRHIER.RRF" in report.missing_optional
    assert one(warehouse, "select count(*) from umls.mrhier") == 0


def test_a_required_file_that_is_missing_is_named(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    (folder / "MRSTY.RRF").unlink()
    with pytest.raises(InputError) as caught:
        load_umls(warehouse, folder, SETTINGS)
    assert "MRSTY.RRF" in str(caught.value)


def test_no_release_says_what_was_looked_for(warehouse: Connection, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="no UMLS release is here"):
            load_umls(warehouse, folder, SETTINGS)


def test_a_quote_is_a_character_and_an_empty_field_is_null(warehouse: Connection, tmp_path: Path) -> None:
    names = ['"', 'a "quoted" word', '"open', "it's \\ ok", " led by a blank", "NULL", "α-tocopherol"]
    extra = [line("MRCONSO", CUI=f"C9{n:06d}", LAT="ENG", AUI=f"A9{n:06d}", STR=name) for n, name in enumerate(names)]
    load_umls(warehouse, write_release(tmp_path / "META", extra=extra), SETTINGS)
    found = rows(warehouse, "select STR from umls.mrconso where CUI >= 'C9' order by CUI")
    assert [row[0] for row in found] == names
    assert one(warehouse, "select count(*) from umls.mrconso where SDUI is null") == 200 + len(names)


def test_other_languages_are_left_out_and_counted(warehouse: Connection, tmp_path: Path) -> None:
    extra = [
        line("MRCONSO", CUI="C9000001", LAT="SPA", AUI="A9000001", STR="asma"),
        line("MRCONSO", CUI="C9000001", LAT="FRE", AUI="A9000002", STR="asthme"),
        line("MRCONSO", CUI="C9000002", AUI="A9000003", STR="without a language"),
    ]
    folder = write_release(tmp_path / "META", extra=extra)
    report = load_umls(warehouse, folder, SETTINGS)
    assert report.tables[0].rows_read == 203
    assert rows(warehouse, "select distinct LAT from umls.mrconso") == [("ENG",)]
    assert rows(warehouse, "from ground.drop") == [("load", "umls.mrconso: language not kept", 3)]

    more = load_umls(warehouse, folder, LoadSettings(languages=("ENG", "SPA")))
    assert [t.skipped_because_done for t in more.tables] == [False, True, True]
    assert rows(warehouse, "from ground.drop") == [("load", "umls.mrconso: language not kept", 2)]
    load_umls(warehouse, folder, LoadSettings(languages=()))
    assert one(warehouse, "select count(*) from umls.mrconso") == 203
    assert rows(warehouse, "from ground.drop") == []


def test_attributes_that_nothing_reads_are_left_out_and_counted(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    names = ["NDC", "SNOMEDCT_MODULE", "FROMRSAB", "TORSAB", "CCI", ""]
    (folder / "MRSAT.RRF").write_text("".join(line("MRSAT", CUI="C0000001", ATN=name, ATV="1") for name in names))
    report = load_umls(warehouse, folder, SETTINGS)
    assert [table.rows_read for table in report.tables if table.table == "umls.mrsat"] == [6]
    assert rows(warehouse, "select ATN from umls.mrsat") == [("NDC",), ("FROMRSAB",), ("TORSAB",), ("CCI",)]
    assert rows(warehouse, "from ground.drop") == [("load", "umls.mrsat: attribute not kept", 2)]

    whole = load_umls(warehouse, folder, LoadSettings(attributes=()))
    assert [table.table for table in whole.tables if not table.skipped_because_done] == ["umls.mrsat"]
    assert one(warehouse, "select count(*) from umls.mrsat") == 6
    assert rows(warehouse, "from ground.drop") == []


def test_every_attribute_that_a_statement_reads_is_kept() -> None:
    read = set[str]()
    for file in (ROOT / "sql").rglob("*.sql"):
        for condition in re.findall(r"\batn (?:= '\w+'|in \([^)]*\))", file.read_text(), re.IGNORECASE):
            read.update(re.findall(r"'(\w+)'", condition))
    assert read == set(SETTINGS.attributes)


def test_mrfiles_gives_the_columns_and_is_checked(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    columns = [*columns_of("MRSTY"), "NEW"]
    (folder / "MRSTY.RRF").write_text("C0000001|T047|B2|Disease|AT1||new|\n" * 3)
    stated = f"MRSTY.RRF|Semantic Types|{','.join(columns)}|7|3|{3 * len('C0000001|T047|B2|Disease|AT1||new|x')}|\n"
    (folder / "MRFILES.RRF").write_text(stated)
    report = load_umls(warehouse, folder, PART)
    assert [row[0] for row in rows(warehouse, "describe umls.mrsty")] == columns
    assert rows(warehouse, "select distinct NEW from umls.mrsty") == [("new",)]
    assert [w for w in report.warnings if "MRSTY" in w] == []
    assert "MRFILES does not list MRREL: its documented columns are used" in report.warnings

    (folder / "MRFILES.RRF").write_text(stated.replace("|7|3|", "|7|4|"))
    report = load_umls(warehouse, folder, PART)
    assert "MRSTY has 3 rows, MRFILES states 4" in report.warnings


def test_mrfiles_without_a_documented_column_is_refused(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    (folder / "MRFILES.RRF").write_text("MRSTY.RRF|Semantic Types|CUI,TUI|2|200|1|\n")
    with pytest.raises(InputError, match="other columns for MRSTY"):
        load_umls(warehouse, folder, SETTINGS)


def test_a_release_without_mrfiles_says_so(warehouse: Connection, tmp_path: Path) -> None:
    report = load_umls(warehouse, write_release(tmp_path / "META"), SETTINGS)
    assert any("no MRFILES.RRF" in warning for warning in report.warnings)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("where", ["between lines", "inside a line", "at a line end"])
def test_pieces_make_one_table(warehouse: Connection, tmp_path: Path, line_end: str, gzipped: bool, where: str) -> None:
    folder = write_release(tmp_path / "META")
    whole = folder / "MRREL.RRF"
    text = whole.read_text().replace("\n", line_end).encode()
    whole.unlink()
    cut = text.index(b"\n", len(text) // 2) + {"between lines": 1, "inside a line": 9, "at a line end": 0}[where]
    for suffix, piece in ((".aa", text[:cut]), (".ab", text[cut:])):
        path = folder / f"MRREL.RRF{suffix}{'.gz' if gzipped else ''}"
        path.write_bytes(gzip.compress(piece) if gzipped else piece)
    report = load_umls(warehouse, folder, SETTINGS)
    pieces = [t for t in report.tables if t.table == "umls.mrrel"]
    assert len(pieces) == 2
    assert sum(t.rows_read for t in pieces) == 199
    assert sum(t.rows_rejected for t in pieces) == 0
    expected = "select count(*), count(distinct CUI1), count(distinct CUI2), count(CVF) from umls.mrrel"
    assert rows(warehouse, expected) == [(199, 199, 199, 0)]
    assert all(t.skipped_because_done for t in load_umls(warehouse, folder, SETTINGS).tables)


def test_gzip_and_line_ends_change_nothing(warehouse: Connection, tmp_path: Path) -> None:
    plain = write_release(tmp_path / "META")
    load_umls(warehouse, plain, SETTINGS)
    expected = rows(warehouse, "from umls.mrconso order by all")
    packed = tmp_path / "packed"
    packed.mkdir()
    for path in plain.iterdir():
        (packed / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes().replace(b"\n", b"\r\n")))
    load_umls(warehouse, packed, SETTINGS)
    assert rows(warehouse, "from umls.mrconso order by all") == expected


def test_an_unchanged_file_is_skipped_and_a_changed_one_is_replaced(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    load_umls(warehouse, folder, SETTINGS)
    before = rows(warehouse, "from ground.load order by file")
    assert all(t.skipped_because_done for t in load_umls(warehouse, folder, SETTINGS).tables)
    assert rows(warehouse, "from ground.load order by file") == before

    file = folder / "MRSTY.RRF"
    file.write_text(file.read_text().replace("T047", "T048"))  # the same size, another content
    os.utime(file, ns=(0, 0))
    report = load_umls(warehouse, folder, SETTINGS)
    assert [t.skipped_because_done for t in report.tables] == [True, True, False]
    assert rows(warehouse, "select distinct TUI from umls.mrsty") == [("T048",)]
    assert one(warehouse, "select count(*) from ground.load") == 3


def test_the_same_release_elsewhere_is_skipped_by_its_digest(warehouse: Connection, tmp_path: Path) -> None:
    load_umls(warehouse, write_release(tmp_path / "a" / "META"), SETTINGS)
    assert all(t.skipped_because_done for t in load_umls(warehouse, write_release(tmp_path / "b"), SETTINGS).tables)


def test_a_stopped_load_goes_on_with_the_next_file(
    warehouse: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_release(tmp_path / "META")
    real = kg_load._load_file

    def stop_at_mrsty(*arguments: object) -> list[LoadedFile]:
        file = arguments[2]
        assert isinstance(file, RrfFile)
        if file.name == "MRSTY":
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(kg_load, "_load_file", stop_at_mrsty)
    with pytest.raises(KeyboardInterrupt):
        load_umls(warehouse, folder, SETTINGS)
    monkeypatch.undo()
    report = load_umls(warehouse, folder, SETTINGS)
    assert [t.skipped_because_done for t in report.tables] == [True, True, False]


def test_a_table_that_a_newer_release_lacks_is_removed(warehouse: Connection, tmp_path: Path) -> None:
    first = write_release(tmp_path / "first")
    (first / "MRDEF.RRF").write_text(line("MRDEF", CUI="C0000001", DEF="a definition"))
    load_umls(warehouse, first, LoadSettings(skip_tables=()))
    assert one(warehouse, "select count(*) from umls.mrdef") == 1
    report = load_umls(warehouse, write_release(tmp_path / "second", concepts=100), SETTINGS)
    assert "umls.mrdef of an earlier load is removed: it is no part of this one" in report.warnings
    assert one(warehouse, "select count(*) from umls.mrdef") == 0
    assert one(warehouse, "select count(*) from ground.load where file = 'MRDEF.RRF'") == 0


def test_tables_can_be_skipped_but_not_the_required_ones(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    (folder / "MRDEF.RRF").write_text(line("MRDEF", CUI="C0000001", DEF="a definition"))
    (folder / "MRHIER.RRF").write_text(line("MRHIER", CUI="C0000001", AUI="A0000001", PTR="A1.A2"))
    assert not load_umls(warehouse, folder, LoadSettings(skip_tables=())).warnings[1:]
    assert one(warehouse, "select count(*) from umls.mrhier") == 1
    report = load_umls(warehouse, folder, SETTINGS)
    assert "MRDEF is left out by load.skip_tables" in report.warnings
    assert "MRHIER is left out by load.skip_tables" in report.warnings
    assert one(warehouse, "select count(*) from umls.mrhier") == 0
    assert one(warehouse, "select count(*) from umls.mrdef") == 0
    with pytest.raises(UsageError, match="mrrel, which is required"):
        load_umls(warehouse, folder, LoadSettings(skip_tables=("mrrel",)))


def test_rxnorm(warehouse: Connection, tmp_path: Path) -> None:
    folder = tmp_path / "RxNorm_full_09022025" / "rrf"
    folder.mkdir(parents=True)
    atom = line("RXNCONSO", RXCUI="29046", LAT="ENG", RXAUI="1", TTY="IN", STR="lisinopril")
    (folder / "RXNCONSO.RRF").write_text(atom)
    (folder / "RXNREL.RRF").write_text(line("RXNREL", RXCUI1="1", RXCUI2="2", RELA="has_ingredient", DIR="N", RG="7"))
    report = load_rxnorm(warehouse, folder.parent, SETTINGS)
    assert report.release == "09022025"
    assert report.missing_optional[:2] == ("RXNSAT.RRF", "RXNSTY.RRF")
    assert rows(warehouse, "select RXCUI, STR from rxnorm.rxnconso") == [("29046", "lisinopril")]
    assert rows(warehouse, "select DIR, RG from rxnorm.rxnrel") == [("N", "7")]
    assert one(warehouse, "select count(*) from rxnorm.rxnsat") == 0


@pytest.mark.real
@pytest.mark.parametrize("sample", ["rrf_samples/ncim_201604", "rrf_samples/umls_2016aa_ccs/META"])
def test_real_samples_load_row_for_row(warehouse: Connection, real_data: Path, sample: str) -> None:
    part = WHOLE.model_copy(update={"subset": "the first rows"})
    report = load_umls(warehouse, real_data / sample, part)
    assert report.release in ("201604, a subset: the first rows", "2016AA, a subset: the first rows")
    for loaded in report.tables:
        path = next((real_data / sample).rglob(loaded.file))
        raw = path.read_bytes()
        assert loaded.rows_read == raw.count(b"\n")
        assert loaded.rows_rejected == 0
        # Nothing is lost: the characters of the fields are those of the file without bars and line ends.
        fields = " + ".join(
            f'coalesce(length("{name}"), 0)'
            for (name,) in rows(warehouse, f"select column_name from (describe {loaded.table})")
        )
        text = raw.decode().replace("\r\n", "\n")
        left_out = (
            0
            if loaded.table != "umls.mrconso"
            else sum(len(row.replace("|", "")) for row in text.splitlines() if row.split("|")[1] != "ENG")
        )
        expected = len(text) - text.count("|") - text.count("\n") - left_out
        assert one(warehouse, f"select sum({fields}) from {loaded.table}") == expected


@pytest.mark.real
def test_open_meta_agrees_with_its_mrfiles(warehouse: Connection, real_data: Path) -> None:
    report = load_umls(warehouse, real_data / "open_meta" / "META", WHOLE)
    assert report.release == "OPENMETA"
    assert report.warnings == ()
    stated = rows(warehouse, "select lower(replace(FIL, '.RRF', '')), RWS::bigint from umls.mrfiles")
    for name, n in stated:
        assert one(warehouse, f"select count(*) from umls.{name}") == n


def test_a_folder_whose_name_reads_as_a_pattern_is_itself(warehouse: Connection, tmp_path: Path) -> None:
    write_release(tmp_path / "META2", concepts=3)
    load_umls(warehouse, write_release(tmp_path / "META[2]"), SETTINGS)
    assert one(warehouse, "select count(*) from umls.mrconso") == 200
