-- What may be chosen: admissions that contradict a statement, and those that support it
-- Grain: one row per admission and statement. Output: (source, goal, number, wording, id), by source
-- Inputs: contradiction, offered, named, admission, cohort, wording. Parameter: seed
-- From an admission to what it contradicts, from a statement to the admissions that support it; a statement is another
--   node in each split, and where contexts name one of its ends once or more often. Nodes: admissions by their number,
--   then statements. Edges of a node by their hash
with counted as (
    select (count(*))::integer as admissions from admission
),

edge as (
    select
        contradiction.number,
        contradiction.wording,
        cohort.split,
        null as id,
        admission.hadm_id
    from contradiction
    inner join admission on contradiction.number = admission.number
    inner join cohort on admission.hadm_id = cohort.hadm_id
    union all
    select
        offered.number,
        offered.wording,
        offered.split,
        offered.id,
        admission.hadm_id
    from offered
    inner join admission on offered.number = admission.number
    where offered.wording in (select contradiction.wording from contradiction)
),

placed as (
    select
        edge.*,
        counted.admissions + 12 * edge.wording + 3 * named.often
        + list_position(['train', 'validation', 'test'], edge.split) - 1 as node
    from edge
    inner join named on edge.number = named.number and edge.wording = named.wording
    cross join counted
)

select
    if(placed.id is null, placed.number, placed.node)::integer as source,
    if(placed.id is null, placed.node, placed.number)::integer as goal,
    placed.number,
    placed.wording,
    placed.id
from placed
inner join wording on placed.wording = wording.wording and wording.role = 'head'
order by
    source,
    unit(concat_ws(chr(31), 'circuit', placed.hadm_id, wording.statement)),
    goal;
