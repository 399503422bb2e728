-- Supported statements of the dataset whose two ends the context names, as partners of contradicted ones
-- Grain: offered, one row per admission and statement; wording, one per statement; named_end, one per admission and
--   concept that the context names and attests
-- Output: offered(number, split, wording, id, statement, predicate, head_code, tail_code), wording(wording, statement,
--   role, denied, kept; one row for each end that may be denied), named_end(number, code); empty:
--   denied_mention(number, code, mention), denial(number, code, reason), contradiction(number, wording, role)
-- Inputs: ground.medieval, admission, nameable, present_mention
-- Named: by a mention of the concept itself, not of something below it or of another form of it. So a model that looks
--   for the names of both ends in the context finds them in supported and in contradicted rows alike
create or replace temp table named_end as
select distinct
    present_mention.number,
    nameable.code
from present_mention
inner join nameable on present_mention.cui = nameable.cui
-- by admission, so that a shard reads its own part only
order by present_mention.number;

create or replace temp table offered as
select
    admission.number,
    sample.split,
    dense_rank() over (
        order by sample.statement, sample.predicate, sample.head_cui, sample.tail_cui
    )::integer - 1 as wording,
    sample.id,
    sample.statement,
    sample.predicate,
    head.code as head_code,
    tail.code as tail_code
from ground.medieval as sample
inner join admission on sample.hadm_id = admission.hadm_id
inner join nameable as head on sample.head_cui = head.cui
inner join nameable as tail on sample.tail_cui = tail.cui
inner join named_end as named_head on admission.number = named_head.number and head.code = named_head.code
inner join named_end as named_tail on admission.number = named_tail.number and tail.code = named_tail.code
where sample.is_supported
qualify row_number() over (partition by admission.number, sample.statement order by sample.id) = 1;

create or replace temp table wording as
select distinct
    wording,
    statement,
    unnest(['head', 'tail']) as role,
    unnest([head_code, tail_code]) as denied,
    unnest([tail_code, head_code]) as kept
from offered;

create or replace temp table denied_mention (number integer, code integer, mention integer);

create or replace temp table denial (number integer, code integer, reason varchar);

create or replace temp table contradiction (number integer, wording integer, role varchar);
