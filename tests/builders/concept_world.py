"""A handful of codes, drugs and concepts in tables, for the tests of the code map and of the queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import duckdb

__all__ = ["build_ontology", "build_records", "build_rxnorm", "fill"]

MRCONSO = ["cui", "lat", "ts", "stt", "ispref", "aui", "scui", "sdui", "sab", "tty", "code", "str", "suppress"]
MRMAP = [
    "mapsetcui",
    "mapsetsab",
    "fromexpr",
    "fromtype",
    "rel",
    "rela",
    "toexpr",
    "totype",
    "maptype",
    "mapatn",
    "mapatv",
]
MRSAT = ["cui", "stype", "code", "atn", "sab", "atv", "suppress"]
MRREL = ["cui1", "cui2", "rela", "sab", "suppress"]

# CUI, vocabulary, term type, code, name: what the ICD codes of the world mean.
ICD = [
    ("C0000001", "ICD9CM", "PT", "401.9", "Unspecified essential hypertension"),
    ("C0000001", "ICD10CM", "PT", "I10", "Essential (primary) hypertension"),
    ("C0000099", "ICD9CM", "ET", "401.9", "Hypertensive vascular disease"),
    ("C0000002", "ICD9CM", "HT", "250", "Diabetes mellitus"),
    ("C0000003", "ICD9CM", "HT", "E849", "Place of occurrence"),
    ("C0000005", "ICD9CM", "PT", "530.81", "Esophageal reflux"),
    ("C0000006", "ICD10CM", "HT", "K21", "Reflux disease"),
    ("C0000007", "ICD9CM", "PT", "001.0", "Cholera due to vibrio cholerae"),
    ("C0000008", "ICD9CM", "HT", "010", "Primary tuberculous infection"),
    ("C0000010", "ICD9CM", "PT", "39.61", "Extracorporeal circulation"),
    ("C0000011", "ICD9CM", "PT", "396.1", "Mitral stenosis and aortic insufficiency"),
    ("C0000012", "ICD10PCS", "PT", "02HV33Z", "Insertion of infusion device into superior vena cava"),
    ("C0000013", "ICD10PCS", "HT", "0BH", "Respiratory system, insertion"),
    ("C0000020", "CCS", "SD", "3", "Bacterial infection"),
    ("C0000021", "CCS", "MD", "3", "Endocrine diseases"),
    ("C0000022", "CCS", "SD", "257", "Other aftercare"),
    ("C0000023", "CCS", "SP", "257", "Some procedure"),
    ("C0000024", "SNOMEDCT_US", "PT", "111", "Anxiety"),
]

# CUI, term type, RXCUI, name.
DRUGS = [
    ("C0000030", "IN", "6918", "Metoprolol"),
    ("C0000031", "PIN", "221124", "metoprolol succinate"),
    ("C0000032", "BN", "865575", "Toprol"),
    ("C0000033", "SCD", "866427", "24 HR metoprolol succinate 25 MG Extended Release Oral Tablet"),
    ("C0000034", "SCDC", "866426", "metoprolol succinate 25 MG"),
    ("C0000035", "IN", "3423", "Hydromorphone"),
    ("C0000036", "BN", "224913", "Dilaudid"),
    ("C0000037", "IN", "9863", "Sodium Chloride"),
    ("C0000038", "IN", "161", "Acetaminophen"),
    ("C0000039", "IN", "7804", "Oxycodone"),
    ("C0000040", "MIN", "214183", "Acetaminophen / Oxycodone"),
    ("C0000041", "DF", "316949", "Bag"),
    ("C0000042", "IN", "723", "Amoxicillin"),
    ("C0000043", "IN", "1850", "Clavulanic Acid"),
    ("C0000044", "IN", "4850", "Glucose"),
    ("C0000045", "IN", "7806", "Oxygen"),
    ("C0000046", "IN", "5224", "Heparin"),
]

# What stands left, relation, what stands right, as MRREL means it: CUI2 RELA CUI1.
DRUG_RELATIONS = [
    ("C0000031", "form_of", "C0000030"),
    ("C0000032", "tradename_of", "C0000030"),
    ("C0000033", "consists_of", "C0000034"),
    ("C0000034", "has_precise_ingredient", "C0000031"),
    ("C0000036", "tradename_of", "C0000035"),
    ("C0000040", "has_part", "C0000038"),
    ("C0000040", "has_part", "C0000039"),
]

MAPS = [
    {"mapsetsab": "ICD10CM", "fromexpr": "K21.9", "toexpr": "530.81", "rel": "SY", "rela": "mapped_to", "mapatn": "APPROXIMATE", "mapatv": "0"},  # noqa: E501
    {"mapsetsab": "ICD10CM", "fromexpr": "E11.22", "toexpr": "250.40", "rel": "RQ", "rela": "mapped_to", "mapatn": "APPROXIMATE", "mapatv": "1"},  # noqa: E501
    {"mapsetsab": "ICD10CM", "fromexpr": "I10", "toexpr": "401.9", "rel": "SY", "rela": "mapped_to", "mapatn": "APPROXIMATE", "mapatv": "0"},  # noqa: E501
    {"mapsetsab": "ICD10CM", "fromexpr": "Z79.4", "toexpr": "V58.67", "rel": "SY", "rela": "mapped_to", "mapatn": "APPROXIMATE", "mapatv": "0"},  # noqa: E501
    {"mapsetcui": "C0000090", "mapsetsab": "CCS", "fromexpr": "V58.67", "toexpr": "257", "rel": "RQ", "rela": "classified_as"},  # noqa: E501
    {"mapsetcui": "C0000090", "mapsetsab": "CCS", "fromexpr": "041.11", "toexpr": "3", "rel": "RQ", "rela": "classified_as"},  # noqa: E501
    {"mapsetcui": "C0000091", "mapsetsab": "SNOMEDCT_US", "fromexpr": "111", "toexpr": "F41.9", "rel": "RO", "rela": "mapped_to"},  # noqa: E501
]  # fmt: skip

ATTRIBUTES = [
    {"cui": "C0000090", "stype": "CUI", "atn": "FROMRSAB", "sab": "CCS", "atv": "ICD9CM"},
    {"cui": "C0000090", "stype": "CUI", "atn": "TORSAB", "sab": "CCS", "atv": "CCS"},
    {"cui": "C0000091", "stype": "CUI", "atn": "FROMRSAB", "sab": "SNOMEDCT_US", "atv": "SNOMEDCT_US"},
    {"cui": "C0000091", "stype": "CUI", "atn": "TORSAB", "sab": "SNOMEDCT_US", "atv": "ICD10CM"},
    {"cui": "C0000020", "stype": "AUI", "code": "3", "atn": "CCI", "sab": "CCS", "atv": "041.11"},
    {"cui": "C0000033", "stype": "AUI", "code": "866427", "atn": "NDC", "sab": "RXNORM", "atv": "00378459777"},
    {"cui": "C0000037", "stype": "CUI", "atn": "NDC", "sab": "RXNORM", "atv": "00338004902"},
    {"cui": "C0000045", "stype": "CUI", "atn": "NDC", "sab": "RXNORM", "atv": "00338004902"},
]

DIAGNOSES = [
    (1, "4019", 9),
    (1, "25000", 9),
    (1, "E8497", 9),
    (1, "0010", 9),
    (1, "010", 9),
    (1, "3961", 9),
    (1, "04111", 9),
    (1, "V5867", 9),
    (2, "I10", 10),
    (2, "K219", 10),
    (2, "E1122", 10),
    (2, "Z794", 10),
    (2, "F419", 10),
    (2, "ZZZ99", 10),
]

PROCEDURES = [(1, "3961", 9), (2, "02HV33Z", 10), (2, "0BH17EZ", 10)]

PRESCRIPTIONS = [
    (1, "Metoprolol Succinate XL", "378459777", "2150-01-02 08:00:00"),
    (1, "HYDROmorphone (Dilaudid)", "0", "2150-01-03 08:00:00"),
    (1, "0.9% Sodium Chloride", "00338004902", "2150-01-01 09:00:00"),
    (1, "Bag", "", "2150-01-01 09:00:00"),
    (2, "Oxycodone-Acetaminophen (5mg-325mg)", None, "2151-03-02 10:00:00"),
    (2, "Amoxicillin-Clavulanic Acid", "12345678901", None),
    (2, "Acetaminophen IV", "00338004902", "2151-03-02 09:00:00"),
    (2, "Metoprolol", "99999-0999-99", "2151-03-04 09:00:00"),
]


def fill(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str], rows: Iterable[Mapping[str, object]]
) -> None:
    """Create a table of text columns and fill it; a column that a row does not name is null."""
    connection.execute(f"create or replace table {table} ({', '.join(f'{column} varchar' for column in columns)})")
    values = [[row.get(column) for column in columns] for row in rows]
    if values:
        connection.executemany(f"insert into {table} values ({', '.join('?' for _ in columns)})", values)


def build_ontology(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill ``umls.mrconso``, ``mrsty``, ``mrmap``, ``mrsat`` and ``mrrel``."""
    atoms = [
        {"cui": cui, "sab": sab, "tty": tty, "code": code, "str": name}
        for cui, sab, tty, code, name in [*ICD, *((cui, "RXNORM", tty, code, name) for cui, tty, code, name in DRUGS)]
    ]
    common = {"lat": "ENG", "ts": "P", "stt": "PF", "ispref": "Y", "suppress": "N"}
    fill(connection, "umls.mrconso", MRCONSO, [common | atom for atom in atoms])
    procedures = ("C0000010", "C0000012", "C0000013", "C0000023")
    types = [{"cui": cui, "tui": "T061" if cui in procedures else "T047"} for cui, *_ in ICD]
    fill(connection, "umls.mrsty", ["cui", "tui"], [*types, *({"cui": cui, "tui": "T121"} for cui, *_ in DRUGS)])
    fill(connection, "umls.mrmap", MRMAP, [{"fromtype": "CODE", "totype": "CODE"} | row for row in MAPS])
    fill(connection, "umls.mrsat", MRSAT, [{"suppress": "N"} | row for row in ATTRIBUTES])
    relations = [{"cui2": left, "rela": rela, "cui1": right, "sab": "RXNORM"} for left, rela, right in DRUG_RELATIONS]
    # One step from an ingredient must not be taken: it is the end of the way.
    relations.append({"cui2": "C0000030", "rela": "isa", "cui1": "C0000046", "sab": "RXNORM"})
    fill(connection, "umls.mrrel", MRREL, relations)


