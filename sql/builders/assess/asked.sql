-- What is asked of statements, in the tables that the builder of MediEval has of its facts
-- Grain: frame, one row per end; argument, one row per predicate. Output: frame(original_cui), argument(predicate),
--   sibling (empty)
-- Inputs: asked_claim(head_cui, predicate, tail_cui). Source: sql/builders/medieval/groups/frame.sql
create or replace temp table frame as
select distinct unnest([head_cui, tail_cui]) as original_cui
from asked_claim;

create or replace temp table argument as
select distinct predicate
from asked_claim;

create or replace temp table sibling (cui varchar, sibling varchar);
