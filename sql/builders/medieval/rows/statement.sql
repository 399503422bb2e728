-- The statements of all complete groups
-- Grain: one row per group and quadrant
-- Output: statement(split, place, group_no, hadm_id, subject_id, quadrant, said, head_code, tail_code, kept_code,
--   fact_split)
-- Inputs: drawn, said
-- fact_split: the second split, disjoint in patients and also in (head, tail). A pair belongs to the latest split that
--   uses it: test rows all stay, validation rows stay unless test has the pair, training rows unless either has; what
--   is left out has no fact_split. Pairs are unordered. Source: docs/definitions.md#fact_split
create or replace temp table statement as
with told as (
    select
        drawn.split,
        drawn.place,
        drawn.group_no,
        drawn.hadm_id,
        drawn.subject_id,
        drawn.quadrant,
        said.said,
        said.head_code,
        said.tail_code,
        if(said.slot = 'head', said.tail_code, said.head_code) as kept_code
    from drawn
    inner join said
        on
            drawn.frame = said.frame and drawn.quadrant = said.quadrant and drawn.code = said.code
            and drawn.broader_cui = said.broader_cui
),

owned as (
    select
        least(head_code, tail_code) as low,
        greatest(head_code, tail_code) as high,
        max(list_position(['train', 'validation', 'test'], split)) as last_place
    from told
    group by least(head_code, tail_code), greatest(head_code, tail_code)
)

select
    told.*,
    if(['train', 'validation', 'test'][owned.last_place] = told.split, told.split, null) as fact_split
from told
inner join owned
    on
        least(told.head_code, told.tail_code) = owned.low
        and greatest(told.head_code, told.tail_code) = owned.high;
