-- Illnesses that last, so that a past history that names them speaks of this stay too
-- Grain: one row per concept. Output: lasting(cui): what ehr/data/lasting_names.tsv names, and its kinds, without those
--   that end
-- Source: docs/definitions.md#certainty
-- Inputs: lasting_target(cui, lasts), kg.edge
create or replace temp table lasting as
with recursive is_a as materialized (
    select
        head_cui,
        tail_cui
    from kg.edge
    where predicate = 'is_a'
),

kind as (
    select * from lasting_target
    union
    select
        is_a.head_cui as cui,
        kind.lasts
    from kind
    inner join is_a on kind.cui = is_a.tail_cui
)

select kind.cui
from kind
group by kind.cui
having bool_and(kind.lasts = 'yes');
