-- Codes without a concept: why, and what comes nearest
-- Grain: one row per (source, vocabulary, code) of source_code that ground.code_map lacks
-- Inputs: source_code, lost_zero, ground.code_map, ehr.code_title, release.mrconso, drug_variant, source_rxnsat,
--   source_mrsat, rxnorm_node, drug_name_candidate
-- Output: ground.unmapped_code(source, vocabulary, code, title, reason, candidates, n_rows). title: the code's own, of
--   drugs what orders call them. candidates: at most three, the nearest first, as text 'CUI name'
-- Caveat: another form is the same code in a vocabulary of the same family (ICD10 and ICD10CM) or with other
--   punctuation, and of an NDC another package of the product. Candidates are never used: what the name of an order
--   means, other forms, then names with the rarest word of the title, by the share of words in common
-- Source: docs/definitions.md#code
create or replace table ground.unmapped_code as
with unmapped as (
    select
        s.id,
        s.kind,
        s.source,
        s.vocabulary,
        s.code,
        coalesce(s.name, t.title) as title,
        s.n_rows,
        coalesce(s.dotted, replace(replace(upper(s.code), '-', ''), '.', '')) as form,
        if(s.vocabulary = 'NDC', ndc11(s.code), null) as ndc,
        list_distinct(string_split(plain_name(coalesce(s.name, t.title)), ' ')) as words
    from source_code as s
    left join (
        select
            kind,
            vocabulary,
            code,
            min(title) as title
        from ehr.code_title
        group by all
    ) as t on s.kind = t.kind and s.vocabulary = t.vocabulary and s.code = t.code
    anti join ground.code_map as m
        on s.source = m.source and s.code = m.code and s.vocabulary is not distinct from m.vocabulary
    where trim(s.code) <> '0'
),

-- ICD10 and ICD10CM are of one family.
sister as (
    select
        u.vocabulary,
        a.sab
    from (select distinct vocabulary from unmapped) as u
    inner join (select distinct sab from release.mrconso) as a
        on regexp_extract(u.vocabulary, '^[A-Z]+[0-9]*') = regexp_extract(a.sab, '^[A-Z]+[0-9]*')
),

product as (
    select
        ndc11(s.atv) as ndc,
        n.cui
    from source_rxnsat as s
    left join rxnorm_node as n on s.rxcui = n.rxcui
    where s.atn = 'NDC'
    union
    select
        ndc11(atv) as ndc,
        cui
    from source_mrsat
    where atn = 'NDC' and stype <> 'CUI'
),

-- The code or the drug's name as the release has it otherwise; what has neither fault is of a type that is not wanted.
found as (
    select
        u.id,
        a.cui,
        a.lat <> 'ENG' as is_foreign,
        coalesce(a.suppress, 'N') <> 'N' as is_suppressed,
        'in the release in another form' as reason
    from unmapped as u
    inner join sister as s on u.vocabulary = s.vocabulary
    inner join release.mrconso as a
        on
            s.sab = a.sab
            and u.form = if(a.sab like 'ICD%', upper(a.code), replace(replace(upper(a.code), '-', ''), '.', ''))
    union all
    select
        u.id,
        a.cui,
        a.lat <> 'ENG' as is_foreign,
        coalesce(a.suppress, 'N') <> 'N' as is_suppressed,
        'semantic type not wanted' as reason
    from unmapped as u
    inner join drug_variant as v on u.kind = 'drug_name' and u.code = v.code and v.rank < 6
    inner join release.mrconso as a on v.form = lower(a.str)
    union all
    select
        u.id,
        p.cui,
        false as is_foreign,
        u.ndc = p.ndc as is_suppressed,
        'in the release in another form' as reason
    from unmapped as u
    inner join product as p on left(u.ndc, 9) = left(p.ndc, 9)
),

-- Names of the release that have the rarest word of a title.
token as materialized (
    select
        cui,
        str,
        word
    from (
        select
            cui,
            str,
            unnest(string_split(translate(lower(str), ',-/()', '     '), ' ')) as word
        from release.mrconso
        where lat = 'ENG' and coalesce(suppress, 'N') = 'N'
    ) as named
    where word in (select unnest(u.words) from unmapped as u)
),

common as (
    select
        word,
        count(*) as n_names
    from token
    group by word
),

rarest as (
    select
        u.title,
        any_value(u.words) as words,
        arg_min(c.word, (c.n_names, c.word)) as word
    from unmapped as u
    inner join common as c on list_contains(u.words, c.word)
    group by u.title
    having min(c.n_names) < 2000
),

near as (
    select
        r.title,
        t.cui,
        max(len(list_intersect(r.words, n.words)) / len(list_distinct(r.words || n.words))) as share
    from rarest as r
    inner join token as t on r.word = t.word
    cross join lateral (select string_split(plain_name(t.str), ' ') as words) as n
    group by r.title, t.cui
),

candidate as (
    -- Of a drug's code first what the names of its orders mean.
    select
        u.id,
        c.cui,
        3.0 as nearness
    from unmapped as u
    inner join ehr.code as d on u.kind = 'drug' and u.source = d.source and u.code = d.code
    inner join drug_name_candidate as c on d.name = c.code
    union all
    select
        id,
        cui,
        2.0 as nearness
    from found
    union all
    select
        u.id,
        n.cui,
        n.share as nearness
    from unmapped as u
    inner join near as n on u.title = n.title and n.share >= 0.4
),

nearest as (
    select
        id,
        cui,
        max(nearness) as nearness
    from candidate
    where cui is not null
    group by id, cui
    qualify row_number() over (partition by id order by max(nearness) desc, cui asc) <= 3
),

named as (
    select
        cui,
        arg_min(str, (coalesce(suppress, 'N') <> 'N', ts <> 'P', stt <> 'PF', ispref <> 'Y', aui)) as name
    from release.mrconso
    where cui in (select n.cui from nearest as n)
    group by cui
),

told as (
    select
        n.id,
        list(n.cui || ' ' || b.name order by n.nearness desc, n.cui asc) as candidates
    from nearest as n
    inner join named as b on n.cui = b.cui
    group by n.id
),

-- The best of what was found of a code says why.
reason as (
    select
        id,
        case
            when bool_or(not is_foreign and not is_suppressed) then min(reason)
            when bool_or(not is_foreign) then 'suppressed in the release'
            else 'no English name in the release'
        end as reason
    from found
    group by id
)

select
    u.source,
    u.vocabulary,
    u.code,
    u.title,
    case
        when z.id is not null then 'leading zeros are lost: several codes'
        when r.reason is not null then r.reason
        when u.kind = 'drug_name' then 'no drug of this name'
        when u.vocabulary is null then 'vocabulary is not known'
        when u.vocabulary = 'NDC' or u.vocabulary in (select a.sab from release.mrconso as a) then 'no such code'
        else 'vocabulary is not in the release'
    end as reason,
    coalesce(t.candidates, []) as candidates,
    u.n_rows
from unmapped as u
left join reason as r on u.id = r.id
left join told as t on u.id = t.id
left join lost_zero as z on u.id = z.id and not z.is_clear
order by all;
