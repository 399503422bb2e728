-- Rows of MRMAP that lead from an ICD code to another vocabulary's concept or code
-- Grain: one row per (from_sab, from_code, to_sab, to_code, cui, quality); cui is null where the target code has none;
--   breadth counts the codes of a category, 0 for other targets
-- Inputs: source_mrmap, source_mrsat (umls.mrmap and umls.mrsat, empty where the release has none), release.mrconso,
--   icd_atom
-- Output: temporary table icd_map(from_sab, from_code, to_sab, to_code, cui, quality, breadth);
--   quality 1 exact, 3 approximate, 4 category (3 and 4 leave room for the parent code, see icd_candidate)
-- Caveat: maps are read from left to right only. The NLM map goes from SNOMED CT to ICD-10-CM and is not inverted.
--   REL XR says that there is no map. Of ICD codes SCUI and SDUI are the code itself.
-- Source: UMLS Reference Manual, MRMAP; the vocabularies of a map set stand in MRSAT (FROMRSAB, TORSAB). Where a
--   release leaves that out, the vocabulary is the one that has most of the side's codes.
create or replace temp table icd_map as
with row_of_map as (
    select
        coalesce(mapsetcui, '') || '|' || coalesce(mapsetsab, '') || '|' || coalesce(maptype, '') as map_set,
        mapsetcui,
        fromexpr,
        totype,
        toexpr,
        case
            when rela = 'classified_as' then 4
            when rel = 'SY' or (mapatn = 'APPROXIMATE' and mapatv = '0') then 1
            else 3
        end as quality
    from source_mrmap
    where
        fromtype in ('CODE', 'SCUI', 'SDUI') and totype in ('CODE', 'CUI', 'SCUI', 'SDUI', 'AUI') and toexpr <> ''
        and rel is distinct from 'XR'
),

stated as (
    select
        cui as mapsetcui,
        max(atv) filter (where atn = 'FROMRSAB') as from_sab,
        max(atv) filter (where atn = 'TORSAB') as to_sab
    from source_mrsat
    where atn in ('FROMRSAB', 'TORSAB')
    group by cui
),

unstated as (
    select *
    from row_of_map
    where mapsetcui is null or mapsetcui not in (select s.mapsetcui from stated as s)
),

side as (
    select distinct
        map_set,
        'from' as side,
        fromexpr as code
    from unstated
    union all
    select distinct
        map_set,
        'to' as side,
        toexpr as code
    from unstated
    where totype = 'CODE'
),

vocabulary as (
    select distinct
        c.sab,
        c.code
    from release.mrconso as c
    semi join side as s on c.code = s.code
),

inferred as (
    select
        s.map_set,
        s.side,
        v.sab
    from side as s
    inner join vocabulary as v on s.code = v.code
    group by s.map_set, s.side, v.sab
    qualify row_number() over (partition by s.map_set, s.side order by count(*) desc, v.sab) = 1
),

named as (
    select
        r.*,
        coalesce(d.from_sab, f.sab) as from_sab,
        coalesce(d.to_sab, t.sab) as to_sab
    from row_of_map as r
    left join stated as d on r.mapsetcui = d.mapsetcui
    left join inferred as f on r.map_set = f.map_set and f.side = 'from'
    left join inferred as t on r.map_set = t.map_set and t.side = 'to'
),

wanted as (
    select distinct
        from_sab,
        fromexpr as from_code,
        to_sab,
        totype,
        toexpr as to_code,
        quality
    from named
    where from_sab in ('ICD9CM', 'ICD10CM', 'ICD10PCS')
),

atom as (
    select
        sab,
        'CODE' as totype,
        code,
        cui
    from icd_atom
    union all
    select
        c.sab,
        identifier.totype,
        identifier.code,
        c.cui
    from release.mrconso as c
    cross join
        lateral (
            select
                unnest(['CODE', 'SCUI', 'SDUI', 'AUI']) as totype,
                unnest([c.code, c.scui, c.sdui, c.aui]) as code
        ) as identifier
    where
        c.sab in (select w.to_sab from wanted as w)
        and not (identifier.totype = 'CODE' and c.sab in ('ICD9CM', 'ICD10CM', 'ICD10PCS'))
),

target as (
    select
        w.*,
        case when w.totype = 'CUI' then w.to_code else a.cui end as cui
    from wanted as w
    left join atom as a on w.to_sab = a.sab and w.totype = a.totype and w.to_code = a.code
),

-- CCS numbers its single and its multiple level alike: '3' is bacterial infection in one, endocrine diseases in the
-- other. The attribute CCI names the codes of each concept.
named_code as (
    select distinct
        sab,
        code,
        atv,
        cui
    from source_mrsat
    where sab in (select w.to_sab from wanted as w) and atn = 'CCI'
),

told as (
    select
        t.*,
        n.cui is not null as is_told
    from target as t
    left join named_code as n on t.to_sab = n.sab and t.to_code = n.code and t.from_code = n.atv and t.cui = n.cui
)

select distinct
    from_sab,
    from_code,
    to_sab,
    to_code,
    cui,
    quality,
    if(quality = 4, count(distinct from_code) over (partition by to_sab, to_code), 0) as breadth
from told
qualify is_told or not bool_or(is_told) over (partition by from_sab, from_code, to_sab, to_code);
