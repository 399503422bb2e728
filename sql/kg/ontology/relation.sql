-- Relations that ontologies state, between concepts
-- Grain: one row per (CUI2, RELA, CUI1, SAB)
-- Inputs: ontology.relation, ontology.concept, rxnorm_relation
-- Output: ontology.mrrel with the columns of MRREL: a row reads CUI2 RELA CUI1. What joining made one concept relates
--   nothing. Source: UMLS Reference Manual, MRREL
create or replace table ontology.mrrel as
select distinct
    tail.cui as cui1,
    null::varchar as aui1,
    null::varchar as stype1,
    if(relation.property in ('isa', ''), 'CHD', 'RO') as rel,
    head.cui as cui2,
    null::varchar as aui2,
    null::varchar as stype2,
    relation.property as rela,
    null::varchar as rui,
    null::varchar as srui,
    relation.sab,
    relation.sab as sl,
    null::varchar as rg,
    null::varchar as dir,
    'N' as suppress,
    null::varchar as cvf
from ontology.relation as relation
inner join ontology.concept as head on relation.head = head.id
inner join ontology.concept as tail on relation.tail = tail.id
where head.cui <> tail.cui
union all
select
    coalesce(one.cui, 'RXNORM:' || relation.rxcui1) as cui1,
    null as aui1,
    null as stype1,
    relation.rel,
    coalesce(two.cui, 'RXNORM:' || relation.rxcui2) as cui2,
    null as aui2,
    null as stype2,
    relation.rela,
    relation.rui,
    relation.srui,
    relation.sab,
    relation.sl,
    relation.rg,
    relation.dir,
    coalesce(relation.suppress, 'N') as suppress,
    relation.cvf
from rxnorm_relation as relation
left join ontology.concept as one on one.id = 'RXNORM:' || relation.rxcui1
left join ontology.concept as two on two.id = 'RXNORM:' || relation.rxcui2
order by all;
