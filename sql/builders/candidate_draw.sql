-- The draw of the stable hash that the choice uses, for the candidates of one shard
-- Grain: one row per group, quadrant and candidate. Output: (place, draw)
-- Inputs: shard_candidate(place, run, code), shard_run(run, group_no, quadrant), fact_group, coded. Parameter: seed
-- A run is a group's quadrant; what its candidates have in common is put together once
with named as (
    select
        shard_run.run,
        concat_ws(
            chr(31), getvariable('seed'), 'candidate', fact_group.group_id, shard_run.quadrant, ''
        ) as key
    from shard_run
    inner join fact_group on shard_run.group_no = fact_group.group_no
)

select
    candidate.place,
    -ln(unit_of(named.key || coded.cui)) as draw
from shard_candidate as candidate
inner join named on candidate.run = named.run
inner join coded on candidate.code = coded.code;
