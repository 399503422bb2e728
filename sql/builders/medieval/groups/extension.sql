-- The class that describes the kept end of some groups: "..., which is a type of X", in all statements of the group
--   alike
-- Grain: one row per group that gets an addition
-- Output: extension(group_id, broader_cui, broader_predicate, broader_name)
-- Inputs: described, contested, kg.edge, statement_name, disputed
-- The kept end is the same in the four statements of a group, so that the addition cannot tell them apart. MediEval,
--   figure 2
create or replace temp table extension as
with parent as (
    select
        described.group_id,
        edge.tail_cui as broader_cui,
        min(edge.predicate) as broader_predicate
    from described
    inner join kg.edge as edge on described.kept_cui = edge.head_cui
    inner join statement_name as class_name on edge.tail_cui = class_name.cui
    inner join statement_name as kept_name on edge.head_cui = kept_name.cui
    left join disputed
        on
            edge.head_cui = disputed.head_cui and edge.tail_cui = disputed.tail_cui
            and disputed.predicate in ('classified_as', 'has_pharmacologic_class')
    left join contested on edge.head_cui = contested.head_cui and edge.tail_cui = contested.tail_cui
    where
        disputed.head_cui is null
        and contested.head_cui is null
        and edge.predicate in ('is_a', 'has_pharmacologic_class')
        and edge.tail_cui != described.original_cui
        and plain_class(class_name.name)
        -- "clobetasol propionate, which is a type of clobetasol" says nothing
        and not list_has_all(
            string_split(lower(kept_name.name), ' '), string_split(lower(class_name.name), ' ')
        )
    group by described.group_id, edge.tail_cui
)

select
    parent.group_id,
    parent.broader_cui,
    parent.broader_predicate,
    -- many classes are named in the plural
    broader.one as broader_name
from parent
inner join statement_name as broader on parent.broader_cui = broader.cui
qualify
    row_number() over (
        partition by parent.group_id
        order by unit(concat_ws(chr(31), 'broader', parent.group_id, parent.broader_cui)), parent.broader_cui
    ) = 1;
