-- Codes that lost their leading zeros, as spreadsheets lose them
-- Grain: one row per code of a set without leading zeros, whose digits may stand for another code
-- Inputs: source_code, icd_atom
-- Output: temporary table lost_zero(id, is_clear); source_code has the zeros again where one reading is a code of the
--   release (is_clear), else neither bare nor dotted form, so that no way leads from the code to a concept
-- Caveat: told by the set, a source's codes of one vocabulary: none of digits alone begins with a zero, and of
--   ICD-9-CM at least one in a hundred is in the release only with zeros before it. Of a set that lost its zeros 389
--   may be 038.9 too: what has several readings, or none and room for zeros, has no concept. ndc11 fills up NDCs
-- Source: ICD-9-CM official guidelines (001 to 099, procedures 00 to 09); FDA, NDC format
create or replace temp table lost_zero as
with digits as (
    select
        id,
        kind,
        source,
        vocabulary,
        bare,
        if(kind = 'procedure', 4, 5) as longest
    from source_code
    where vocabulary = 'ICD9CM' and regexp_full_match(bare, '[0-9]+')
),

reading as (
    select
        digits.id,
        zero.n as zeros
    from digits
    cross join (values (0), (1), (2)) as zero (n)
    inner join icd_atom as atom
        on
            digits.vocabulary = atom.sab
            and dotted_icd(digits.kind, digits.vocabulary, repeat('0', zero.n) || digits.bare) = atom.code
    where
        length(digits.bare) + zero.n between icd_root_length(digits.kind, digits.vocabulary, digits.bare)
        and digits.longest
),

judged as (
    select
        digits.id,
        digits.source,
        digits.bare,
        length(digits.bare) < digits.longest as has_room,
        count(reading.zeros) as readings,
        max(reading.zeros) as zeros
    from digits
    left join reading on digits.id = reading.id
    group by all
),

damaged as (
    select source
    from judged
    group by source
    having
        not bool_or(starts_with(bare, '0'))
        and count(*) filter (where readings = 1 and zeros > 0) >= greatest(1, count(*) / 100)
),

product as (
    select
        id,
        source,
        length(code) < 11 as is_short,
        bool_or(code like '0_%') over (partition by source) as has_zeros
    from source_code
    where vocabulary = 'NDC' and regexp_full_match(code, '[0-9]{7,11}')
)

select
    judged.id,
    judged.readings = 1 as is_clear,
    if(judged.readings = 1, repeat('0', judged.zeros) || judged.bare, null) as bare
from judged
semi join damaged on judged.source = damaged.source
where judged.readings > 1 or (judged.readings = 1 and judged.zeros > 0) or (judged.readings = 0 and judged.has_room)
union all
select
    id,
    true as is_clear,
    null as bare
from product
where is_short and not has_zeros;

update source_code
set bare = lost_zero.bare, dotted = dotted_icd(source_code.kind, source_code.vocabulary, lost_zero.bare)
from lost_zero
where source_code.id = lost_zero.id and source_code.code_version is not null;
