-- Schemas and bookkeeping tables of the warehouse
-- Grain: ground.load, one row per loaded file; ground.reject, one per refused row; ground.drop, one per stage and
--   reason; ground.stage, one per finished stage with the fingerprint of what it was made from
-- Output: as above, created where missing. Source: docs/definitions.md#warehouse
create schema if not exists mimiciv_hosp;
create schema if not exists mimiciv_note;
create schema if not exists mimiciv_icu;
create schema if not exists mimiciv_derived;
create schema if not exists ehr;
create schema if not exists umls;
create schema if not exists rxnorm;
create schema if not exists ontology;
create schema if not exists release;
create schema if not exists kg;
create schema if not exists ground;

create table if not exists ground.load (
    source varchar not null,
    file varchar not null,
    bytes bigint not null,
    sha256 varchar not null,
    rows_read bigint not null,
    rows_rejected bigint not null,
    release varchar,
    finished_at timestamp not null
);

create table if not exists ground.reject (
    source varchar not null,
    file varchar not null,
    line bigint,
    reason varchar not null,
    raw varchar
);

create table if not exists ground.drop (
    stage varchar not null,
    reason varchar not null,
    n bigint not null
);

create table if not exists ground.stage (
    stage varchar primary key,
    fingerprint varchar not null,
    finished_at timestamp not null
);
