-- The statements of all complete groups, by the numbers that decide what each says
-- Grain: one row per group and quadrant
-- Output: sample(split, row_no, group_no, hadm_id, subject_id, quadrant, frame, code, broader_cui)
-- Inputs: fact_group, choice_code, cohort, extension
-- row_no: among the rows of a split, from 0, in the order of patient, group and quadrant; every group has the same ones
-- code: the concept that replaces an end, -1 in Q1. broader_cui: the class that describes the kept end, '' for none
create or replace temp table sample as
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
),

placed as (
    select
        fact_group.group_no,
        fact_group.group_id,
        fact_group.hadm_id,
        fact_group.frame,
        cohort.subject_id,
        cohort.split,
        (select count(distinct quadrant.quadrant) from quadrant)
        * (row_number() over (partition by cohort.split order by cohort.subject_id, fact_group.group_no) - 1) as row_no
    from fact_group
    inner join cohort on fact_group.hadm_id = cohort.hadm_id
)

select
    placed.split,
    placed.row_no + list_position(['Q1', 'Q2', 'Q3', 'Q4'], quadrant.quadrant) - 1 as row_no,
    placed.group_no,
    placed.hadm_id,
    placed.subject_id,
    quadrant.quadrant,
    placed.frame,
    quadrant.code,
    coalesce(extension.broader_cui, '') as broader_cui
from quadrant
inner join placed on quadrant.group_no = placed.group_no
left join extension on placed.group_id = extension.group_id;
