-- The first statements of complete groups in plain words, to measure what their names tell of support
-- Grain: one row per group and quadrant. Output: (subject_id, text, is_supported)
-- Inputs: drafted(group_no, quadrant, code), fact_group, nameable, cohort, statement_name
with ended as (
    select
        fact_group.hadm_id,
        fact_group.group_id,
        'Q1' as quadrant,
        fact_group.predicate,
        fact_group.head_cui,
        fact_group.tail_cui
    from fact_group
    where fact_group.group_no in (select drafted.group_no from drafted)
    union all
    select
        fact_group.hadm_id,
        fact_group.group_id,
        drafted.quadrant,
        fact_group.predicate,
        if(fact_group.slot = 'head', nameable.cui, fact_group.kept_cui) as head_cui,
        if(fact_group.slot = 'head', fact_group.kept_cui, nameable.cui) as tail_cui
    from drafted
    inner join fact_group on drafted.group_no = fact_group.group_no
    inner join nameable on drafted.code = nameable.code
)

select
    cohort.subject_id,
    concat_ws(' ', head.name, ended.predicate, tail.name) as text,
    ended.quadrant in ('Q1', 'Q3') as is_supported
from ended
inner join cohort on ended.hadm_id = cohort.hadm_id
inner join statement_name as head on ended.head_cui = head.cui
inner join statement_name as tail on ended.tail_cui = tail.cui
order by ended.group_id, ended.quadrant;
