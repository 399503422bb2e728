-- Which line of the relation table applies to which kind of row, and which kinds no line covers
-- Grain: one row per kind of MRREL row (RELA, REL, SAB) and line that applies to it; no line: uncovered
-- Inputs: release.mrrel, kg.relation_map
-- Output: kg.relation_use(rela, rel, sab, n, predicate, direction), kg.uncovered(rela, rel, sab, n). The most
--   specific lines win, SAB before REL
-- Source: kg/data/relations.tsv
create or replace table kg.relation_use as
with kind as (
    select
        coalesce(rela, '') as rela,
        coalesce(rel, '') as rel,
        coalesce(sab, '') as sab,
        count(*) as n
    from release.mrrel
    group by all
),

fit as (
    select
        kind.*,
        line.predicate,
        line.direction,
        if(line.sab <> '*', 2, 0) + if(line.rel <> '*', 1, 0) as specificity
    from kind
    left join kg.relation_map as line
        on
            lower(kind.rela) = line.rela
            and line.rel in ('*', kind.rel)
            and line.sab in ('*', kind.sab)
)

select * exclude (specificity)
from fit
qualify specificity = max(specificity) over (partition by rela, rel, sab)
order by rela, rel, sab, predicate, direction;

create or replace table kg.uncovered as
select * exclude (predicate, direction)
from kg.relation_use
where predicate is null
order by n desc, rela asc, rel asc, sab asc;
