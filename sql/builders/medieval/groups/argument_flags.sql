-- Arguments whose ends are replaced: buckets of concepts, and whether the predicate names a class
-- Grain: one row per predicate and slot. Output: (argument, buckets, taxonomic, of_head). Inputs: argument.
-- Parameter: taxonomic
select
    argument,
    buckets,
    list_contains(getvariable('taxonomic'), predicate) as taxonomic,
    slot = 'head' as of_head
from argument
order by argument
