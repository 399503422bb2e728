-- Ends of facts that the notes of one shard mention, in whatever form
-- Grain: one row per admission and concept. Output: (number, code)
-- Inputs: admission, mention_concept, closure, coded. Parameter: shard
select distinct
    admission.number::integer as number,
    coded.code
from admission
inner join mention_concept on admission.hadm_id = mention_concept.hadm_id
inner join closure on mention_concept.cui = closure.cui and closure.relation in ('self', 'equivalent')
inner join coded on closure.other = coded.cui and coded.is_end
where admission.shard = getvariable('shard')
order by all;
