-- Places of replaced ends: buckets of concepts, and whether the predicate names a class
-- Grain: one row per predicate and slot. Output: (place, buckets, taxonomic, of_head). Inputs: place.
-- Parameter: taxonomic
select
    place,
    buckets,
    list_contains(getvariable('taxonomic'), predicate) as taxonomic,
    slot = 'head' as of_head
from place
order by place
