-- The statements of all complete groups
-- Grain: one row per group and quadrant
-- Output: statement(split, row_no, group_no, hadm_id, subject_id, quadrant, proposition, head_code, tail_code,
--   kept_code, fact_split); empty: support_pair(hadm_id, head_code, tail_code, head_mention, tail_mention, linked),
--   support_closest(hadm_id, code, mention)
-- Inputs: sample, proposition
-- fact_split: the second split, disjoint in patients and also in (head, tail). A pair belongs to the latest split that
--   uses it: test rows all stay, validation rows stay unless test has the pair, training rows unless either has; what
--   is left out has no fact_split. Pairs are unordered. Source: docs/definitions.md#fact_split
create or replace temp table statement as
with filled as (
    select
        sample.split,
        sample.row_no,
        sample.group_no,
        sample.hadm_id,
        sample.subject_id,
        sample.quadrant,
        proposition.proposition,
        proposition.head_code,
        proposition.tail_code,
        if(proposition.slot = 'head', proposition.tail_code, proposition.head_code) as kept_code
    from sample
    inner join proposition
        on
            sample.frame = proposition.frame and sample.quadrant = proposition.quadrant
            and sample.code = proposition.code and sample.broader_cui = proposition.broader_cui
),

owned as (
    select
        least(head_code, tail_code) as low,
        greatest(head_code, tail_code) as high,
        max(list_position(['train', 'validation', 'test'], split)) as last_split
    from filled
    group by least(head_code, tail_code), greatest(head_code, tail_code)
)

select
    filled.*,
    if(['train', 'validation', 'test'][owned.last_split] = filled.split, filled.split, null) as fact_split
from filled
inner join owned
    on
        least(filled.head_code, filled.tail_code) = owned.low
        and greatest(filled.head_code, filled.tail_code) = owned.high;

create or replace temp table support_pair (
    hadm_id bigint, head_code integer, tail_code integer, head_mention bigint, tail_mention bigint, linked boolean
);

create or replace temp table support_closest (hadm_id bigint, code integer, mention bigint);
