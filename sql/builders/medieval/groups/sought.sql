-- Names that are looked for in the bare text of notes, and the concepts that they leave unclear there
-- Grain: sought_name, one row per spelling; sought, one row per spelling and concept
-- Output: sought_name(name_no, name, in_capitals), sought(name_no, code, wider)
-- Inputs: sought_concept, nameable, area, area_step, statement_name, kg.name, kg.concept
-- All English names of the release, also those that the dictionary of mentions refuses; of three letters and fewer,
--   acronyms only, as capitals. Beside each: without what follows in brackets, inverted ("Failure, Renal"), and as one
--   word where it has a hyphen or two words. The head of a name ("stroke" of "hemorrhagic stroke") is looked for if the
--   release calls something so that is of the same semantic group and not too general; it is wider than the name. The
--   last word of a drug is its salt, so drugs have none. What begins with another name of the same concept is found by
--   that one. Source: docs/definitions.md#unclear
create or replace temp table sought_spelling as
with own as (
    select
        nameable.code,
        name.normalized,
        concept.groups
    from nameable
    inner join kg.concept as concept on nameable.cui = concept.cui
    inner join kg.name as name on nameable.cui = name.cui
    -- "leukemia, acute" ends with no head
    where not list_contains(concept.groups, 'CHEM') and not contains(name.name, ',')
),

tail as (
    select distinct
        own.code,
        own.groups,
        array_to_string(string_split(own.normalized, ' ')[unnest(range(2, own.words + 1)):], ' ') as normalized
    from (
        select
            own.*,
            len(string_split(own.normalized, ' ')) as words
        from own
    ) as own
    where own.words > 1
),

general as (
    select distinct area_step.above_cui as cui
    from area_step
    anti join (
        select area.area_cui from area
        where area.cui != area.area_cui
    ) as said on area_step.above_cui = said.area_cui
),

called as (
    select
        sought_concept.code,
        name.name,
        sought_concept.wider
    from sought_concept
    inner join kg.name as name on sought_concept.cui = name.cui
    union
    select
        nameable.code,
        statement_name.name,
        false as wider
    from nameable
    inner join statement_name on nameable.cui = statement_name.cui
    union
    select
        tail.code,
        name.name,
        true as wider
    from tail
    inner join kg.name as name on tail.normalized = name.normalized
    inner join kg.concept as concept on name.cui = concept.cui
    anti join general on name.cui = general.cui
    where list_has_any(tail.groups, concept.groups)
),

bare as (
    select * from called
    union
    select * replace (regexp_replace(name, '\s*[(\[][^)\]]*[)\]]$', '') as name)
    from called
    where right(name, 1) in (')', ']')
),

turned as (
    select * from bare
    union
    select * replace (split_part(name, ', ', 2) || ' ' || split_part(name, ', ', 1) as name)
    from bare
    where len(string_split(name, ', ')) = 2
),

joined as (
    select * from turned
    union
    select * replace (regexp_replace(name, '([A-Za-z])-([A-Za-z])', '\1\2', 'g') as name)
    from turned
    where contains(name, '-')
    union
    select * replace (replace(name, ' ', '') as name)
    from turned
    where regexp_full_match(name, '[A-Za-z]{3,} [A-Za-z]{3,}')
),

spelled as (
    select * from joined
    union
    -- an acronym keeps its last letter, a word in small letters loses the ending of the plural
    select * replace (lower(name) as name)
    from joined
    where length(name) > 3 and name = upper(name)
)

select
    code,
    name,
    wider,
    length(name) <= 3 as in_capitals,
    split_part(normal_name(name), ' ', 1) as first_word,
    normal_name(name) as normalized
from spelled
where
    regexp_matches(name, '[A-Za-z]{2}')
    and (length(name) > 3 or name = upper(name));

create or replace temp table sought_name as
select
    name,
    in_capitals,
    (row_number() over (order by name) - 1)::integer as name_no
from (
    select distinct
        longer.name,
        longer.in_capitals
    from sought_spelling as longer
    anti join sought_spelling as shorter
        on
            longer.code = shorter.code and longer.first_word = shorter.normalized
            and longer.normalized != shorter.normalized and not shorter.in_capitals
            and not shorter.wider
) as kept;

create or replace temp table sought as
select
    sought_name.name_no,
    spelling.code,
    bool_and(spelling.wider) as wider
from sought_spelling as spelling
inner join sought_name on spelling.name = sought_name.name
group by sought_name.name_no, spelling.code
order by sought_name.name_no, spelling.code;
