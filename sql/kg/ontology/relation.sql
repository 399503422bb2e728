-- Relations that ontologies state, between concepts
-- Grain: one row per (CUI2, RELA, CUI1, SAB)
-- Inputs: ontology.relation, ontology.concept, rxnorm_relation
-- Output: ontology.mrrel with columns of MRREL: a row reads CUI2 RELA CUI1. What joining made one concept relates
--   nothing. Source: UMLS Reference Manual, MRREL
create or replace table ontology.mrrel as
select distinct
    tail.cui as cui1,
    if(relation.property in ('isa', ''), 'CHD', 'RO') as rel,
    head.cui as cui2,
    relation.property as rela,
    null::varchar as rui,
    relation.sab,
    'N' as suppress
from ontology.relation as relation
inner join ontology.concept as head on relation.head = head.id
inner join ontology.concept as tail on relation.tail = tail.id
where head.cui <> tail.cui
union all by name
select
    coalesce(one.cui, relation.id1) as cui1,
    coalesce(two.cui, relation.id2) as cui2,
    relation.* exclude (id1, id2)
from rxnorm_relation as relation
left join ontology.concept as one on relation.id1 = one.id
left join ontology.concept as two on relation.id2 = two.id
order by all;
