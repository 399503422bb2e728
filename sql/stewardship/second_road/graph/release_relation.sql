-- Pairs that the release itself relates in a row of MRREL, whatever our table of relations makes of it
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per ordered pair of claims
-- Output: release_relation(head_cui, tail_cui, relation), added to. Inputs: claim, release.mrrel
-- Siblings and qualifiers (SIB, AQ, QB) relate nothing; a contraindication makes no statement true
insert into release_relation
with asked as (
    select
        head_cui,
        tail_cui,
        head_cui as one,
        tail_cui as other
    from claim
    union
    select
        head_cui,
        tail_cui,
        tail_cui as one,
        head_cui as other
    from claim
)

select
    asked.head_cui,
    asked.tail_cui,
    min(coalesce(nullif(row.rela, ''), row.rel)) as relation
from asked
inner join release.mrrel as row on asked.one = row.cui1 and asked.other = row.cui2
where row.rel not in ('SIB', 'AQ', 'QB') and coalesce(row.rela, '') not ilike '%contraindicat%'
group by asked.head_cui, asked.tail_cui;
