-- Names that the texts hold, with all concepts that have them
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per name and concept
-- Output: steward_name(key, cui, shape, preferred): an abbreviation of up to five capitals has a shape and is found
--   in that case only; names of fewer than three letters are left out
-- Inputs: steward_phrase, kg.name, steward_reader(written, means),
--   steward_end(cui, name), steward_key. A name with one comma also stands the
--   other way round, as texts have it. preferred: it is the concept's own name, or the one that the
--   statement calls it by
create or replace temp table steward_name as
with plain as (
    select
        cui,
        is_preferred as preferred,
        regexp_replace(
            name, '\s*\((?:disorder|finding|substance|product|procedure|disease|situation|symptom|drug)\)$', '', 'i'
        ) as name
    from kg.name
),

turned as (
    select
        cui,
        preferred,
        name
    from plain
    union all
    select
        cui,
        preferred,
        regexp_replace(name, '^([^,]+), ([^,]+)$', '\2 \1') as name
    from plain
    where regexp_matches(name, '^[^,]+, [^,]+$')
),

own as (
    select distinct
        cui,
        steward_key(name) as key
    from steward_end
),

keyed as (
    select
        turned.cui,
        turned.preferred or own.cui is not null as preferred,
        steward_key(turned.name) as key,
        if(regexp_matches(turned.name, '^[A-Z0-9]{1,5}$'), turned.name, null) as shape
    from turned
    left join own
        on turned.cui = own.cui and steward_key(turned.name) = own.key
),

written as (
    select
        keyed.cui,
        true as preferred,
        steward_key(reader.written) as key,
        if(regexp_matches(reader.written, '^[A-Z0-9]{2,5}$'), reader.written, null) as shape
    from steward_reader as reader
    inner join keyed on steward_key(reader.means) = keyed.key and keyed.preferred
),

known as (
    select * from keyed
    union all
    select * from written
),

empty as (
    select steward_key(written) as key
    from steward_reader
    where means = ''
)

select
    known.key,
    known.cui,
    known.shape,
    bool_or(known.preferred) as preferred
from known
semi join (select distinct key from steward_phrase) as held on known.key = held.key
anti join empty on known.key = empty.key
where len(known.key) >= 3 or known.shape is not null
group by known.key, known.cui, known.shape;
