-- What statements say, whatever the admission
-- Grain: one row per frame, quadrant, replacing concept and class of the kept end
-- Output: proposition(proposition, frame, quadrant, code, broader_cui, predicate, slot, head_code, head_cui, head_name,
--   tail_code, tail_cui, tail_name, kept_cui, original_cui, candidate_cui, original_base, candidate_base, pattern,
--   tier, hops, broader_predicate, broader_name)
-- Inputs: sample, fact_group, extension, nameable, sibling_fact, statement_name, linked_base
create or replace temp table proposition as
with wanted as (
    select distinct
        frame,
        quadrant,
        code,
        broader_cui
    from sample
),

framed as (
    select distinct
        frame,
        predicate,
        slot,
        head_cui,
        tail_cui,
        kept_cui,
        original_cui,
        pattern,
        tier,
        hops
    from fact_group
),

described as (
    select distinct
        fact_group.kept_cui,
        extension.broader_cui,
        extension.broader_predicate,
        extension.broader_name
    from extension
    inner join fact_group on extension.group_id = fact_group.group_id
),

replaced as (
    select
        wanted.*,
        framed.* exclude (frame, head_cui, tail_cui, pattern, tier, hops),
        candidate.cui as candidate_cui,
        if(framed.slot = 'head', coalesce(candidate.cui, framed.original_cui), framed.kept_cui) as head_cui,
        if(framed.slot = 'head', framed.kept_cui, coalesce(candidate.cui, framed.original_cui)) as tail_cui,
        if(wanted.quadrant = 'Q1', framed.pattern, null) as first_pattern,
        if(wanted.quadrant = 'Q1', framed.tier, null) as first_tier,
        if(wanted.quadrant = 'Q1', framed.hops, null) as first_hops
    from wanted
    inner join framed on wanted.frame = framed.frame
    left join nameable as candidate on wanted.code = candidate.code
)

select
    row_number() over (order by replaced.frame, replaced.quadrant, replaced.code, replaced.broader_cui) - 1
        as proposition,
    replaced.frame,
    replaced.quadrant,
    replaced.code,
    replaced.broader_cui,
    replaced.predicate,
    replaced.slot,
    head.code as head_code,
    replaced.head_cui,
    head_name.name as head_name,
    tail.code as tail_code,
    replaced.tail_cui,
    tail_name.name as tail_name,
    replaced.kept_cui,
    replaced.original_cui,
    replaced.candidate_cui,
    coalesce(original_base.base_cui, replaced.original_cui) as original_base,
    coalesce(candidate_base.base_cui, replaced.candidate_cui) as candidate_base,
    coalesce(replaced.first_pattern, sibling_fact.pattern) as pattern,
    coalesce(replaced.first_tier, sibling_fact.tier) as tier,
    coalesce(replaced.first_hops, sibling_fact.hops, 1)::integer as hops,
    described.broader_predicate,
    described.broader_name
from replaced
inner join nameable as head on replaced.head_cui = head.cui
inner join nameable as tail on replaced.tail_cui = tail.cui
inner join statement_name as head_name on replaced.head_cui = head_name.cui
inner join statement_name as tail_name on replaced.tail_cui = tail_name.cui
left join linked_base as original_base on replaced.original_cui = original_base.cui
left join linked_base as candidate_base on replaced.candidate_cui = candidate_base.cui
left join described on replaced.kept_cui = described.kept_cui and replaced.broader_cui = described.broader_cui
left join sibling_fact
    on
        if(replaced.quadrant = 'Q2', replaced.head_cui, null) = sibling_fact.head_cui
        and replaced.predicate = sibling_fact.predicate
        and replaced.tail_cui = sibling_fact.tail_cui;
