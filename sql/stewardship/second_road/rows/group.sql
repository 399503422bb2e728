-- What rows of one group, admission or patient must have in common
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per disagreement. Output: (check_name, id, found, expected)
-- Inputs: labelled and labelled_context (rows of the part). Parameters: seed, folds. Source: docs/definitions.md
with kept_apart as (
    select
        subject_id::varchar as id,
        unnest([
            struct_pack(name := 'a patient is in one split', n := count(distinct split)),
            struct_pack(name := 'a patient is in one fold', n := count(distinct fold)),
            struct_pack(name := 'a patient has one admission', n := count(distinct hadm_id))
        ]) as counted
    from labelled
    group by subject_id
)

select
    counted.name as check_name,
    id,
    counted.n::varchar as found,
    '1' as expected
from kept_apart
where counted.n > 1
union all
select distinct
    'a fold follows from the seed and the patient' as check_name,
    subject_id::varchar as id,
    fold::varchar as found,
    (md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'fold', subject_id)) % getvariable('folds'))::varchar
        as expected
from labelled
where found is distinct from expected
union all
select
    'an admission has one context' as check_name,
    min(labelled.id) as id,
    several.contexts::varchar as found,
    '1' as expected
from labelled
inner join (
    select
        hadm_id,
        count(*) as contexts
    from labelled_context
    group by hadm_id
    having count(*) > 1
) as several on labelled.hadm_id = several.hadm_id
group by several.hadm_id, several.contexts
union all
select
    'a group has one statement of each quadrant, made from its first' as check_name,
    group_id as id,
    array_to_string(list_sort(list(quadrant)), ' ') as found,
    if(bool_or(never_false.predicate is not null), 'Q1 Q2', 'Q1 Q2 Q3 Q4') as expected
from labelled
left join (
    -- that the release is silent about a contraindication is no safety
    select predicate from kg.predicate
    where statement = 'true'
) as never_false on labelled.predicate = never_false.predicate
group by group_id
having
    found != expected
    or min(hadm_id) is distinct from max(hadm_id)
    or min(labelled.predicate) is distinct from max(labelled.predicate)
    or min(replaced_end) filter (where quadrant != 'Q1') is null
    or min(replaced_end) filter (where quadrant != 'Q1') != max(replaced_end) filter (where quadrant != 'Q1')
    or min(replaced_cui) filter (where quadrant != 'Q1') is null
    or min(replaced_cui) filter (where quadrant != 'Q1') != max(replaced_cui) filter (where quadrant != 'Q1')
    or max(replaced_cui) is distinct from if(
        max(replaced_end) filter (where quadrant != 'Q1') = 'head',
        max(head_cui) filter (where quadrant = 'Q1'),
        max(tail_cui) filter (where quadrant = 'Q1')
    )
union all
select
    'a statement stands once in an admission' as check_name,
    min(id) as id,
    count(*)::varchar as found,
    '1' as expected
from labelled
group by hadm_id, statement
having count(*) > 1
union all
select
    'a row is in the fact_split of its patient or in none' as check_name,
    id,
    fact_split as found,
    split as expected
from labelled
where fact_split != split;
