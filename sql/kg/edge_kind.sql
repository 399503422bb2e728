-- Kinds of rows of MRREL that make edges, and what each makes
-- Grain: one row per kind and line that applies to it
-- Inputs: kg.relation_use, kg.predicate_code
-- Output: kg.edge_kind(kind, evidence_rank, rela, rel, sab, predicate, forward), a staging table. Edges carry the
--   number of their kind in place of three texts; evidence_rank follows SAB and RELA, by which evidence is sorted.
-- Source: docs/architecture.md
create or replace table kg.edge_kind as
select
    cast(dense_rank() over (order by use.sab, use.rela, use.rel) - 1 as usmallint) as kind,
    cast(dense_rank() over (order by nullif(use.sab, ''), nullif(use.rela, '')) - 1 as usmallint) as evidence_rank,
    use.rela,
    use.rel,
    use.sab,
    code.code as predicate,
    use.direction = 'forward' as forward
from kg.relation_use as use
inner join kg.predicate_code as code on use.predicate = code.predicate
order by kind, predicate, forward;
