-- What makes one concept a likely stand-in for another, and which concepts a statement calls by the same name
-- Grain: one row per concept that statements can name. Output: trait(code, kind, regions, band, name_no)
-- Inputs: nameable, kg.concept, area_step, fact_end, statement_name
-- kind: a number for the same semantic types. regions: the broadest areas that the concept lies in, a bit each; those
--   of more than a quarter of the concepts say nothing. band: the power of two of the admissions that attest it, with
--   none 0. name_no: a number for the same name. Source: docs/definitions.md#alike
create or replace temp table trait as
with recursive climb as (
    select
        code,
        cui as region
    from nameable
    union
    select
        climb.code,
        area_step.above_cui as region
    from climb
    inner join area_step on climb.region = area_step.cui
),

breadth as (
    select
        climb.region,
        count(*) as n
    from climb
    group by climb.region
    having count(*) <= 0.25 * (select count(*) from nameable) and count(*) >= 2
),

broad as (
    select
        region,
        1::bigint << (row_number() over (order by n desc, region asc) - 1)::integer as bit
    from breadth
    qualify row_number() over (order by n desc, region asc) <= 62
),

region as (
    select
        climb.code,
        sum(broad.bit)::bigint as bits
    from climb
    inner join broad on climb.region = broad.region
    group by climb.code
),

attested_in as (
    select
        cui,
        count(*) as n
    from fact_end
    group by cui
)

select
    nameable.code,
    dense_rank() over (order by list_sort(concept.types)) - 1 as kind,
    coalesce(region.bits, 0) as regions,
    floor(log2(1 + coalesce(attested_in.n, 0)))::integer as band,
    dense_rank() over (order by lower(coalesce(statement_name.name, nameable.cui))) - 1 as name_no
from nameable
left join kg.concept as concept on nameable.cui = concept.cui
left join region on nameable.code = region.code
left join attested_in on nameable.cui = attested_in.cui
left join statement_name on nameable.cui = statement_name.cui
order by nameable.code;
