-- One false statement for each true one of an admission, with what is needed to say why it does not hold
-- Grain: one row per group of MediEval that has Q1 and at least one of Q2 to Q4
-- Output: record_fact. Inputs: medieval_row (the rows of the dataset), predicate_inverse. Parameter: seed
-- Each group gives one pair, so that no true statement is repeated. The partner is drawn by a stable hash from the
--   quadrants of the group, each the likelier the more often the name that it puts in is one that a true statement has
--   in such a place, and the less often it is offered: so a name stands in true statements as often as in others, and
--   does not tell the label (weighted draw by exponentials; 0.3 lets names that no true statement has come too).
--   `known_*` is a true statement of the dataset about the end that was put in, the one that most admissions have.
--   Classes of classes are left out there: a reader is helped by plain knowledge only
create or replace temp table known_end as
with true_fact as (
    select
        predicate,
        head_cui,
        head_name,
        tail_cui,
        tail_name
    from medieval_row
    where is_true and tier in ('stated', 'equivalent')
    union all
    select
        predicate_inverse.inverse as predicate,
        medieval_row.tail_cui as head_cui,
        medieval_row.tail_name as head_name,
        medieval_row.head_cui as tail_cui,
        medieval_row.head_name as tail_name
    from medieval_row
    inner join predicate_inverse on medieval_row.predicate = predicate_inverse.predicate
    where medieval_row.is_true and medieval_row.tier in ('stated', 'equivalent')
),

counted as (
    select
        *,
        count(*) over (partition by predicate, head_cui, tail_cui) as uses
    from true_fact
)

select
    counted.predicate,
    role.role,
    if(role.role = 'head', counted.head_cui, counted.tail_cui) as cui,
    counted.head_name,
    counted.tail_name
from counted
cross join (values ('head'), ('tail')) as role (role)
qualify row_number() over (
    partition by counted.predicate, role.role, if(role.role = 'head', counted.head_cui, counted.tail_cui)
    order by
        counted.uses desc,
        counted.head_cui asc,
        counted.tail_cui asc,
        counted.head_name asc,
        counted.tail_name asc
) = 1;

create or replace temp table record_fact as
with offered as (
    select
        other.group_id,
        other.quadrant,
        lower(if(other.replaced_end = 'head', other.head_name, other.tail_name)) as put_in,
        lower(if(other.replaced_end = 'head', held.head_name, held.tail_name)) as held
    from medieval_row as other
    inner join medieval_row as held on other.group_id = held.group_id
    where other.quadrant != 'Q1' and held.quadrant = 'Q1'
),

held_name as (
    select
        held as name,
        count(*) as n
    from offered
    group by held
),

weighed as (
    select
        offered.group_id,
        offered.quadrant,
        (coalesce(held_name.n, 0) + 0.3) / count(*) over (partition by offered.put_in) as weight,
        (
            md5_number_upper(
                concat_ws(chr(31), getvariable('seed'), 'record fact', offered.group_id, offered.quadrant)
            ) // 2048 + 1
        )::double / 9007199254740992 as unit
    from offered
    left join held_name on offered.put_in = held_name.name
),

drawn as (
    select
        group_id,
        quadrant
    from weighed
    qualify row_number() over (partition by group_id order by -ln(unit) / weight asc, quadrant asc) = 1
),

paired as (
    select
        held.group_id,
        held.subject_id,
        held.hadm_id,
        held.split,
        held.predicate,
        held.statement,
        held.head_name,
        held.tail_name,
        held.support_spans as spans,
        other.statement as wrong,
        other.quadrant,
        other.head_name as wrong_head_name,
        other.tail_name as wrong_tail_name,
        other.support_spans as wrong_spans,
        other.replaced_end,
        if(other.replaced_end = 'head', other.head_cui, other.tail_cui) as put_in
    from medieval_row as held
    inner join drawn on held.group_id = drawn.group_id
    inner join medieval_row as other on drawn.group_id = other.group_id and drawn.quadrant = other.quadrant
    where held.quadrant = 'Q1'
    -- Groups of one admission may meet in a statement: each stands once
    qualify
        row_number() over (partition by held.hadm_id, held.statement order by held.group_id) = 1
        and row_number() over (partition by held.hadm_id, other.statement order by held.group_id) = 1
)

select
    paired.*,
    known_end.head_name as known_head,
    known_end.tail_name as known_tail
from paired
left join known_end
    on
        paired.predicate = known_end.predicate and paired.replaced_end = known_end.role
        and paired.put_in = known_end.cui;
