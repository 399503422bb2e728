-- Values that may be swapped in, and where in their ring each extraction begins to look
-- Grain: extraction_pool: one row per distinct value of a group. extraction_start: one row per extraction
-- Output: extraction_pool(swap_group, words, said, marks, regions, size, lot, place, ring),
--   extraction_start(extraction_id, start)
-- Inputs: extraction. Parameter: seed
-- A group's values lie on a ring in the order of a stable hash of the value; an extraction begins at the value whose
--   hash follows its own, so that an added document changes few choices. A value that nothing tells apart (no marks) is
--   never swapped in
create or replace table extraction_pool as
with spelt_value as (
    select
        swap_group,
        words,
        said,
        any_value(marks) as marks,
        any_value(regions) as regions,
        any_value(size) as size,
        count(*) as uses
    from extraction
    where len(marks) > 0 and opposite is null
    group by swap_group, words, said
),

-- Of the spellings of a value the usual one
distinct_value as (
    select
        spelt_value.* exclude (uses),
        md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'swapped in', swap_group, words)) as lot
    from spelt_value
    qualify row_number() over (partition by swap_group, words order by uses desc, said asc) = 1
)

select
    distinct_value.*,
    row_number() over (partition by swap_group order by lot, words) - 1 as place,
    count(*) over (partition by swap_group) as ring
from distinct_value;

create or replace table extraction_start as
with asking as (
    select
        extraction_id,
        swap_group,
        md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'swapped out', extraction_id)) as lot
    from extraction
)

select
    asking.extraction_id,
    coalesce(extraction_pool.place + 1, 0) as start
from asking
asof left join extraction_pool
    on asking.swap_group = extraction_pool.swap_group and asking.lot >= extraction_pool.lot;

create or replace table extraction_swap (extraction_id varchar, wrong varchar);
