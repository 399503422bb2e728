-- The first statements of complete groups in plain words, to measure what their names tell of support
-- Grain: one row per group and quadrant. Output: (subject_id, text, is_supported)
-- Inputs: drafted(group_no, quadrant, code), fact_group, nameable, cohort, statement_name
with quadrant as (
    select * from drafted
    union all
    select distinct
        group_no,
        'Q1' as quadrant,
        -1 as code
    from drafted
),

ended as (
    select
        fact_group.hadm_id,
        fact_group.group_id,
        quadrant.quadrant,
        fact_group.predicate,
        fact_group.slot = 'head' as is_head,
        fact_group.kept_cui,
        coalesce(nameable.cui, fact_group.original_cui) as other_cui
    from quadrant
    inner join fact_group on quadrant.group_no = fact_group.group_no
    left join nameable on quadrant.code = nameable.code
)

select
    cohort.subject_id,
    concat_ws(' ', head.name, ended.predicate, tail.name) as text,
    ended.quadrant in ('Q1', 'Q3') as is_supported
from ended
inner join cohort on ended.hadm_id = cohort.hadm_id
inner join statement_name as head on if(ended.is_head, ended.other_cui, ended.kept_cui) = head.cui
inner join statement_name as tail on if(ended.is_head, ended.kept_cui, ended.other_cui) = tail.cui
order by ended.group_id, ended.quadrant;
