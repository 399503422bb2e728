"""Malformed RRF: each kind of bad row is refused, counted, kept with its line, and never takes a good row with it."""

from __future__ import annotations

import gzip
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ground.errors import InputError
from ground.settings import LoadSettings
from ground.storage.loading import SourceFile
from kg.load import load_rxnorm, load_umls
from kg.release import documented, find_release
from kg.rrf import copy_good_rows
from tests.kg.rrf_files import columns_of, line, write_release

Connection = duckdb.DuckDBPyConnection
SETTINGS = LoadSettings(max_reject_share=0.5, subset="few rows of a test")
STRICT = LoadSettings(max_reject_share=0.01, subset="few rows of a test")

GOOD = line("MRSTY", CUI="C0000001", TUI="T047", STY="Disease or Syndrome").encode()
BAD = {
    "a field too many": (b"C0000009|T047|B2|Disease|AT1||more|\n", "7 fields instead of 6"),
    "many fields too many": (b"C0000009|T047|B2|Disease|AT1|||||||\n", "11 fields instead of 6"),
    "a field too few": (b"C0000009|T047|B2|Disease|AT1|\n", "5 fields instead of 6"),
    "one field": (b"C0000009\n", "1 fields instead of 6"),
    "no closing bar": (b"C0000009|T047|B2|Disease|AT1|256\n", "no | after the last field"),
    "latin-1": (b"C0000009|T047|B2|M\xe9ni\xe8re|AT1||\n", "byte 0xe9 at position 19 of the line is not UTF-8"),
    "carriage return": (b"C0000009|T047|B2|Dis\rease|AT1||\n", "a carriage return inside the line"),
    "very long": (b"C0000009|T047|B2|" + b"x" * 2_100_000 + b"|AT1||\n", "2100023 bytes in one line, at most 2000000"),
}


@pytest.mark.parametrize(
    ("kind", "gzipped"), [*((kind, False) for kind in BAD), ("latin-1", True), ("one field", True)]
)
def test_a_bad_row_is_refused_with_its_line_and_reason(
    warehouse: Connection, tmp_path: Path, kind: str, gzipped: bool
) -> None:
    folder = write_release(tmp_path / "META")
    raw, reason = BAD[kind]
    content = GOOD * 3 + raw + GOOD * 4 + raw + GOOD
    file = folder / "MRSTY.RRF"
    file.unlink()
    file = file.with_name("MRSTY.RRF.gz") if gzipped else file
    file.write_bytes(gzip.compress(content) if gzipped else content)
    report = load_umls(warehouse, folder, SETTINGS)
    assert (report.tables[-1].rows_read, report.tables[-1].rows_rejected) == (10, 2)
    assert warehouse.execute("select count(*) from umls.mrsty").fetchall() == [(8,)]
    kept = warehouse.execute("select source, file, line, reason, raw from ground.reject order by line").fetchall()
    assert [row[:3] for row in kept] == [("umls", file.name, 4), ("umls", file.name, 9)]
    assert kept[0][3].startswith(reason)
    assert kept[0][4].startswith("C0000009")
    assert any("2 malformed rows" in warning for warning in report.warnings)


