"""Codes and names in one form: the dot of ICD codes, eleven digits of an NDC, plain names of drugs."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.concepts import DATA_FILES, define_macros
from ground.storage.tables import read_table


@pytest.fixture(scope="module")
def macros() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    define_macros(connection)
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("kind", "vocabulary", "bare", "dotted"),
    [
        ("diagnosis", "ICD9CM", "4019", "401.9"),
        ("diagnosis", "ICD9CM", "25000", "250.00"),
        ("diagnosis", "ICD9CM", "0010", "001.0"),
        ("diagnosis", "ICD9CM", "042", "042"),
        ("diagnosis", "ICD9CM", "V5867", "V58.67"),
        ("diagnosis", "ICD9CM", "E8497", "E849.7"),
        ("diagnosis", "ICD9CM", "E849", "E849"),
        ("diagnosis", "ICD10CM", "I10", "I10"),
        ("diagnosis", "ICD10CM", "Z6710", "Z67.10"),
        ("diagnosis", "ICD10CM", "E1122", "E11.22"),
        ("diagnosis", "ICD10CM", "T360X1A", "T36.0X1A"),
        ("procedure", "ICD9CM", "3961", "39.61"),
        ("procedure", "ICD9CM", "01", "01"),
        ("procedure", "ICD9CM", "0124", "01.24"),
        ("procedure", "ICD10PCS", "02HV33Z", "02HV33Z"),
    ],
)
def test_an_icd_code_gets_its_dot(
    macros: duckdb.DuckDBPyConnection, kind: str, vocabulary: str, bare: str, dotted: str
) -> None:
    row = macros.execute("select dotted_icd(?::varchar, ?::varchar, ?::varchar)", [kind, vocabulary, bare]).fetchone()
    assert row == (dotted,)


@pytest.mark.parametrize(
    ("raw", "ndc"),
    [
        ("00002821501", "00002821501"),
        (" 00002821501 ", "00002821501"),
        ("2821501", "00002821501"),
        ("2821501.0", "00002821501"),
        ("378459777", "00378459777"),
        ("0002-8215-01", "00002821501"),
        ("00002-821-01", "00002082101"),
        ("12345-6789-1", "12345678901"),
        ("12345-6789-12", "12345678912"),
        ("012345-6789-12", "12345678912"),
        ("00002-8215-*1", "00002821501"),
        ("*0002-8215-01", "00002821501"),
        ("012345678912", "12345678912"),
        ("00002-8215-**", None),
        ("0", None),
        ("", None),
        ("00000000000", None),
        ("0000-0000-00", None),
        ("123456", None),
        ("A2345678901", None),
        ("1234-5678", None),
        ("123456789012", None),
        (None, None),
    ],
)
def test_an_ndc_becomes_eleven_digits(macros: duckdb.DuckDBPyConnection, raw: str | None, ndc: str | None) -> None:
    assert macros.execute("select ndc11(?::varchar)", [raw]).fetchone() == (ndc,)


@given(labeler=st.integers(2, 99999), product=st.integers(0, 9999), package=st.integers(0, 99))
def test_every_writing_of_an_ndc_is_the_same_ndc(
    macros: duckdb.DuckDBPyConnection, labeler: int, product: int, package: int
) -> None:
    eleven = f"{labeler:05}{product:04}{package:02}"
    writings = [eleven, f"{labeler:05}-{product:04}-{package:02}", f"{labeler:06}-{product:04}-{package:02}"]
    writings += [str(int(eleven))]
    writings += [f"{labeler:04}-{product:04}-{package:02}"] if labeler < 10_000 else []
    writings += [f"{labeler:05}-{product:03}-{package:02}"] if product < 1_000 else []
    writings += [f"{labeler:05}-{product:04}-{package:01}"] if package < 10 else []
    rows = macros.execute("select distinct ndc11(raw) from (select unnest(?::varchar[]) as raw)", [writings]).fetchall()
    assert rows == [(eleven,)]


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("HYDROmorphone (Dilaudid)", "hydromorphone dilaudid"),
        ("Piperacillin / tazobactam", "piperacillin tazobactam"),
        ("  Neutra-Phos ", "neutra phos"),
        ("Café", "cafe"),
    ],
)
def test_a_name_becomes_plain(macros: duckdb.DuckDBPyConnection, raw: str, plain: str) -> None:
    assert macros.execute("select plain_name(?)", [raw]).fetchone() == (plain,)


def test_a_word_is_left_out_for_one_reason_only() -> None:
    path, columns = DATA_FILES["drug_word"]
    rows = [row for row in read_table(path, columns) if row["kind"] not in ("unit", "too_short")]
    words = [row["word"] for row in rows]
    assert sorted(words) == sorted(set(words))
    assert {row["kind"] for row in rows} == {"form", "route", "release", "container", "trailing", "salt", "short"}
    assert all((row["means"] != "") == (row["kind"] == "short") for row in rows)
    assert all(row["source"] for row in rows)
