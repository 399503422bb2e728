-- The statements of all complete groups, by the numbers that decide what each says
-- Grain: one row per group and quadrant
-- Output: drawn(group_no, group_id, hadm_id, subject_id, split, quadrant, frame, code, broader_cui)
-- Inputs: fact_group, choice_code, cohort, extension
-- code: the concept that replaces an end, -1 in Q1. broader_cui: the class that describes the kept end, '' for none
create or replace temp table drawn as
with quadrant as (
    select
        group_no,
        quadrant,
        code::integer as code
    from choice_code
    union all
    select
        group_no,
        'Q1' as quadrant,
        -1 as code
    from fact_group
)

select
    fact_group.group_no,
    fact_group.group_id,
    fact_group.hadm_id,
    cohort.subject_id,
    cohort.split,
    quadrant.quadrant,
    fact_group.frame,
    quadrant.code,
    coalesce(extension.broader_cui, '') as broader_cui
from quadrant
inner join fact_group on quadrant.group_no = fact_group.group_no
inner join cohort on fact_group.hadm_id = cohort.hadm_id
left join extension on fact_group.group_id = extension.group_id;
