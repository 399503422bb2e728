-- Pairs of concepts that some statement could call false
-- Grain: one row per ordered pair, as statements have it. Output: (one, other). Inputs: false_pair, coded
select distinct
    head.code as one,
    tail.code as other
from false_pair
inner join coded as head on false_pair.head_cui = head.cui
inner join coded as tail on false_pair.tail_cui = tail.cui
