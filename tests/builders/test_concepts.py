"""The code map on a handful of codes whose concepts are known."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from builders.concepts import map_codes
from ground.errors import InputError
from ground.storage.warehouse import connect
from tests.builders.concept_world import build_ontology, build_records, build_rxnorm

Row = tuple[str, str, int]
LONG = "24 HR metoprolol succinate 25 MG Extended Release Oral Tablet"


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = connect(tmp_path_factory.mktemp("mapped") / "warehouse.duckdb")
    build_ontology(connection)
    build_rxnorm(connection)
    build_records(connection)
    map_codes(connection)
    yield connection
    connection.close()


def candidates(connection: duckdb.DuckDBPyConnection, source: str, code: str, version: int | None = None) -> list[Row]:
    return connection.execute(
        "select cui, method, n_candidates from ground.code_map"
        " where source = ? and code = ? and code_version is not distinct from ? order by cui",
        [source, code, version],
    ).fetchall()


@pytest.mark.parametrize(
    ("code", "version", "expected"),
    [
        ("4019", 9, [("C0000001", "exact", 1)]),
        ("I10", 10, [("C0000001", "exact", 1)]),
        ("25000", 9, [("C0000002", "parent_code", 1)]),
        ("E8497", 9, [("C0000003", "parent_code", 1)]),
        ("0010", 9, [("C0000007", "exact", 1)]),
        ("010", 9, [("C0000008", "exact", 1)]),
        ("3961", 9, [("C0000011", "exact", 1)]),
        ("K219", 10, [("C0000005", "map", 1)]),
        ("E1122", 10, [("C0000002", "map", 1)]),
        ("V5867", 9, [("C0000022", "map", 1)]),
        ("Z794", 10, [("C0000022", "map", 1)]),
        ("04111", 9, [("C0000020", "map", 1)]),
        ("F419", 10, []),
        ("ZZZ99", 10, []),
    ],
)
def test_a_diagnosis_code_gets_the_candidates_of_its_best_way(
    mapped: duckdb.DuckDBPyConnection, code: str, version: int, expected: list[Row]
) -> None:
    assert candidates(mapped, "diagnoses_icd", code, version) == expected


@pytest.mark.parametrize(
    ("code", "version", "expected"),
    [
        ("3961", 9, [("C0000010", "exact", 1)]),
        ("02HV33Z", 10, [("C0000012", "exact", 1)]),
        ("0BH17EZ", 10, [("C0000013", "parent_code", 1)]),
    ],
)
def test_a_procedure_code_is_no_diagnosis_code(
    mapped: duckdb.DuckDBPyConnection, code: str, version: int, expected: list[Row]
) -> None:
    assert candidates(mapped, "procedures_icd", code, version) == expected


@pytest.mark.parametrize(
    ("drug", "expected"),
    [
        ("Metoprolol", [("C0000030", "drug_name", 1)]),
        ("Metoprolol Succinate XL", [("C0000031", "drug_name_loose", 1)]),
        ("HYDROmorphone (Dilaudid)", [("C0000035", "drug_name_loose", 1)]),
        ("0.9% Sodium Chloride", [("C0000037", "drug_name_loose", 1)]),
        ("Acetaminophen IV", [("C0000038", "drug_name_loose", 1)]),
        ("Oxycodone-Acetaminophen (5mg-325mg)", [("C0000040", "drug_name_loose", 1)]),
        (
            "Amoxicillin-Clavulanic Acid",
            [("C0000042", "drug_name_loose", 2), ("C0000043", "drug_name_loose", 2)],
        ),
        ("Bag", []),
    ],
)
def test_a_drug_is_found_by_its_name(mapped: duckdb.DuckDBPyConnection, drug: str, expected: list[Row]) -> None:
    assert candidates(mapped, "prescriptions_drug", drug) == expected


LOOSE_NAMES = {
    "Heparin Flush (10 units/ml)": ["C0000046"],
    "*NF* Dextrose 50%": ["C0000044"],
    "D5NS": ["C0000037", "C0000044"],
    "Toprol XL": ["C0000032"],
    "metoprolol succ. 25mg": ["C0000031"],
    "Syringe (0.9% Sodium Chloride)": ["C0000037"],
    "Heparin Sodium (Porcine) 25,000 units/250 mL in D5W": ["C0000046"],
    "Acetaminophen w/Oxycodone": ["C0000040"],
    "Click Change <--- to Choose a Base Solution": [],
    "Amoxicillin XR/Clavulanic Acid DS": ["C0000042", "C0000043"],
    "Sodium Chl 20 mEq / 1000 mL D5W": ["C0000037"],
    "Sodium Something": [],
    "Vial": [],
}


def test_loose_names_in_the_ways_of_order_entry(warehouse: duckdb.DuckDBPyConnection) -> None:
    build_ontology(warehouse)
    build_records(warehouse)
    warehouse.execute("delete from mimiciv_hosp.prescriptions")
    warehouse.executemany(
        "insert into mimiciv_hosp.prescriptions values (1, ?, '0', null)", [[drug] for drug in LOOSE_NAMES]
    )
    map_codes(warehouse)
    found = {drug: [row[0] for row in candidates(warehouse, "prescriptions_drug", drug)] for drug in LOOSE_NAMES}
    assert found == LOOSE_NAMES


def test_an_ndc_leads_to_its_product_and_else_to_ingredients(mapped: duckdb.DuckDBPyConnection) -> None:
    assert candidates(mapped, "prescriptions_ndc", "378459777") == [("C0000033", "ndc_rxcui", 1)]
    assert candidates(mapped, "prescriptions_ndc", "99999-0999-99") == [("C0000036", "ndc_rxcui", 1)]
    # RXCUI 777 has no concept: its ingredient stands for it.
    assert candidates(mapped, "prescriptions_ndc", "12345678901") == [("C0000030", "ndc_ingredient", 1)]
    # The list names sodium chloride and oxygen; an order's name says which.
    assert candidates(mapped, "prescriptions_ndc", "00338004902") == [("C0000037", "ndc_ingredient", 1)]
    assert candidates(mapped, "prescriptions_ndc", "0") == []


def test_drugs_lead_to_their_ingredients_and_no_further(mapped: duckdb.DuckDBPyConnection) -> None:
    rows = mapped.execute("select cui, ingredient_cui from ground.drug_ingredient order by all").fetchall()
    ingredients = {cui: sorted(right for left, right in rows if left == cui) for cui, _ in rows}
    assert ingredients["C0000033"] == ["C0000030"]
    assert ingredients["C0000031"] == ["C0000030"]
    assert ingredients["C0000040"] == ["C0000038", "C0000039"]
    assert ingredients["C0000030"] == ["C0000030"]


def test_an_admission_has_its_concepts_once_with_their_first_time(mapped: duckdb.DuckDBPyConnection) -> None:
    rows = mapped.execute(
        "select cui, kind, strftime(first_time, '%Y-%m-%d %H') from ground.admission_concept where hadm_id = 1"
        " and cui in ('C0000001', 'C0000010', 'C0000030', 'C0000037') order by all"
    ).fetchall()
    assert rows == [
        ("C0000001", "diagnosis", "2150-01-01 00"),
        ("C0000010", "procedure", "2150-01-05 00"),
        ("C0000030", "ingredient", "2150-01-02 08"),
        ("C0000037", "drug", "2150-01-01 09"),
        ("C0000037", "ingredient", "2150-01-01 09"),
    ]
    # An order without a time counts from the admission on.
    without = mapped.execute(
        "select distinct first_time::date::varchar from ground.admission_concept where cui = 'C0000042'"
    ).fetchall()
    assert without == [("2151-03-01",)]


def test_the_report_counts_rows_and_says_what_is_missing(warehouse: duckdb.DuckDBPyConnection) -> None:
    build_ontology(warehouse)
    build_records(warehouse)
    report = map_codes(warehouse)
    assert report.share("diagnoses_icd") == 12 / 14
    assert report.share("procedures_icd") == 1.0
    assert report.share("prescriptions") == 7 / 8
    assert sum(count.rows for count in report.counts if count.source == "diagnoses_icd") == 14
    assert report.n_ambiguous == 1
    assert report.as_dict()["n_ambiguous"] == 1
    dropped = dict(warehouse.execute("select reason, n from ground.drop where stage = 'concepts'").fetchall())
    assert dropped["rows of diagnoses_icd whose code has no concept"] == 2


def test_an_unmapped_code_says_why_and_what_comes_nearest(warehouse: duckdb.DuckDBPyConnection) -> None:
    build_ontology(warehouse)
    build_rxnorm(warehouse)
    build_records(warehouse)
    atoms = "insert into umls.mrconso (cui, lat, sab, tty, code, str, suppress) values "
    warehouse.execute(
        f"{atoms} ('C0000050', 'ENG', 'ICD10', 'PT', 'U07.1', 'COVID', 'N'),"
        " ('C0000051', 'GER', 'ICD10', 'PT', 'U07.2', 'Virus nicht nachgewiesen', 'N'),"
        " ('C0000052', 'ENG', 'ICD10', 'PT', 'U07.3', 'Withdrawn', 'Y'),"
        " ('C0000053', 'ENG', 'MSH', 'MH', 'D1', 'Syringe', 'N'),"
        " ('C0000054', 'ENG', 'MTH', 'PN', 'NOCODE', 'Anxiety disorder', 'N'),"
        " ('C0000054', 'ENG', 'MTH', 'PN', 'NOCODE', 'Disorder of anxiety, unspecified', 'N')"
    )
    codes = "(1, 'U071', 10), (1, 'U072', 10), (1, 'U073', 10)"
    warehouse.execute(f"insert into mimiciv_hosp.diagnoses_icd values {codes}")
    warehouse.execute(
        "create table mimiciv_hosp.d_icd_diagnoses (icd_code varchar, icd_version int, long_title varchar)"
    )
    warehouse.execute("insert into mimiciv_hosp.d_icd_diagnoses values ('F419', 10, 'Anxiety disorder, unspecified')")
    # Another package of the product 00378-4597, a withdrawn product, and a code that nothing is known of but its order.
    warehouse.execute(
        "insert into mimiciv_hosp.prescriptions (hadm_id, drug, ndc) values (1, 'Syringe', '00378459701'),"
        " (1, 'Oddmycin', '55555444433'), (1, 'Metoprolol', '11111222233')"
    )
    warehouse.execute("insert into rxnorm.rxnsat (rxcui, atn, sab, atv) values ('77', 'NDC', 'RXNORM', '55555444433')")
    map_codes(warehouse)
    told = warehouse.execute("select code, reason, candidates, n_rows from ground.unmapped_code").fetchall()
    by_code = {code: (reason, candidates, n) for code, reason, candidates, n in told}
    form, no_code = "in the release in another form", "no such code"
    assert by_code["U071"] == (form, ["C0000050 COVID"], 1)
    assert by_code["U072"][0] == "no English name in the release"
    assert by_code["U073"][0] == "suppressed in the release"
    assert (by_code["00378459701"][0], by_code["00378459701"][1][0]) == (form, f"C0000033 {LONG}")
    assert by_code["55555444433"][0] == "suppressed in the release"
    assert by_code["11111222233"] == (no_code, ["C0000030 Metoprolol", "C0000031 metoprolol succinate"], 1)
    assert by_code["Syringe"] == ("semantic type not wanted", ["C0000053 Syringe"], 1)
    assert by_code["Oddmycin"] == ("no drug of this name", [], 1)
    assert by_code["F419"] == (no_code, ["C0000054 Anxiety disorder"], 1)
    assert by_code["ZZZ99"] == (no_code, [], 1)
    assert "I10" not in by_code
    assert "0" not in by_code


def test_codes_that_lost_their_leading_zeros_are_filled_up_or_left_out(warehouse: duckdb.DuckDBPyConnection) -> None:
    build_ontology(warehouse)
    build_records(warehouse)
    atoms = [("C0000060", "038.49"), ("C0000061", "038.9"), ("C0000062", "389")]
    warehouse.executemany(
        "insert into umls.mrconso by name select ? as cui, 'ENG' as lat, 'ICD9CM' as sab, 'PT' as tty, ? as code, "
        "'name' as str, 'N' as suppress",
        atoms,
    )
    warehouse.execute("insert into mimiciv_hosp.diagnoses_icd values (1, '3849', 9), (1, '389', 9)")
    map_codes(warehouse)
    assert candidates(warehouse, "diagnoses_icd", "389", 9) == [("C0000062", "exact", 1)]
    warehouse.execute("delete from mimiciv_hosp.diagnoses_icd where icd_code like '0%'")
    warehouse.execute("delete from mimiciv_hosp.prescriptions where ndc like '00%'")
    map_codes(warehouse)
    assert candidates(warehouse, "diagnoses_icd", "3849", 9) == [("C0000060", "exact", 1)]
    assert candidates(warehouse, "diagnoses_icd", "389", 9) == []
    assert candidates(warehouse, "diagnoses_icd", "25000", 9) == [("C0000002", "parent_code", 1)]
    reason = "select reason from ground.unmapped_code where code = '389'"
    assert warehouse.execute(reason).fetchall() == [("leading zeros are lost: several codes",)]
    lost = "select reason, n from ground.drop where stage = 'concepts' and reason like '%zeros%' order by all"
    assert warehouse.execute(lost).fetchall() == [
        ("rows of diagnoses_icd whose code lost its leading zeros: it may be several codes and has no concept", 1),
        ("rows of diagnoses_icd whose code lost its leading zeros: they are filled up", 1),
        ("rows of prescriptions_ndc whose code lost its leading zeros: they are filled up", 1),
    ]


def test_a_second_run_gives_the_same_rows(mapped: duckdb.DuckDBPyConnection) -> None:
    tables = (
        "ground.code_map",
        "ground.unmapped_code",
        "ground.drug_ingredient",
        "ground.admission_concept",
        "ground.drop",
    )
    before = [mapped.execute(f"select * from {table}").fetchall() for table in tables]
    map_codes(mapped)
    assert [mapped.execute(f"select * from {table}").fetchall() for table in tables] == before


def test_only_the_three_tables_are_left_behind(mapped: duckdb.DuckDBPyConnection) -> None:
    rows = mapped.execute("select table_name from duckdb_tables() where temporary").fetchall()
    views = mapped.execute("select view_name from duckdb_views() where temporary and not internal").fetchall()
    assert (rows, views) == ([], [])


def test_it_works_without_maps_attributes_and_relations(warehouse: duckdb.DuckDBPyConnection) -> None:
    build_ontology(warehouse)
    build_records(warehouse)
    for table in ("mrmap", "mrsat", "mrrel"):
        warehouse.execute(f"drop table umls.{table}")
    report = map_codes(warehouse)
    assert candidates(warehouse, "diagnoses_icd", "K219", 10) == [("C0000006", "parent_code", 1)]
    assert report.share("diagnoses_icd") == 8 / 14


def test_a_map_to_snomed_is_followed_by_identifier_and_by_concept(warehouse: duckdb.DuckDBPyConnection) -> None:
    build_ontology(warehouse)
    build_records(warehouse)
    warehouse.execute("update umls.mrconso set scui = code where sab = 'SNOMEDCT_US'")
    columns = "mapsetcui, mapsetsab, fromexpr, fromtype, rel, rela, toexpr, totype"
    warehouse.executemany(
        f"insert into umls.mrmap ({columns}) values ('C0000092', 'SNOMEDCT_US', ?, ?, ?, 'mapped_to', ?, ?)",
        [
            ["F41.9", "CODE", "SY", "111", "SCUI"],
            ["K21.9", "SDUI", "SY", "C0000006", "CUI"],
            ["ZZZ.99", "CODE", "XR", "111", "SCUI"],
        ],
    )
    warehouse.execute(
        "insert into umls.mrsat (cui, atn, atv) values"
        " ('C0000092', 'FROMRSAB', 'ICD10CM'), ('C0000092', 'TORSAB', 'SNOMEDCT_US')"
    )
    map_codes(warehouse)
    assert candidates(warehouse, "diagnoses_icd", "F419", 10) == [("C0000024", "map", 1)]
    assert candidates(warehouse, "diagnoses_icd", "K219", 10) == [("C0000005", "map", 2), ("C0000006", "map", 2)]
    assert candidates(warehouse, "diagnoses_icd", "ZZZ99", 10) == []


def test_a_missing_ontology_is_an_input_error_and_changes_nothing(warehouse: duckdb.DuckDBPyConnection) -> None:
    build_records(warehouse)
    with pytest.raises(InputError, match=r"release\.mrconso"):
        map_codes(warehouse)
    build_ontology(warehouse)
    warehouse.execute("delete from umls.mrconso")
    with pytest.raises(InputError, match="no names"):
        map_codes(warehouse)
    tables = warehouse.execute("select table_name from duckdb_tables() where table_name = 'code_map'").fetchall()
    assert tables == []


def test_no_records_give_an_empty_map(warehouse: duckdb.DuckDBPyConnection) -> None:
    build_ontology(warehouse)
    build_records(warehouse)
    for table in ("diagnoses_icd", "procedures_icd", "prescriptions"):
        warehouse.execute(f"delete from mimiciv_hosp.{table}")
    report = map_codes(warehouse)
    assert (report.admission_concepts, report.n_ambiguous, report.counts) == (0, 0, ())
