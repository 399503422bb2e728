-- What must not stand in the notes of an admission: names of the ends that rows call unsupported
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per end and spelling. Output: spelled(cui, name, word)
-- Inputs: labelled (all rows), words_of, form_step, kg.edge, kg.name
-- The English names of the end, of its forms and of what is up to two steps below it, and the name that the row prints;
--   in small letters, words only, singular and plural; from four letters on. word: the one of its words that fewest
--   names have, by which a note is asked whether it can have the name at all
create or replace temp table spelled as
with recursive ended as (
    select distinct
        if(replaced_end = 'head', head_cui, tail_cui) as cui,
        if(replaced_end = 'head', head_name, tail_name) as name
    from labelled
    where not is_supported
),

form as (
    select
        cui,
        cui as other
    from ended
    union
    select
        form.cui,
        form_step.other
    from form
    inner join form_step on form.other = form_step.one
),

child as (
    select distinct
        form.cui,
        edge.head_cui as other
    from form
    inner join kg.edge as edge on form.other = edge.tail_cui
    where edge.predicate in ('is_a', 'placed_under')
),

meant as (
    select * from form
    union
    select * from child
    union
    select
        child.cui,
        edge.head_cui as other
    from child
    inner join kg.edge as edge on child.other = edge.tail_cui
    where edge.predicate in ('is_a', 'placed_under')
),

called as (
    select
        meant.cui,
        words_of(name.name) as name
    from meant
    inner join kg.name as name on meant.other = name.cui
    union
    select
        ended.cui,
        words_of(ended.name) as name
    from ended
),

numbered as (
    select * from called
    where length(name) >= 4 and regexp_matches(name, '[a-z]{2}')
    union
    select
        cui,
        name || 's' as name
    from called
    where length(name) >= 4 and regexp_matches(name, '[a-rt-z]$')
    union
    select
        cui,
        left(name, -1) as name
    from called
    where length(name) >= 5 and regexp_matches(name, '[a-z][^sui]s$')
),

part as (
    select
        name,
        unnest(string_split(name, ' ')) as word
    from (select distinct numbered.name from numbered) as every_name
),

frequency as (
    select
        word,
        count(*) as n
    from part
    group by word
),

rarest as (
    select
        part.name,
        arg_min(part.word, (frequency.n, -length(part.word), part.word)) as word
    from part
    inner join frequency on part.word = frequency.word
    group by part.name
)

select
    numbered.cui,
    numbered.name,
    rarest.word
from numbered
inner join rarest on numbered.name = rarest.name;
