-- Concepts of the long forms that the project's own tables name
-- Grain: one row per long form and concept, best first: the same words in the same order, else the same words;
--   a CUI is its concept
-- Inputs: kg.name, concept_degree, long_form (name, normalized)
-- Output: temp table mention_target(name, cui, position)
-- Source: our own; words are compared without plural endings, small words and qualifiers ("stenosis (disorder)")
create or replace temp macro small_words() as [
    '', 'of', 'the', 'in', 'and', 'with', 's', 'disorder', 'finding', 'nos', 'unspecified', 'procedure'
];

create or replace temp macro word_bag(words) as list_sort(
    list_distinct(
        list_filter(
            list_transform(
                string_split(words, ' '),
                lambda word: case
                    when right(word, 1) = 's' then regexp_replace(word, '^([a-z]{2,}[^sui])s$', '\1')
                    else word
                end
            ),
            lambda word: not list_contains(small_words(), word)
        )
    )
);

create or replace temp table mention_target as
with wanted as (
    select
        name,
        normalized,
        word_bag(normalized) as bag
    from long_form
),

bag_word as (
    select unnest(bag) as word
    from wanted
    union
    select unnest(small_words()) as word
),

-- Plural endings are not in bags.
name_word as (
    select unnest([word, word || 's']) as word
    from bag_word
),

-- Bags are made only of names whose first two words and last one are words of a wanted name; brackets may hold a short
-- form, which does not count.
possible as (
    select * from kg.name
    where
        length(normalized) < 60
        and not (sab = 'RXNORM' and tty[1:2] in ('SC', 'SB', 'BP', 'GP'))
        and split_part(normalized, ' ', 1) in (select word from name_word)
        and (contains(name, ')') or split_part(normalized, ' ', -1) in (select word from name_word))
        and (contains(name, ')') or split_part(normalized, ' ', 2) in (select word from name_word))
),

bagged as (
    select
        cui,
        is_preferred,
        sab,
        rank,
        word_bag(
            case
                when contains(name, ')')
                    then trim(regexp_replace(
                        lower(regexp_replace(name, '\s*\([A-Z]{2,6}\)\s*$', '')), '[^\p{L}\p{N}]+', ' ', 'g'
                    ))
                else normalized
            end
        ) as bag
    from possible
),

found as (
    select
        wanted.name,
        name.* exclude (name, normalized, tty, code),
        1 as tier
    from wanted
    inner join kg.name as name on wanted.normalized = name.normalized
    union all by name
    select
        wanted.name,
        bagged.* exclude (bag),
        2 as tier
    from wanted
    inner join bagged on wanted.bag = bagged.bag
    where len(wanted.bag) > 0
    union all by name
    select
        wanted.name,
        name.* exclude (name, normalized, tty, code),
        0 as tier
    from wanted
    inner join kg.name as name on wanted.name = name.cui
),

closest as (
    select * from found
    qualify tier = min(tier) over (partition by name)
),

best as (
    select
        name,
        cui,
        bool_or(is_preferred) as is_preferred,
        count(distinct sab) as n_sources,
        max(rank) as rank
    from closest
    group by name, cui
)

select
    best.name,
    best.cui,
    row_number() over (
        partition by best.name
        order by
            best.is_preferred desc,
            best.n_sources desc,
            best.rank desc,
            coalesce(concept_degree.n, 0) desc,
            best.cui
    ) as position
from best
left join concept_degree on best.cui = concept_degree.cui;
