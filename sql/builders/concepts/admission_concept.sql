-- Concepts that an admission's codes state
-- Grain: one row per (hadm_id, cui, kind, source_table)
-- Inputs: ground.code_map, source_code, ehr.admission, ehr.diagnosis, ehr.procedure, ehr.drug, ground.drug_ingredient
-- Output: ground.admission_concept(hadm_id, cui, kind, source_table, first_time); kind is diagnosis, procedure, drug
--   or ingredient; first_time is the earliest start of an order, day of a procedure, or time of admission where the
--   source has none (MIMIC's diagnoses are coded for the stay as a whole); a source has one table of each kind
-- Caveat: every candidate of an ambiguous code is here. Fluids that carry another drug (0.9% Sodium Chloride, 5%
--   Dextrose) are mapped as what they are; containers (Bag, Syringe, Vial) have no concept.
-- Source: docs/definitions.md#code
create or replace table ground.admission_concept as
with cui_number as (
    -- Numbers in the order of the CUIs: several times quicker to group and to sort by than their text.
    select
        cui,
        row_number() over (order by cui)::integer as n
    from (
        select cui from ground.code_map
        union
        select ingredient_cui as cui from ground.drug_ingredient
    ) as used
),

kind_of as (
    select distinct
        kind,
        source
    from source_code
),

code as (
    select
        s.kind,
        m.vocabulary,
        m.code,
        c.n
    from ground.code_map as m
    inner join kind_of as s on m.source = s.source
    inner join cui_number as c on m.cui = c.cui
),

-- Each kind has its own source table, so that each is grouped by admission and concept alone.
drug as (
    select
        hadm_id,
        n,
        min(time) as first_time
    from (
        -- An order has two codes, its own and its drug's name.
        select
            p.hadm_id,
            p.time,
            c.n
        from ehr.drug as p
        inner join code as c on c.kind = 'drug' and p.vocabulary = c.vocabulary and p.code = c.code
        where p.hadm_id is not null
        union all
        select
            p.hadm_id,
            p.time,
            c.n
        from ehr.drug as p
        inner join code as c on c.kind = 'drug_name' and p.name = c.code
        where p.hadm_id is not null
    ) as stated_order
    group by hadm_id, n
),

numbered_ingredient as (
    select
        d.n as drug_n,
        c.n
    from ground.drug_ingredient as i
    inner join cui_number as d on i.cui = d.cui
    inner join cui_number as c on i.ingredient_cui = c.cui
),

-- Kinds in the order of their names.
stated as (
    select
        d.hadm_id,
        0::tinyint as kind,
        c.n,
        min(d.time) as first_time
    from ehr.diagnosis as d
    inner join code as c on c.kind = 'diagnosis' and d.vocabulary = c.vocabulary and d.code = c.code
    where d.hadm_id is not null
    group by d.hadm_id, c.n
    union all
    select
        hadm_id,
        1::tinyint as kind,
        n,
        first_time
    from drug
    union all
    select
        d.hadm_id,
        2::tinyint as kind,
        i.n,
        min(d.first_time) as first_time
    from drug as d
    inner join numbered_ingredient as i on d.n = i.drug_n
    group by d.hadm_id, i.n
    union all
    select
        p.hadm_id,
        3::tinyint as kind,
        c.n,
        min(p.time) as first_time
    from ehr.procedure as p
    inner join code as c on c.kind = 'procedure' and p.vocabulary = c.vocabulary and p.code = c.code
    where p.hadm_id is not null
    group by p.hadm_id, c.n
),

admission as (
    select
        hadm_id,
        min(admittime) as admittime
    from ehr.admission
    group by hadm_id
),

ordered as (
    select
        s.hadm_id,
        s.kind,
        c.cui,
        coalesce(s.first_time, a.admittime) as first_time
    from stated as s
    inner join cui_number as c on s.n = c.n
    left join admission as a on s.hadm_id = a.hadm_id
    order by s.hadm_id, s.kind, s.n
)

select
    hadm_id,
    cui,
    case kind when 0 then 'diagnosis' when 1 then 'drug' when 2 then 'ingredient' else 'procedure' end as kind,
    case kind
        when 0 then (select min(d.source_table) from ehr.diagnosis as d)
        when 3 then (select min(p.source_table) from ehr.procedure as p)
        else (select min(o.source_table) from ehr.drug as o)
    end as source_table,
    first_time
from ordered;
