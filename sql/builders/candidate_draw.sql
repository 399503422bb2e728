-- The draw of the stable hash that the choice uses, for the candidates of one shard
-- Grain: one row per group, quadrant and candidate. Output: (place, draw)
-- Inputs: shard_candidate(place, group_no, quadrant, code), fact_group, coded
select
    candidate.place,
    -ln(unit(concat_ws(chr(31), 'candidate', fact_group.group_id, candidate.quadrant, coded.cui))) as draw
from shard_candidate as candidate
inner join fact_group on candidate.group_no = fact_group.group_no
inner join coded on candidate.code = coded.code;
