-- Kinds of rows of MRREL that make edges, and what each makes
-- Grain: edge_kind, one row per kind and line that applies to it; kg.evidence_kind, one row per kind
-- Inputs: kg.relation_use, kg.predicate_code
-- Output: edge_kind, a staging table: kind, evidence_rank, rela, rel, sab, predicate, forward, symmetric, head_bits,
--   tail_bits, same_bits; kg.evidence_kind(kind, rela, rel, sab). Edges carry the number of their kind for three
--   texts; evidence_rank follows SAB and RELA, by which evidence is sorted; bits: groups that the ends must have.
--   Source: docs/architecture.md
create or replace temp table edge_kind as
select
    cast(dense_rank() over (order by use.sab, use.rela, use.rel) - 1 as usmallint) as kind,
    cast(dense_rank() over (order by nullif(use.sab, ''), nullif(use.rela, '')) - 1 as usmallint) as evidence_rank,
    use.rela,
    use.rel,
    use.sab,
    code.code as predicate,
    use.direction = 'forward' as forward,
    code.symmetric,
    code.head_bits,
    code.tail_bits,
    code.same_bits
from kg.relation_use as use
inner join kg.predicate_code as code on use.predicate = code.predicate
order by kind, predicate, forward;

create or replace table kg.evidence_kind as
select distinct
    kind,
    nullif(rela, '') as rela,
    nullif(rel, '') as rel,
    nullif(sab, '') as sab
from edge_kind
order by kind;
