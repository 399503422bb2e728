-- Pairs of which a hierarchy says that one is a kind of the other
-- Grain: one row per ordered pair. Output: kind_pair(head_cui, tail_cui). Inputs: found_fact
create or replace temp table kind_pair as
select distinct
    head_cui,
    tail_cui
from found_fact
where predicate = 'classified_as';
