-- One whole group of four statements to show: preferably one that the note itself links, and a treatment
-- Grain: one row per statement of the group
-- Inputs: medieval (view of the built dataset)
-- Output: rows for `ontoground demo`. Source: docs/definitions.md#group
with ranked as (
    select
        group_id,
        count(distinct quadrant) as quadrants,
        bool_or(quadrant = 'Q1' and predicate = 'treats') as is_treatment,
        bool_or(support_level = 'stated') as is_linked,
        max(hops) as hops
    from medieval
    group by group_id
),

chosen as (
    select group_id
    from ranked
    order by quadrants desc, is_treatment desc, is_linked desc, hops asc, group_id asc
    limit 1
)

select
    sample.id,
    sample.group_id,
    sample.hadm_id,
    sample.quadrant,
    sample.statement,
    sample.predicate,
    sample.head_cui,
    sample.head_name,
    sample.tail_cui,
    sample.tail_name,
    sample.tier,
    sample.support_level,
    sample.path,
    sample.support_spans,
    sample.replaced_end,
    sample.replaced_cui,
    sample.distance,
    sample.why_false
from medieval as sample
inner join chosen on sample.group_id = chosen.group_id
order by sample.quadrant, sample.id