def build_rxnorm(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill ``rxnorm.*`` with one product that the ontology does not know, and with NDCs in other writings."""
    atoms = [{"rxcui": "777", "sab": "RXNORM", "tty": "SCD", "str": "Novel tablet", "suppress": "N"}]
    known = [{"rxcui": code, "sab": "RXNORM", "tty": tty, "str": name, "suppress": "N"} for _, tty, code, name in DRUGS]
    fill(connection, "rxnorm.rxnconso", ["rxcui", "sab", "tty", "str", "suppress"], [*atoms, *known])
    relations = [{"rxcui2": "777", "rela": "consists_of", "rxcui1": "866426", "sab": "RXNORM"}]
    fill(connection, "rxnorm.rxnrel", ["rxcui1", "rxcui2", "rela", "sab", "suppress"], relations)
    ndcs = [
        {"rxcui": "777", "atn": "NDC", "sab": "MTHSPL", "atv": "12345-6789-1", "suppress": "N"},
        {"rxcui": "224913", "atn": "NDC", "sab": "MTHSPL", "atv": "99999-999-99", "suppress": "N"},
    ]
    fill(connection, "rxnorm.rxnsat", ["rxcui", "atn", "sab", "atv", "suppress"], ndcs)


def build_records(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill the five tables of ``mimiciv_hosp`` that the code map reads, with two admissions of two patients."""
    hosp = "mimiciv_hosp"
    connection.execute(f"create table {hosp}.admissions (subject_id bigint, hadm_id bigint, admittime timestamp)")
    connection.execute(f"insert into {hosp}.admissions values (10, 1, '2150-01-01'), (20, 2, '2151-03-01')")
    for table, rows in (("diagnoses_icd", DIAGNOSES), ("procedures_icd", PROCEDURES)):
        connection.execute(f"create table {hosp}.{table} (hadm_id bigint, icd_code varchar, icd_version integer)")
        connection.executemany(f"insert into {hosp}.{table} values (?, ?, ?)", rows)
    connection.execute(f"alter table {hosp}.procedures_icd add column chartdate date")
    connection.execute(f"update {hosp}.procedures_icd set chartdate = date '2150-01-05'")
    connection.execute(
        f"create table {hosp}.prescriptions (hadm_id bigint, drug varchar, ndc varchar, starttime timestamp)"
    )
    connection.executemany(f"insert into {hosp}.prescriptions values (?, ?, ?, ?)", PRESCRIPTIONS)
