-- What of OMOP's records is not used, or used by a guess
-- Grain: one row per reason: number, and what is counted. Inputs: omop.record, placed, code, concept,
--   concept_relationship, ehr.note. Source: docs/sources.md
select
    count(*) as n,
    'rows of ' || source_table || ' name no visit: '
    || if(hadm_id is null, 'their time lies in none', 'they are of the one in which their time lies') as what
from omop.placed
group by source_table, hadm_id is null
union all
select
    count(*) as n,
    'concepts of the records are not in CONCEPT' as what
from omop.code
where code is null and concept_id <> 0
having count(*) > 0
union all
select
    count(distinct code.source_concept_id) as n,
    'source concepts are mapped ("Maps to") to a concept that is not in CONCEPT' as what
from omop.code as code
inner join omop.concept_relationship as link
    on
        code.source_concept_id = link.concept_id_1 and link.relationship_id = 'Maps to'
        and coalesce(link.invalid_reason, '') = ''
anti join omop.concept as target on link.concept_id_2 = target.concept_id
where code.concept_id = 0 and code.to_code is null
having count(*) > 0
union all
select
    count(*) as n,
    'notes of the kind ' || kind || ' are loaded and not read' as what
from ehr.note
where kind not in ('discharge', 'radiology')
group by kind
order by what
