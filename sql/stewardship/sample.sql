-- Rows of a dataset that a benchmark takes up: balanced over labels, spread over strata, by stable hash
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per row taken
-- Output: picked(uid, label, stratum)
-- Inputs: labelled(uid, label, stratum). Variables: seed, wanted (how many rows; null takes all)
-- Each label gives the same number of rows, and within a label each stratum; a label or stratum that has fewer gives
--   all it has and the others fill up. The hash is that of ground.stable
create or replace temp table picked as
with hashed as (
    select
        uid,
        label,
        stratum,
        md5_number_upper(concat_ws(chr(31), getvariable('seed'), 'adopt', uid)) as lot
    from labelled
),

in_cell as (
    select
        *,
        row_number() over (partition by label, stratum order by lot, uid) as place
    from hashed
),

in_label as (
    select
        *,
        row_number() over (partition by label order by place, lot, uid) as turn
    from in_cell
),

ranked as (
    select
        *,
        row_number() over (order by turn, lot, uid) as rank
    from in_label
)

select
    uid,
    label,
    stratum
from ranked
where getvariable('wanted') is null or rank <= getvariable('wanted');
