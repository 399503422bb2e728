-- What a mention of a concept attests, as far as true facts speak of it
-- Grain: one row per concept of a mention and attested concept
-- Output: attested(cui, other, relation, depth). Inputs: closure, true_fact
-- A mention attests its concept, the ancestors of it, and what is linked to it by tradename, ingredient or salt.
--   Only ends of true facts can stand in a statement. All that mentions attest would be hundreds of rows for each
--   admission, so it is never stored: queries join present_mention with this table.
--   Source: docs/definitions.md#attested
create or replace temp table attested as
select closure.*
from closure
where
    closure.relation in ('self', 'equivalent', 'ancestor')
    and closure.other in (
        select true_fact.head_cui from true_fact
        union
        select true_fact.tail_cui from true_fact
    );
