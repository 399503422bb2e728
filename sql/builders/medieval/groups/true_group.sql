-- Pairs of a supported and an unsupported statement, both true, of predicates of which no statement is called false
-- Grain: fact_group, one row per pair; choice_code, one per unsupported statement
-- Output: fact_group, choice_code, choice and extension, as the groups of four have them
-- Inputs: true_candidate(number, frame, code), admission, frame, usable_fact, nameable, statement_name. Parameter: seed
-- A replacement that another fact supports is preferred, so that fewer names tell support. A statement stands once in
--   an admission. Source: docs/medieval.md#contraindications
create or replace temp table fact_group as
with used as (
    select distinct supported.original_cui as cui
    from frame as supported
    inner join true_candidate on supported.frame = true_candidate.frame
),

offered as (
    select
        candidate.number,
        admission.hadm_id,
        concat(admission.hadm_id, '-', fact.key, '-', left(frame.slot, 1)) as group_id,
        frame.frame,
        frame.fact,
        fact.predicate,
        fact.head_cui,
        fact.tail_cui,
        fact.pattern,
        fact.tier,
        fact.hops,
        frame.slot,
        frame.original_cui,
        frame.kept_cui,
        candidate.code,
        nameable.cui as candidate_cui,
        if(frame.slot = 'head', [own_name.name, kept_name.name], [kept_name.name, own_name.name]) as supported,
        if(frame.slot = 'head', [other_name.name, kept_name.name], [kept_name.name, other_name.name]) as unsupported,
        nameable.cui in (select used.cui from used) as is_used,
        unit(concat_ws(chr(31), 'true only', admission.hadm_id, fact.key, nameable.cui)) as draw
    from true_candidate as candidate
    inner join admission on candidate.number = admission.number
    inner join frame on candidate.frame = frame.frame
    inner join usable_fact as fact on frame.fact = fact.fact
    inner join nameable on candidate.code = nameable.code
    inner join statement_name as kept_name on frame.kept_cui = kept_name.cui
    inner join statement_name as own_name on frame.original_cui = own_name.cui
    inner join statement_name as other_name on nameable.cui = other_name.cui
),

drawn as (
    select * from offered
    qualify row_number() over (partition by number, fact order by is_used desc, draw asc, slot asc) = 1
),

supported_once as (
    select * from drawn
    qualify row_number() over (partition by number, predicate, supported order by draw, fact) = 1
),

once as (
    select * from supported_once
    qualify row_number() over (partition by number, predicate, unsupported order by draw, fact) = 1
)

select
    once.* exclude (fact, supported, unsupported, is_used, draw),
    row_number() over (order by number, group_id) - 1 as group_no,
    draw as precedence
from once;

create or replace temp table choice_code as
select
    group_no,
    'Q2' as quadrant,
    code
from fact_group;

create or replace temp table choice as
select
    group_id,
    'Q2' as quadrant,
    candidate_cui
from fact_group;

create or replace temp table extension (
    group_id varchar, broader_cui varchar, broader_predicate varchar, broader_name varchar
);
