-- The groups that some admissions could have
-- Grain: one row per admission, fact and argument of the replaced end. Output: (number, frame, bucket)
-- Inputs: admission_fact, usable_fact, frame, argument. Parameters: first_number, last_number, seed
-- In the order of the groups' ids; the two arguments of a fact follow one another. Where an argument has many concepts,
--   each group looks at the bucket that its hash picks, so that work grows with the number of groups
select
    admission_fact.number::integer as number,
    frame.frame::integer as frame,
    case
        when argument.buckets = 1 then 0
        else (
            md5_number_upper(
                concat_ws(
                    chr(31), getvariable('seed'), 'pick',
                    concat(admission_fact.hadm_id, '-', fact.key, '-', left(frame.slot, 1))
                )
            ) % argument.buckets::ubigint
        )::integer
    end as bucket
from admission_fact
inner join usable_fact as fact on admission_fact.fact = fact.fact
inner join frame on admission_fact.fact = frame.fact
inner join argument on frame.argument = argument.argument
where
    -- a range, so that no other part is read
    admission_fact.number between getvariable('first_number') and getvariable('last_number')
order by number, fact.key, frame.slot;
