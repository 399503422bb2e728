"""Any text is read in memory as the stage reads notes: same mentions, same assertions, any offsets."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from ehr.notes import find_mentions, split_notes
from ehr.reading import TextReader
from ehr.spans import Assertion
from ground.errors import InputError
from ground.settings import NoteSettings, Settings
from ground.storage.warehouse import connect
from tests.ehr.test_lexicon import fill

NOTE = (
    "Chief Complaint:\nPneumonia\n \nPast Medical History:\nHTN, no COPD\n \nAllergies: metoprolol\n \n"
    "Brief Hospital Course:\nStarted on warfarin. No pneumonia on CT.\n"
)


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(tmp_path_factory.mktemp("named") / "warehouse.duckdb") as connection:
        fill(connection)
        yield connection


@pytest.fixture(scope="module")
def reader(named: duckdb.DuckDBPyConnection) -> TextReader:
    return TextReader.open(named)


def test_a_text_is_read_as_the_stage_reads_a_note(named: duckdb.DuckDBPyConnection, reader: TextReader) -> None:
    named.execute("create table mimiciv_note.discharge (note_id varchar, hadm_id bigint, text varchar)")
    named.execute("insert into mimiciv_note.discharge values ('1-DS-1', 1, ?)", [NOTE])
    split_notes(named, Settings())
    find_mentions(named, Settings())
    written = named.execute(
        "select begin_offset, end_offset, text, cuis, assertion, section from ground.mention order by 1"
    ).fetchall()
    reading = reader.read(NOTE)
    read = [(m.begin, m.end, m.text, list(m.cuis), m.assertion.value, m.section) for m in reading.mentions]
    assert read == written
    assert len(read) == 7


@pytest.mark.parametrize("headers", [True, False])
def test_texts_that_are_read_together_are_read_as_each_by_itself(reader: TextReader, *, headers: bool) -> None:
    texts = [NOTE, "", "No COPD", " \n", "Chronic Obstructive Pulmonary Disease (COPD). COPD and pneumonia?", NOTE] * 20
    together = reader.read_all(texts, headers=headers)
    assert together == [reader.read(text, headers=headers) for text in texts]
    assert [len(one.mentions) for one in together[:6]] == [7, 0, 1, 0, 4, 7]


def test_line_ends_of_windows_change_nothing_but_offsets(reader: TextReader) -> None:
    unix, windows = (reader.read(text) for text in (NOTE, NOTE.replace("\n", "\r\n")))
    assert [(m.text, m.cuis, m.assertion, m.section) for m in windows.mentions] == [
        (m.text, m.cuis, m.assertion, m.section) for m in unix.mentions
    ]
    assert len(unix.mentions) == 7


def test_marks_that_are_typed_in_another_way_change_nothing(reader: TextReader) -> None:
    plain = 'He doesn\'t have pneumonia - "COPD".'
    typed = plain.replace("'", "\u2019").replace("-", "\u2013").replace(' "', " \u201c").replace('".', "\u201d.")
    assert [(m.begin, m.text, m.assertion) for m in reader.read(typed).mentions] == [
        (m.begin, m.text, m.assertion) for m in reader.read(plain).mentions
    ]
    assert reader.read(plain).mentions[0].assertion is Assertion.ABSENT


def test_a_text_without_headers_is_one_section_whose_words_are_read_alike(reader: TextReader) -> None:
    reading = reader.read("Allergies: do I need warfarin for my hypertension?", headers=False)
    assert [section.section for section in reading.sections] == ["unknown"]
    assert [(m.text, m.kind, m.section) for m in reading.mentions] == [
        ("warfarin", "drug", "unknown"),
        ("hypertension", "disorder", "unknown"),
    ]
    with_headers = reader.read("Allergies: warfarin")
    assert with_headers.mentions[0].assertion is Assertion.ALLERGY


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\x00", "Größe 🙂 warfarin"])
def test_odd_texts_are_read_without_error(reader: TextReader, text: str) -> None:
    for headers in (True, False):
        reading = reader.read(text, headers=headers)
        assert all(text[m.begin : m.end] == m.text for m in reading.mentions)
        assert [m.text for m in reading.mentions] == (["warfarin"] if "warfarin" in text else [])


def test_a_heading_ends_where_its_line_does(reader: TextReader) -> None:
    text = "Brief Hospital Course:\nWell.\n\nACTIVE ISSUES\nPneumonia: improved.\n\nDischarge Diagnosis (final): COPD"
    assert [m.text for m in reader.read(text).mentions] == ["Pneumonia", "COPD"]


def test_misspellings_are_repaired_only_where_wanted(named: duckdb.DuckDBPyConnection, reader: TextReader) -> None:
    text = "started metopralol"
    assert [m.text for m in reader.read(text).mentions] == ["metopralol"]
    assert TextReader.open(named, NoteSettings(fuzzy=False)).read(text).mentions == ()


@pytest.mark.parametrize(
    ("text", "misspelled"),
    [("Takes metopralol.", [True]), ("Takes metopralol. Metoprolol was refilled.", [False, False])],
)
def test_a_misspelled_name_is_not_certain_by_itself(reader: TextReader, text: str, misspelled: list[bool]) -> None:
    assert ["misspelled" in mention.unsure for mention in reader.read(text).mentions] == misspelled


def test_a_reader_can_be_opened_while_a_result_of_the_caller_is_unread(named: duckdb.DuckDBPyConnection) -> None:
    unread = named.execute("select cui from kg.concept order by cui")
    first = unread.fetchone()
    TextReader.open(named)
    assert first == ("C1",)
    assert len(unread.fetchall()) == 12


def test_a_warehouse_without_names_says_what_to_do(warehouse: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(InputError, match="names are not in the warehouse"):
        TextReader.open(warehouse)
