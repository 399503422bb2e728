-- What facts of the admissions of one shard can rest on: ends that the context attests, with the mentions that do so
-- Grain: one row per admission, concept and mention. Output: (number, side, closeness, mention)
-- Inputs: admission, fact_end, fact_side, attested. Parameter: shard
select distinct
    admission.number::integer as number,
    fact_side.side,
    fact_end.closeness,
    attested.mention
from admission
inner join fact_end on admission.hadm_id = fact_end.hadm_id
inner join fact_side on fact_end.cui = fact_side.cui
inner join attested on admission.hadm_id = attested.hadm_id and fact_end.cui = attested.cui
where admission.shard = getvariable('shard')
order by all