def test_a_27_column_mrmap_row(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    good = line("MRMAP", MAPSETCUI="C1", FROMID="1", TOID="2")
    (folder / "MRMAP.RRF").write_text(good * 150 + good[:-1] + "extra|\n")
    report = load_umls(warehouse, folder, LoadSettings())
    assert [(t.rows_read, t.rows_rejected) for t in report.tables if t.table == "umls.mrmap"] == [(151, 1)]
    assert warehouse.execute("select line, reason from ground.reject").fetchall() == [(151, "27 fields instead of 26")]


def test_above_the_limit_the_file_fails_and_the_others_stay(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    (folder / "MRSTY.RRF").write_bytes(GOOD * 50 + BAD["a field too few"][0] + GOOD * 40)
    with pytest.raises(InputError) as caught:
        load_umls(warehouse, folder, STRICT)
    error = caught.value
    assert (error.file, error.line, error.found) == (str(folder / "MRSTY.RRF"), 51, "5 fields instead of 6")
    assert error.expected is not None
    assert "CUI,TUI,STN,STY,ATUI,CVF" in error.expected
    loaded = warehouse.execute("select file from ground.load order by file").fetchall()
    assert loaded == [("MRCONSO.RRF",), ("MRREL.RRF",)]
    assert warehouse.execute("select line from ground.reject").fetchall() == [(51,)]
    (folder / "MRSTY.RRF").write_bytes(GOOD)
    load_umls(warehouse, folder, STRICT)
    assert warehouse.execute("select count(*) from ground.reject").fetchall() == [(0,)]


@pytest.mark.parametrize("damage", ["cut in half", "checksum", "not gzip"])
def test_a_damaged_gzip_fails_alone(warehouse: Connection, tmp_path: Path, damage: str) -> None:
    folder = write_release(tmp_path / "META")
    packed = gzip.compress((folder / "MRSTY.RRF").read_bytes())
    (folder / "MRSTY.RRF").unlink()
    damaged = {
        "cut in half": packed[: len(packed) // 2],
        "checksum": packed[:-8] + bytes(4) + packed[-4:],
        "not gzip": b"C0000001|T047|\n",
    }
    (folder / "MRSTY.RRF.gz").write_bytes(damaged[damage])
    with pytest.raises(InputError, match="cut off or damaged") as caught:
        load_umls(warehouse, folder, LoadSettings())
    assert caught.value.file == str(folder / "MRSTY.RRF.gz")
    loaded = warehouse.execute("select file from ground.load order by file").fetchall()
    assert loaded == [("MRCONSO.RRF",), ("MRREL.RRF",)]


def test_a_damaged_description_is_an_error_too(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    (folder / "MRFILES.RRF.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    with pytest.raises(InputError, match="cut off or damaged"):
        load_umls(warehouse, folder, LoadSettings())


def test_blank_lines_and_mixed_line_ends_are_no_errors(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    (folder / "MRSTY.RRF").write_bytes(GOOD + b"\n" + GOOD.replace(b"\n", b"\r\n") + b"\r\n" + GOOD[:-1])
    report = load_umls(warehouse, folder, STRICT)
    assert (report.tables[-1].rows_read, report.tables[-1].rows_rejected) == (3, 0)
    assert warehouse.execute("select count(*), count(CVF) from umls.mrsty").fetchall() == [(3, 0)]


def test_a_blank_line_does_not_hide_fields_too_many_where_rows_are_chosen(
    warehouse: Connection, tmp_path: Path
) -> None:
    folder = write_release(tmp_path / "META")
    # DuckDB passes over both, and together they have the fields of two rows.
    crowded = line("MRCONSO", CUI="C9", LAT="SPA", AUI="A9", STR="dolor").rstrip("\n")
    crowded += "|" * crowded.count("|")
    with (folder / "MRCONSO.RRF").open("a", encoding="utf-8", newline="") as file:
        file.write(f"\n{crowded}\n")
    report = load_umls(warehouse, folder, SETTINGS)
    assert [(t.rows_read, t.rows_rejected) for t in report.tables if t.table == "umls.mrconso"] == [(201, 1)]
    assert warehouse.execute("select line, reason from ground.reject").fetchall() == [(202, "36 fields instead of 18")]
    assert warehouse.execute("from ground.drop").fetchall() == []


GAPS = {
    "a file without a row": ("MRREL", b"", "MRREL has no row"),
    "cut within a row": ("MRREL", b"C0000001||CUI|CHD|C00", "MRREL.RRF ends within a row, in line 1"),
    "types of another release": ("MRSTY", GOOD * 200, "MRSTY has semantic types of 1 of the 200 concepts of MRCONSO"),
    "fewer rows than stated": ("MRFILES", b"MRREL.RRF||%s|16|240|1|\n", "199 rows of MRREL"),
}


@pytest.mark.parametrize("gap", GAPS)
def test_a_part_of_a_release_is_refused_unless_the_settings_say_why(
    warehouse: Connection, tmp_path: Path, gap: str
) -> None:
    folder = write_release(tmp_path / "META")
    name, content, reason = GAPS[gap]
    columns = ",".join(columns_of("MRREL")).encode()
    (folder / f"{name}.RRF").write_bytes(content.replace(b"%s", columns))
    for _ in range(2):
        with pytest.raises(InputError, match="a part of the release is missing") as caught:
            load_umls(warehouse, folder, LoadSettings(max_reject_share=1))
        assert caught.value.found == reason
        assert caught.value.do is not None
        assert "subset =" in caught.value.do
    part = load_umls(warehouse, folder, LoadSettings(max_reject_share=1, subset="MeSH alone"))
    assert part.release == "release without a name, a subset: MeSH alone"
    named = "select distinct release from ground.load"
    assert warehouse.execute(named).fetchall() == [(part.release,)]
    write_release(folder)
    (folder / "MRFILES.RRF").unlink(missing_ok=True)
    assert load_umls(warehouse, folder, LoadSettings()).release is None
    assert warehouse.execute(named).fetchall() == [(None,)]


def test_rxnorm_without_relations_is_a_subset(warehouse: Connection, tmp_path: Path) -> None:
    atom = line("RXNCONSO", RXCUI="29046", LAT="ENG", RXAUI="1", TTY="IN", STR="lisinopril")
    (tmp_path / "RXNCONSO.RRF").write_text(atom)
    with pytest.raises(InputError, match="a part of the release is missing") as caught:
        load_rxnorm(warehouse, tmp_path, LoadSettings())
    assert caught.value.found == "there is no RXNREL.RRF"
    assert load_rxnorm(warehouse, tmp_path, SETTINGS).tables[0].rows_read == 1


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_header_line_is_a_malformed_row(warehouse: Connection, tmp_path: Path, place: str) -> None:
    folder = write_release(tmp_path / "META")
    for name in ("MRCONSO", "MRREL"):
        file = folder / f"{name}.RRF"
        header, rows = "|".join([*columns_of(name), ""]) + "\n", file.read_text()
        file.write_text(header + rows if place == "first" else rows + header)
    report = load_umls(warehouse, folder, LoadSettings())
    assert [(table.rows_read, table.rows_rejected) for table in report.tables] == [(201, 1), (200, 1), (200, 0)]
    assert warehouse.execute("select line, reason from ground.reject order by file").fetchall() == [
        (1 if place == "first" else 201, "CUI is none"),
        (1 if place == "first" else 200, "CUI1 is none"),
    ]
    assert warehouse.execute("select count(*) from umls.mrconso where cui = 'CUI'").fetchall() == [(0,)]
    assert warehouse.execute("from ground.drop").fetchall() == []
    with (folder / "MRSTY.RRF").open("a") as types:
        types.write("|".join([*columns_of("MRSTY"), ""]) + "\n")
    with pytest.raises(InputError, match="too much is malformed: 1 of 201") as caught:
        load_umls(warehouse, folder, LoadSettings(max_reject_share=0))
    assert caught.value.line == 201


def test_no_scratch_file_is_left(warehouse: Connection, tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    (folder / "MRSTY.RRF").write_bytes(GOOD * 9 + BAD["latin-1"][0])
    load_umls(warehouse, folder, SETTINGS)
    scratch = tmp_path / "cache" / "duckdb"
    assert list(scratch.glob("rrf_*")) == []


LINES = st.lists(
    st.sampled_from([GOOD, *(raw for kind, (raw, _) in BAD.items() if kind != "very long"), b"\n", b"\r\n"]),
    max_size=30,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES, cuts=st.lists(st.integers(0, 2000), max_size=3))
def test_pieces_say_the_same_as_the_whole(tmp_path: Path, lines: list[bytes], cuts: list[int]) -> None:
    types = next(file for file in documented("umls") if file.name == "MRSTY")
    content = b"".join(lines)
    bounds = sorted({0, len(content), *(min(cut, len(content)) for cut in cuts)})
    files = []
    for number, (begin, end) in enumerate(pairwise(bounds)):
        path = tmp_path / f"piece{number}"
        path.write_bytes(content[begin:end])
        files.append(SourceFile(path.name, path))
    target = tmp_path / "copy"
    with target.open("wb") as out:
        rows, rejects = copy_good_rows(replace(types, pieces=tuple(files)), out, 1000)
    good = [row for row in lines if row == GOOD]
    blank = [row for row in lines if not row.strip()]
    assert target.read_bytes() == b"".join(good)
    assert sum(rows) == len(lines) - len(blank)
    assert len(rejects) == len(lines) - len(blank) - len(good)
    # A reject's line, counted from its own piece, is where the row begins in the whole.
    starts = {file.name: content[:begin].count(b"\n") for file, begin in zip(files, bounds, strict=False)}
    expected = [number for number, row in enumerate(lines, 1) if row != GOOD and row.strip()]
    assert [starts[reject.file] + reject.line for reject in rejects] == expected


@pytest.mark.parametrize("missing", ["aa", "ab"])
def test_a_missing_piece_is_an_error(tmp_path: Path, missing: str) -> None:
    folder = write_release(tmp_path / "META")
    for part in ("aa", "ab", "ac"):
        if part != missing:
            (folder / f"MRREL.RRF.{part}").write_bytes((folder / "MRREL.RRF").read_bytes())
    (folder / "MRREL.RRF").unlink()
    with pytest.raises(InputError, match="piece"):
        find_release("umls", folder)


def test_a_link_to_nothing_and_a_folder_are_no_files(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "META")
    (folder / "MRDEF.RRF").symlink_to(tmp_path / "gone")
    with pytest.raises(InputError, match=r"MRDEF\.RRF"):
        find_release("umls", folder)
    (folder / "MRDEF.RRF").unlink()
    (folder / "MRDEF.RRF").mkdir()
    with pytest.raises(InputError, match=r"MRDEF\.RRF"):
        find_release("umls", folder)


def test_a_release_without_a_name_in_a_wanted_language_is_an_error(
    warehouse: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    folder = write_release(tmp_path / "META")
    conso = folder / "MRCONSO.RRF"
    conso.write_text(conso.read_text().replace("|ENG|", "|SPA|"))
    for _ in range(2):
        with pytest.raises(InputError, match="language"):
            load_umls(warehouse, folder, LoadSettings())


@pytest.mark.parametrize("pieces", [False, True])
def test_an_atom_twice_is_refused_with_its_line(warehouse: Connection, tmp_path: Path, pieces: bool) -> None:
    again = line("MRCONSO", CUI="C0000007", LAT="ENG", AUI="A0000007", STR="another name", SUPPRESS="N")
    folder = write_release(tmp_path / "META", extra=[again])
    conso = folder / "MRCONSO.RRF"
    if pieces:
        content = conso.read_bytes()
        conso.with_suffix(".RRF.aa").write_bytes(content[:1000])
        conso.with_suffix(".RRF.ab").write_bytes(content[1000:])
        conso.unlink()
    with pytest.raises(InputError, match="a key is empty or occurs twice: AUI") as caught:
        load_umls(warehouse, folder, SETTINGS)
    last = folder / ("MRCONSO.RRF.ab" if pieces else "MRCONSO.RRF")
    assert caught.value.file == str(last)
    assert caught.value.line == last.read_text().splitlines().index(again.rstrip("\n")) + 1
    assert warehouse.execute("select count(*) from ground.load").fetchall() == [(0,)]
