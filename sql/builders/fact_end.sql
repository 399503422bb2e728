-- Concepts that can be an end of a fact of an admission
-- Grain: one row per admission and concept
-- Output: fact_end(hadm_id, cui, base_cui, closeness)
-- Inputs: attested, linked_base(cui, base_cui), kg.concept
-- closeness 0: mentioned itself; 1: the ingredient or base of what is mentioned (a note that says Lasix attests
--   furosemide; the reverse is attested too, but nobody would write it); 2: an ancestor, close enough to be meant.
--   base_cui is one for all forms of a drug
create or replace temp table fact_end as
with ranked as (
    select
        attested.hadm_id,
        attested.cui,
        min(
            case
                when attested.relation = 'self' then 0
                when attested.relation = 'equivalent' and base.base_cui = attested.cui then 1
                when attested.relation = 'ancestor' and attested.depth <= getvariable('ancestor_steps') then 2
            end
        ) as closeness
    from attested
    left join linked_base as base on attested.via_cui = base.cui
    group by attested.hadm_id, attested.cui
)

select
    ranked.hadm_id,
    ranked.cui,
    coalesce(base.base_cui, ranked.cui) as base_cui,
    ranked.closeness
from ranked
left join linked_base as base on ranked.cui = base.cui
where ranked.closeness is not null;
