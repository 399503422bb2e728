-- Pairs that the release itself relates in a row of MRREL, whatever our table of relations makes of it
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per ordered pair
-- Output: steward_raw(head_cui, tail_cui, relation)
-- Inputs: steward_pair, umls.mrrel. Siblings and qualifiers (SIB, AQ, QB) relate nothing; a contraindication makes no
--   statement true
create or replace temp table steward_raw as
select
    pair.head_cui,
    pair.tail_cui,
    min(coalesce(nullif(row.rela, ''), row.rel)) as relation
from steward_pair as pair
inner join umls.mrrel as row
    on
        (pair.head_cui = row.cui2 and pair.tail_cui = row.cui1)
        or (pair.head_cui = row.cui1 and pair.tail_cui = row.cui2)
where row.rel not in ('SIB', 'AQ', 'QB') and coalesce(row.rela, '') not ilike '%contraindicat%'
group by pair.head_cui, pair.tail_cui;
