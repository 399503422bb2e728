-- Concepts with their preferred name, semantic groups and types
-- Grain: one row per CUI of MRCONSO. A suppressed name, or one of another language, is used where there is no other.
-- Inputs: umls.mrconso, kg.node, kg.atom_rank, kg.language, kg.suppressed
-- Output: kg.concept(cui, name, groups, types)
-- Source: UMLS Reference Manual (TS = P, STT = PF, ISPREF = Y; ties by MRRANK, higher first, then by the lowest AUI)
create or replace table kg.concept as
with atom as (
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
    from umls.mrconso as conso
    left join kg.atom_rank as rank on conso.sab = rank.sab and conso.tty = rank.tty
)

select
    node.cui as cui,
    arg_min(atom.str, atom.preference) as name,
    any_value(node.groups) as groups,
    any_value(node.types) as types
from kg.node as node
inner join atom on node.cui = atom.cui
group by node.cui
order by node.cui;
