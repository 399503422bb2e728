-- Concepts that an admission's codes state
-- Grain: one row per (hadm_id, cui, kind, source_table)
-- Inputs: ground.code_map, mimiciv_hosp.admissions, diagnoses_icd, procedures_icd, prescriptions,
--   ground.drug_ingredient
-- Output: ground.admission_concept(hadm_id, cui, kind, source_table, first_time); kind is diagnosis, procedure, drug
--   or ingredient; first_time is the earliest start of an order, day of a procedure, or time of admission where the
--   source has none (diagnoses are coded for the stay as a whole)
-- Caveat: every candidate of an ambiguous code is here. Fluids that carry another drug (0.9% Sodium Chloride, 5%
--   Dextrose) are mapped as what they are; containers (Bag, Syringe, Vial) have no concept.
-- Source: CONTRACTS
create or replace table ground.admission_concept as
with prescription_code as (
    -- An order has two codes, its NDC and its drug's name.
    select
        hadm_id,
        'prescriptions_ndc' as source,
        ndc as code,
        min(starttime) as first_time
    from mimiciv_hosp.prescriptions
    where hadm_id is not null
    group by hadm_id, ndc
    union all
    select
        hadm_id,
        'prescriptions_drug' as source,
        drug as code,
        min(starttime) as first_time
    from mimiciv_hosp.prescriptions
    where hadm_id is not null
    group by hadm_id, drug
),

drug as (
    select
        p.hadm_id,
        m.cui,
        min(p.first_time) as first_time
    from prescription_code as p
    inner join ground.code_map as m on p.source = m.source and p.code = m.code
    group by p.hadm_id, m.cui
),

stated as (
    -- Each kind has its own source table, so that each is grouped by admission and concept alone.
    select
        d.hadm_id,
        m.cui,
        'diagnosis' as kind,
        'diagnoses_icd' as source_table,
        null::timestamp as first_time
    from mimiciv_hosp.diagnoses_icd as d
    inner join ground.code_map as m
        on m.source = 'diagnoses_icd' and d.icd_code = m.code and d.icd_version = m.code_version
    group by d.hadm_id, m.cui
    union all
    select
        p.hadm_id,
        m.cui,
        'procedure' as kind,
        'procedures_icd' as source_table,
        min(p.chartdate)::timestamp as first_time
    from mimiciv_hosp.procedures_icd as p
    inner join ground.code_map as m
        on m.source = 'procedures_icd' and p.icd_code = m.code and p.icd_version = m.code_version
    group by p.hadm_id, m.cui
    union all
    select
        hadm_id,
        cui,
        'drug' as kind,
        'prescriptions' as source_table,
        first_time
    from drug
    union all
    select
        d.hadm_id,
        i.ingredient_cui as cui,
        'ingredient' as kind,
        'prescriptions' as source_table,
        min(d.first_time) as first_time
    from drug as d
    inner join ground.drug_ingredient as i on d.cui = i.cui
    group by d.hadm_id, i.ingredient_cui
)

select
    s.hadm_id,
    s.cui as cui,
    s.kind,
    s.source_table,
    coalesce(s.first_time, a.admittime) as first_time
from stated as s
left join (select
    hadm_id,
    min(admittime) as admittime
from mimiciv_hosp.admissions
group by hadm_id) as a
    on s.hadm_id = a.hadm_id
where s.hadm_id is not null
order by s.hadm_id, s.kind, s.cui, s.source_table;
