-- Edges of the rows' paths that the graph's table does not hold with that evidence
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per row and place in its path
-- Output: steward_lost_edge(uid, place)
-- Inputs: steward_edge(uid, place, head_cui, predicate, tail_cui, rela, sab, rui), kg.edge, kg.predicate. An edge may
--   be walked against its direction, under the name of the inverse
create or replace temp table steward_lost_edge as
with ended as (
    select head_cui as cui from steward_edge
    union
    select tail_cui as cui from steward_edge
),

stored as (
    select
        edge.head_cui,
        edge.predicate,
        edge.tail_cui,
        coalesce(edge.rela, '') as rela,
        coalesce(edge.sab, '') as sab,
        coalesce(edge.rui, '') as rui
    from kg.edge as edge
    semi join ended on edge.head_cui = ended.cui
    union all
    select
        edge.tail_cui as head_cui,
        line.inverse as predicate,
        edge.head_cui as tail_cui,
        coalesce(edge.rela, '') as rela,
        coalesce(edge.sab, '') as sab,
        coalesce(edge.rui, '') as rui
    from kg.edge as edge
    inner join kg.predicate as line on edge.predicate = line.predicate
    semi join ended on edge.head_cui = ended.cui
)

select distinct
    claimed.uid,
    claimed.place
from steward_edge as claimed
anti join stored
    on
        claimed.head_cui = stored.head_cui and claimed.predicate = stored.predicate
        and claimed.tail_cui = stored.tail_cui and claimed.rela = stored.rela
        and claimed.sab = stored.sab and claimed.rui = stored.rui;
