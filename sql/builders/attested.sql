-- Ends of true facts that the context of an admission attests, with the mentions that do so
-- Grain: attests, one row per concept and what a mention of it attests; attested, one row per admission, attested
--   concept, attesting mention and candidate
-- Output: attests(cui, other, relation, depth), attested(number, hadm_id, cui, relation, depth, mention, segment,
--   block, in_heading)
-- Inputs: present_mention, closure, true_fact
-- A mention attests its concept, the ancestors of it, and what is linked to it by tradename, ingredient or salt. Of all
--   these only what some true fact speaks of is kept: nothing else can stand in a statement. There are hundreds of rows
--   an admission: they are never written down. Source: DESIGN section 5
create or replace temp table attests as
select closure.*
from closure
where
    closure.relation in ('self', 'equivalent', 'ancestor')
    and closure.other in (
        select true_fact.head_cui from true_fact
        union
        select true_fact.tail_cui from true_fact
    );

create or replace temp view attested as
select
    present_mention.number,
    present_mention.hadm_id,
    attests.other as cui,
    attests.relation,
    attests.depth,
    present_mention.mention,
    present_mention.segment,
    present_mention.block,
    present_mention.in_heading
from present_mention
inner join attests on present_mention.cui = attests.cui;
