-- The name by which statements call a concept
-- Grain: one row per concept of the graph
-- Output: statement_name(cui, name). Inputs: admission, ground.mention, kg.name, kg.concept
-- The English name of the release that the cohort's notes use most for it (abbreviations excepted), else its preferred
--   name: preferred names such as "familial hyperlipidemia" can be narrower than what clinicians write. Words are
--   written as most names of the release write them in mid-sentence, so that the style of a source tells nothing
create or replace temp table statement_name as
with spoken as (
    select
        admission.number,
        mention.text,
        unnest(mention.cuis) as cui
    from ground.mention as mention
    inner join admission on mention.note_id = admission.note_id
),

-- each text is brought to its normal form once, however often it is written
called as (
    select
        said.text,
        name.cui,
        name.name,
        dense_rank() over (order by name.cui, name.name) as call
    from (
        select distinct
            spoken.text,
            spoken.cui
        from spoken
    ) as said
    inner join kg.name as name
        on said.cui = name.cui and name.normalized = normal_name(said.text)
    where length(name.normalized) >= 4 and name.name != upper(name.name)
),

counted as (
    select
        one.call,
        count(*) as n
    from (
        select distinct
            called.call,
            spoken.number
        from spoken
        inner join called on spoken.text = called.text and spoken.cui = called.cui
    ) as one
    group by one.call
),

used as (
    select distinct
        called.cui,
        called.name,
        counted.n
    from called
    inner join counted on called.call = counted.call
),

chosen as (
    select
        cui,
        first(
            name order by n desc, regexp_matches(name, '[a-z][A-Z]|[A-Z]{2,}[a-z]'), length(name), name asc
        ) as name
    from used
    group by cui
),

-- words after the first one, in names with one capitalised word at most: there a capital means an eponym
inner_word as (
    select unnest(string_split(name, ' ')[2:]) as word
    from kg.name
    where
        not regexp_matches(name, '[0-9/]')
        and len(list_filter(string_split(name, ' '), lambda part: regexp_matches(part, '^[A-Z]+[a-z]'))) <= 1
        and regexp_matches(name, '(^| )[a-z]{4,}')
),

casing as (
    select
        lower(word) as key,
        first(word order by n desc, word asc) as word,
        sum(n) as n
    from (
        select
            word,
            count(*) as n
        from inner_word
        where word != ''
        group by word
    ) as counted
    group by lower(word)
),

brand as (
    select distinct cui from kg.name
    where tty in ('BN', 'SBD', 'SBDC', 'SBDF')
),

named as (
    select
        concept.cui,
        coalesce(chosen.name, concept.name) as name,
        brand.cui is not null as is_brand
    from kg.concept as concept
    left join chosen on concept.cui = chosen.cui
    left join brand on concept.cui = brand.cui
),

split_name as (
    select
        cui,
        is_brand,
        unnest(string_split(name, ' ')) as word,
        generate_subscripts(string_split(name, ' '), 1) as position
    from named
)

select
    split_name.cui,
    string_agg(
        case
            when split_name.is_brand then split_name.word
            when casing.n >= 3 then casing.word
            -- capitals throughout (acronyms), single letters (hepatitis C) and digits stay; tall-man letters
            -- (HYDROmorphone) and title case go lower
            when split_name.word = upper(split_name.word) then split_name.word
            else lower(split_name.word)
        end, ' '
        order by split_name.position
    ) as name
from split_name
left join casing on lower(split_name.word) = casing.key
group by split_name.cui;
