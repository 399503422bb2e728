-- Concepts with their preferred name, semantic groups and types
-- Grain: one row per CUI of MRCONSO. A suppressed name, or one of another language, is used where there is no other.
-- Inputs: release.mrconso, kg.name, kg.node, concept_type, kg.atom_rank, kg.language, kg.suppressed
-- Output: kg.concept(cui, name, groups, types)
-- Source: UMLS Reference Manual (TS = P, STT = PF, ISPREF = Y; ties by MRRANK, higher first, then by the lowest AUI)
create or replace table kg.concept as
-- Nearly every concept has a preferred name among kg.name, which is in the order of preference: the names of the others
-- are all weighed.
with best as (
    select
        cui,
        arg_min(name, rowid) as name
    from kg.name
    where is_preferred
    group by cui
),

atom as (
    select
        conso.cui,
        conso.str,
        {
            'other_language': conso.lat not in (select lat from kg.language),
            'suppressed': coalesce(conso.suppress, 'N') in (select suppress from kg.suppressed),
            'not_preferred': not coalesce(conso.ts = 'P' and conso.stt = 'PF' and conso.ispref = 'Y', false),
            'rank': -coalesce(rank.rank, 0),
            'aui': conso.aui
        } as preference
    from release.mrconso as conso
    anti join best on conso.cui = best.cui
    left join kg.atom_rank as rank on conso.sab = rank.sab and conso.tty = rank.tty
),

named as (
    select * from best
    union all
    select
        cui,
        arg_min(str, preference) as name
    from atom
    group by cui
)

select
    node.cui as cui,
    named.name as name,
    coalesce(typed.groups, []) as groups,
    coalesce(typed.types, []) as types
from kg.node as node
inner join named on node.cui = named.cui
left join concept_type as typed on node.cui = typed.cui
order by node.cui;
