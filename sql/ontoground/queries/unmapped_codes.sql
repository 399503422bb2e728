-- Top unmapped codes with their titles
-- Grain: one row per (source, vocabulary, code) that has no concept, most used first; the code of a drug shows its name
-- Inputs: ground.code_map, ehr.code, ehr.code_title, release.mrconso
-- Output: reason: the release has no such vocabulary, or it has it without this code, or (of names) no such name
with used as (
    select
        kind,
        source,
        vocabulary,
        code,
        min(name) as name,
        count(*) as n_rows
    from ehr.code
    where trim(code) not in ('', '0')
    group by all
),

titled as (
    select
        kind,
        vocabulary,
        code,
        min(title) as title
    from ehr.code_title
    group by all
)

select
    u.source,
    u.vocabulary,
    u.code,
    coalesce(u.name, t.title) as title,
    case
        when u.kind = 'drug_name' then 'no drug of this name'
        when u.vocabulary is null then 'vocabulary is not known'
        when u.vocabulary = 'NDC' or u.vocabulary in (select c.sab from release.mrconso as c) then 'no such code'
        else 'vocabulary is not in the release'
    end as reason,
    u.n_rows
from used as u
left join titled as t on u.kind = t.kind and u.vocabulary = t.vocabulary and u.code = t.code
anti join ground.code_map as m
    on u.source = m.source and u.code = m.code and u.vocabulary is not distinct from m.vocabulary
order by u.n_rows desc, u.source asc, u.code asc, u.vocabulary asc;
