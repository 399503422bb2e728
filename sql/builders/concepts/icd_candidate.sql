-- Candidate concepts of each ICD code, by its best way only
-- Grain: one row per (code, cui)
-- Inputs: source_code, icd_atom, icd_map, procedure_concept
-- Output: temporary table icd_candidate(id, cui, method), id of source_code
-- Caveat: a code keeps the candidates of its best way, in this order: the code itself (exact); an exact row of MRMAP
--   (map); the nearest parent code that has a concept (parent_code); an approximate row of MRMAP (map); a row to a
--   category such as CCS (map). Where the target of a row is an ICD code without a concept (ICD-10-CM to ICD-9-CM),
--   its nearest parent counts as approximate, else its own row to a category. Where a way leads to procedures and to
--   other concepts (CCS numbers its diagnoses and its procedures alike), those of the code's own kind are kept, and of
--   categories the narrowest. A category is a family of codes, not a finding: CCS puts V10.3 (personal history of
--   breast cancer) under breast cancer.
-- Source: CMS General Equivalence Mappings (flags: approximate); HCUP CCS
create or replace temp table icd_candidate as
with icd as (
    select *
    from source_code
    where code_version is not null
),

beginning as (
    select unnest(range(2, 9)) as n
),

mapped as (
    select
        i.id,
        m.*
    from icd as i
    inner join icd_map as m on i.vocabulary = m.from_sab and i.dotted = m.from_code
),

-- Targets of maps are written with their dot.
unnamed as (
    select distinct
        to_sab,
        to_code,
        strpos(to_code, '.') as dot
    from icd_map
    where cui is null and to_code like '%.%'
),

target as (
    select
        u.to_sab,
        u.to_code,
        a.cui
    from unnamed as u
    inner join beginning as b on b.n >= u.dot - 1 and b.n < length(u.to_code) and u.dot <> b.n
    inner join icd_atom as a on u.to_sab = a.sab and left(u.to_code, b.n::integer) = a.code
    qualify b.n = max(b.n) over (partition by u.to_sab, u.to_code)
),

way as (
    select
        i.id,
        a.cui,
        'exact' as method,
        0.0 as rank,
        0 as breadth
    from icd as i
    inner join icd_atom as a on i.vocabulary = a.sab and i.dotted = a.code
    union all
    -- The nearer the parent, the better: its length breaks ties between 2 and 3.
    select
        i.id,
        a.cui,
        'parent_code' as method,
        3.0 - b.n / 10.0 as rank,
        0 as breadth
    from icd as i
    inner join beginning as b on b.n >= icd_root_length(i.kind, i.vocabulary, i.bare) and b.n < length(i.bare)
    inner join icd_atom as a
        on i.vocabulary = a.sab and dotted_icd(i.kind, i.vocabulary, left(i.bare, b.n::integer)) = a.code
    union all
    select
        id,
        cui,
        'map' as method,
        quality::double as rank,
        breadth
    from mapped
    where cui is not null
    union all
    select
        m.id,
        t.cui,
        'map' as method,
        3.0 as rank,
        0 as breadth
    from mapped as m
    inner join target as t on m.to_sab = t.to_sab and m.to_code = t.to_code
    where m.cui is null
    union all
    select
        m.id,
        n.cui,
        'map' as method,
        greatest(m.quality, n.quality) + 0.5 as rank,
        n.breadth
    from mapped as m
    inner join icd_map as n on m.to_sab = n.from_sab and m.to_code = n.from_code
    where m.cui is null and n.cui is not null
),

best as (
    select *
    from way
    qualify rank = min(rank) over (partition by id)
)

select distinct
    b.id,
    b.cui,
    b.method
from best as b
inner join icd as i on b.id = i.id
left join procedure_concept as p on b.cui = p.cui
qualify rank() over (partition by b.id order by (i.kind = 'procedure') <> (p.cui is not null), b.breadth) = 1;
