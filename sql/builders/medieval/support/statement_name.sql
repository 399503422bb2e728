-- The name by which statements call a concept
-- Grain: one row per concept of the graph
-- Output: statement_name(cui, name, one). Inputs: admission, ground.mention, kg.name, kg.concept
-- One policy for all statements: of the names that some vocabulary of the release prefers to its others, the one that
--   the cohort's notes use most (abbreviations excepted), else the preferred name of the release. So a synonym such as
--   "stress ulcer" never stands for duodenal ulcer. Words are written as most names of the release write them in
--   mid-sentence, so that the style of a source tells nothing. A name in the singular, where the concept has it too,
--   stands for one in the plural. one: the name of one of them, where the name is in the plural; else the name
create or replace temp table statement_name as
with spoken as (
    select
        admission.number,
        mention.text,
        unnest(mention.cuis) as cui
    from ground.mention as mention
    inner join admission on mention.note_id = admission.note_id
),

-- of each vocabulary, the names of a concept that rank highest in it
favoured as (
    select
        name.cui,
        name.name,
        name.normalized
    from kg.name as name
    where name.rank > 0 and name.cui in (select spoken.cui from spoken)
    qualify name.rank = max(name.rank) over (partition by name.cui, name.sab)
),

-- each text is brought to its normal form once, however often it is written
called as (
    select
        spelling.text,
        name.cui,
        name.name,
        dense_rank() over (order by name.cui, name.name) as call
    from (
        select distinct
            spoken.text,
            spoken.cui
        from spoken
    ) as spelling
    inner join favoured as name
        on spelling.cui = name.cui and name.normalized = normal_name(spelling.text)
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
        and not regexp_matches(name, '(^| )[A-Z]+[a-z].* [A-Z]+[a-z]')
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

-- NCI gives brands as names of their ingredient, which is no brand
brand as (
    select cui from kg.name
    group by cui
    having bool_or(tty in ('BN', 'SBD', 'SBDC', 'SBDF')) and not bool_or(tty in ('IN', 'PIN', 'MIN'))
),

called_by as (
    select
        concept.cui,
        coalesce(chosen.name, concept.name) as name,
        list_contains(concept.groups, 'CHEM') as is_chemical,
        brand.cui is not null as is_brand
    from kg.concept as concept
    left join chosen on concept.cui = chosen.cui
    left join brand on concept.cui = brand.cui
),

-- "disorders", but not "diabetes": what is left without the ending is a word of other names; of chemicals, it always is
plural as (
    select
        called_by.cui,
        called_by.is_chemical,
        called_by.name,
        regexp_replace(regexp_replace(called_by.name, 'ies$', 'y'), 's$', '') as one
    from called_by
    where not called_by.is_brand and regexp_matches(called_by.name, '[a-z]{3}[^ius]s$')
),

known_plural as (
    select plural.*
    from plural
    left join casing on regexp_extract(lower(plural.one), '[^ -]+$') = casing.key
    where (plural.is_chemical or casing.n >= 3) and not contains(plural.name, ' of ')
),

singular as (
    select distinct known_plural.cui
    from known_plural
    inner join kg.name as name
        on known_plural.cui = name.cui and name.normalized = normal_name(known_plural.one)
),

named as (
    select
        called_by.cui,
        called_by.is_brand,
        if(singular.cui is null, called_by.name, known_plural.one) as name,
        singular.cui is null and known_plural.cui is not null as is_plural
    from called_by
    left join known_plural on called_by.cui = known_plural.cui
    left join singular on called_by.cui = singular.cui
),

split_name as (
    select
        cui,
        is_brand,
        is_plural,
        unnest(string_split(name, ' ')) as word,
        generate_subscripts(string_split(name, ' '), 1) as position
    from named
),

worded as (
    select
        split_name.cui,
        bool_or(split_name.is_plural) as is_plural,
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
    group by split_name.cui
)

select
    cui,
    name,
    if(is_plural, regexp_replace(regexp_replace(name, 'ies$', 'y'), 's$', ''), name) as one
from worded;
