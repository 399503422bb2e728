-- What a word of a note must mean to attest a concept, and what it may mean to leave it open
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per wanted concept, meaning and role
-- Output: steward_meaning(cui, means, role): role attests (itself, what is below it, their forms) or hints (up to two
--   steps above it, combinations that hold it and what it holds)
-- Inputs: steward_end(cui, name), kg.edge. Source: docs/definitions.md#attested
create or replace temp table steward_meaning as
with recursive below as (
    select
        cui,
        cui as means
    from steward_end
    union
    select
        below.cui,
        edge.head_cui as means
    from below
    inner join kg.edge as edge on below.means = edge.tail_cui and edge.predicate in ('is_a', 'placed_under')
),

link as (
    select
        head_cui as one,
        tail_cui as other
    from kg.edge
    where predicate = 'drug_form_of'
    union
    select
        tail_cui as one,
        head_cui as other
    from kg.edge
    where predicate = 'drug_form_of'
),

attests as (
    select
        cui,
        means
    from below
    union
    select
        attests.cui,
        link.other as means
    from attests
    inner join link on attests.means = link.one
),

above as (
    select
        cui,
        cui as means,
        0 as steps
    from steward_end
    union
    select
        above.cui,
        edge.tail_cui as means,
        above.steps + 1 as steps
    from above
    inner join kg.edge as edge on above.means = edge.head_cui and edge.predicate in ('is_a', 'placed_under')
    where above.steps < 2
),

hints as (
    select
        cui,
        means
    from above
    union
    select
        above.cui,
        link.other as means
    from above
    inner join link on above.means = link.one
    union
    select
        attests.cui,
        if(edge.head_cui = attests.means, edge.tail_cui, edge.head_cui) as means
    from attests
    inner join kg.edge as edge
        on edge.predicate = 'contains_drug' and (attests.means = edge.head_cui or attests.means = edge.tail_cui)
)

select
    cui,
    means,
    'attests' as role
from attests
union all
select
    hints.cui,
    hints.means,
    'hints' as role
from hints
anti join attests on hints.cui = attests.cui and hints.means = attests.means;
