-- The statements of all complete groups
-- Grain: one row per group and quadrant
-- Output: statement(group_id, hadm_id, subject_id, split, quadrant, predicate, head_cui, head_name, tail_cui,
--   tail_name,
--   slot, kept_cui, original_cui, original_base, candidate_base, candidate_cui, pattern, tier, hops,
--   broader_cui, broader_predicate, broader_name)
-- Inputs: fact_group, choice, relative_fact, cohort, statement_name, extension
create or replace temp table statement as
with chosen as (
    select
        replaced.*,
        relative_fact.pattern,
        relative_fact.tier,
        coalesce(relative_fact.hops, 1) as hops
    from (
        select
            fact_group.group_id,
            choice.quadrant,
            if(fact_group.slot = 'head', choice.candidate_cui, fact_group.kept_cui) as head_cui,
            if(fact_group.slot = 'head', fact_group.kept_cui, choice.candidate_cui) as tail_cui,
            choice.candidate_cui,
            fact_group.predicate
        from choice
        inner join fact_group on choice.group_id = fact_group.group_id
    ) as replaced
    left join relative_fact
        on
            replaced.quadrant = 'Q2'
            and replaced.head_cui = relative_fact.head_cui and replaced.predicate = relative_fact.predicate
            and replaced.tail_cui = relative_fact.tail_cui
    union all
    select
        group_id,
        'Q1' as quadrant,
        head_cui,
        tail_cui,
        null as candidate_cui,
        predicate,
        pattern,
        tier,
        hops
    from fact_group
    where group_id in (select choice.group_id from choice)
)

select
    chosen.group_id,
    fact_group.hadm_id,
    cohort.subject_id,
    cohort.split,
    chosen.quadrant,
    fact_group.predicate,
    chosen.head_cui,
    head_name.name as head_name,
    chosen.tail_cui,
    tail_name.name as tail_name,
    fact_group.slot,
    fact_group.kept_cui,
    fact_group.original_cui,
    coalesce(original_base.base_cui, fact_group.original_cui) as original_base,
    coalesce(candidate_base.base_cui, chosen.candidate_cui) as candidate_base,
    chosen.candidate_cui,
    chosen.pattern,
    chosen.tier,
    chosen.hops,
    extension.broader_cui,
    extension.broader_predicate,
    extension.broader_name
from chosen
inner join fact_group on chosen.group_id = fact_group.group_id
inner join cohort on fact_group.hadm_id = cohort.hadm_id
inner join statement_name as head_name on chosen.head_cui = head_name.cui
inner join statement_name as tail_name on chosen.tail_cui = tail_name.cui
left join linked_base as original_base on fact_group.original_cui = original_base.cui
left join linked_base as candidate_base on chosen.candidate_cui = candidate_base.cui
left join extension on chosen.group_id = extension.group_id
order by cohort.subject_id, chosen.group_id, chosen.quadrant;
