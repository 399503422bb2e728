-- The edges that walks of up to three steps between the ends of statements can take, in both directions
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: near, one row per concept; reading, one row per name of a step and predicate that it reads; step, one per
--   (start, step, goal)
-- Output: near(cui, number); step(start, name, goal, fan), all in numbers, those of concepts are the graph's; fan: of
--   all steps of the name from where the edge is read
-- Inputs: claim_end, step_name, kg.edge_code, kg.node, kg.predicate_code, kg.predicate
-- Both ends of such an edge are ends of statements or their neighbours: of a whole release that is a small part. Only
--   numbers of edges are read: the release is read as a whole, twice from either end
create or replace temp table near as
with ended as (
    select node.node as number
    from kg.node as node
    semi join claim_end on node.cui = claim_end.cui
),

beside as (
    select unnest([edge.head, edge.tail]) as number
    from kg.edge_code as edge
    semi join ended on edge.head = ended.number
    union
    select unnest([edge.head, edge.tail]) as number
    from kg.edge_code as edge
    semi join ended on edge.tail = ended.number
)

select
    node.cui,
    beside.number
from beside
inner join kg.node as node on beside.number = node.node;

-- an edge is read from its head by its predicate, from its tail by the inverse; walked backward, its name begins with <
create or replace temp table reading as
with either as (
    select
        code.code,
        true as from_head,
        predicate.predicate as name
    from kg.predicate_code as code
    inner join kg.predicate as predicate on code.predicate = predicate.predicate
    union all
    select
        code.code,
        false as from_head,
        predicate.inverse as name
    from kg.predicate_code as code
    inner join kg.predicate as predicate on code.predicate = predicate.predicate
)

select
    either.code,
    either.from_head,
    dense_rank() over (order by either.name) as name,
    ahead.number as ahead,
    back.number as back
from either
left join step_name as ahead on either.name = ahead.name
left join step_name as back on '<' || either.name = back.name
where ahead.number is not null or back.number is not null;

create or replace temp table step as
with walked as (
    select
        edge.head as start,
        reading.name,
        edge.tail as goal
    from kg.edge_code as edge
    inner join reading on edge.predicate = reading.code and reading.from_head
    semi join near on edge.head = near.number
    union
    select
        edge.tail as start,
        reading.name,
        edge.head as goal
    from kg.edge_code as edge
    inner join reading on edge.predicate = reading.code and not reading.from_head
    semi join near on edge.tail = near.number
),

fanned as (
    select
        *,
        (count(*) over (partition by start, name))::integer as fan
    from walked
),

named as (
    select distinct
        name,
        ahead,
        back
    from reading
),

kept as (
    select
        fanned.start,
        fanned.goal,
        fanned.fan,
        named.ahead,
        named.back
    from fanned
    semi join near on fanned.goal = near.number
    inner join named on fanned.name = named.name
)

select
    start,
    ahead as name,
    goal,
    fan
from kept
where ahead is not null
union all
select
    goal as start,
    back as name,
    start as goal,
    fan
from kept
where back is not null;
