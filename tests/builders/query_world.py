"""A small warehouse with every table that the named queries and checks read; every check passes on it."""

from __future__ import annotations

import duckdb

from builders.concepts import map_codes
from ehr.sources.contract import make_views
from ground.storage.warehouse import run_sql
from tests.builders.concept_world import build_ontology, build_records, build_rxnorm

__all__ = ["NOTE", "build_world"]

NOTE = "History: hypertension.\nCourse: given metoprolol — no reflux.\n"

TITLES = """
create table mimiciv_hosp.d_icd_diagnoses (icd_code varchar, icd_version integer, long_title varchar);
insert into mimiciv_hosp.d_icd_diagnoses values ('F419', 10, 'Anxiety disorder, unspecified');
create table mimiciv_hosp.d_icd_procedures (icd_code varchar, icd_version integer, long_title varchar);
"""

TABLES = """
create table kg.concept as
select cui, min(str) as name, ['DISO'] as groups, ['T047'] as types from umls.mrconso group by cui;
create table kg.predicate (predicate varchar, inverse varchar);
insert into kg.predicate values
('treats', 'may_be_treated_by'), ('contraindicated_with', 'has_contraindicated_drug'),
('related_to', 'related_to'), ('broader', 'narrower');
create table kg.node as
select (row_number() over (order by cui) - 1)::integer as node, cui from kg.concept;
create table kg.predicate_code as
select row_number() over ()::utinyint as code, predicate, predicate = inverse as symmetric from kg.predicate;
create table kg.evidence_kind (kind usmallint, rela varchar, rel varchar, sab varchar);
insert into kg.evidence_kind values
(0, 'may_treat', 'RO', 'MED-RT'), (1, 'CI_with', 'RO', 'MED-RT'), (2, null, 'RO', 'MTH');
create table kg.edge_code as
select head.node as head, code.code as predicate, tail.node as tail, kind::usmallint as kind, true as "forward", rui
from (values
('C0000030', 'treats', 'C0000001', 0, 'R1'),
('C0000030', 'contraindicated_with', 'C0000002', 1, 'R2'),
('C0000001', 'related_to', 'C0000002', 2, 'R3')
) as told(head_cui, predicate, tail_cui, kind, rui)
inner join kg.node as head on head_cui = head.cui
inner join kg.node as tail on tail_cui = tail.cui
inner join kg.predicate_code as code using (predicate);
create table kg.uncovered (rela varchar, rel varchar, sab varchar, n bigint);
insert into kg.uncovered values ('odd_relation', 'RO', 'MTH', 4);

create table mimiciv_note.discharge (note_id varchar, hadm_id bigint, text varchar);
create table ground.section (
    note_id varchar, hadm_id bigint, section varchar, header varchar, begin_offset integer, end_offset integer
);
create table ground.mention (
    note_id varchar, hadm_id bigint, begin_offset integer, end_offset integer, text varchar, cuis varchar[],
    assertion varchar, section varchar, certainty varchar default 'certain', reasons varchar[] default []
);
create table ground.medieval (
    id varchar, group_id varchar, hadm_id bigint, quadrant varchar, predicate varchar, head_cui varchar,
    tail_cui varchar, hops integer, tier varchar, support_level varchar, split varchar, fact_split varchar
);
insert into ground.medieval values
('s1', 'g1', 1, 'Q1', 'treats', 'C0000030', 'C0000001', 1, 'stated', 'co_mentioned', 'train', 'train'),
('s2', 'g1', 1, 'Q3', 'treats', 'C0000030', 'C0000005', null, null, 'co_mentioned', 'train', 'test'),
('s3', 'g2', 2, 'Q2', 'treats', 'C0000030', 'C0000001', 2, 'inherited', 'silent', 'test', 'train');

insert into ground.drop values ('medieval', 'ambiguous', 7);
insert into ground.load values ('mimic', 'admissions.csv.gz', 10, 'ab', 2, 0, '3.1', timestamp '2026-01-01');
insert into ground.reject values ('umls', 'MRMAP.RRF', 3, 'other number of fields', 'a|b');
"""


def _mention(note: str, words: str, cui: str, assertion: str, section: str) -> tuple[object, ...]:
    begin = note.index(words)
    return ("1-DS-1", 1, begin, begin + len(words), words, [cui], assertion, section)


def build_world(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill a warehouse, code map included."""
    build_ontology(connection)
    build_rxnorm(connection)
    build_records(connection)
    connection.execute(TITLES)
    map_codes(connection)
    connection.execute(TABLES)
    make_views(connection)
    run_sql(connection, "kg/edge")
    connection.execute("insert into mimiciv_note.discharge values ('1-DS-1', 1, ?)", [NOTE])
    cut = NOTE.index("Course")
    sections = [("history", 0, cut), ("brief_hospital_course", cut, len(NOTE))]
    for section, begin, end in sections:
        connection.execute("insert into ground.section values ('1-DS-1', 1, ?, '', ?, ?)", [section, begin, end])
    mentions = [
        _mention(NOTE, "hypertension", "C0000001", "present", "history"),
        _mention(NOTE, "metoprolol", "C0000030", "present", "brief_hospital_course"),
        _mention(NOTE, "reflux", "C0000005", "absent", "brief_hospital_course"),
    ]
    columns = "note_id, hadm_id, begin_offset, end_offset, text, cuis, assertion, section"
    connection.executemany(f"insert into ground.mention ({columns}) values (?, ?, ?, ?, ?, ?, ?, ?)", mentions)
