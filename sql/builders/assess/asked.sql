-- What is asked of statements, in the tables that the builder of MediEval has of its facts
-- Grain: frame, one row per end; argument, one row per predicate; statement_name, one row per end
-- Output: frame(original_cui), argument(predicate), sibling (empty), statement_name(cui, name)
-- Inputs: asked_claim(head_cui, predicate, tail_cui), kg.concept. Source: sql/builders/medieval/groups/frame.sql
create or replace temp table frame as
select distinct unnest([head_cui, tail_cui]) as original_cui
from asked_claim;

create or replace temp table argument as
select distinct predicate
from asked_claim;

create or replace temp table sibling (cui varchar, sibling varchar);

-- no statement is made: any name will do
create or replace temp table statement_name as
select
    concept.cui,
    concept.name
from kg.concept as concept
where concept.cui in (select frame.original_cui from frame);
