-- Names of the release that a note may mention, with the kind of mention and what orders concepts of one name
-- Grain: one row per concept and distinct spelling
-- Inputs: kg.name, kg.concept, concept_degree; data tables of ehr: semantic_type, name_stop, name_variant,
--   english_word, ordinary_limit; trigger_phrase(phrase) of the assertion rules
-- Output: temp table mention_name(cui, name, kind, is_preferred, n_sources, rank, is_brand, degree)
-- Source: the choice of names is ours: no bare numbers, strengths, dose forms, class headings or residual classes
create or replace temp table mention_name as
with typed as (
    select
        concept.cui,
        arg_min(semantic_type.kind, (semantic_type.priority, semantic_type.condition, semantic_type.kind)) as kind,
        bool_and(semantic_type.condition = 'drug_source') as needs_drug_source,
        bool_or(semantic_type.tui = 'T184') as is_sign
    from (
        select
            cui,
            unnest(types) as tui
        from kg.concept
    ) as concept
    inner join semantic_type on concept.tui = semantic_type.tui
    group by concept.cui
),

kept as (
    select
        name.* exclude (name, normalized, tty, code),
        typed.kind,
        typed.is_sign,
        coalesce(name.tty in ('BN', 'SY'), false) and name.sab = 'RXNORM' as is_brand,
        -- Qualifiers that notes do not write: "(disorder)", "[ambiguous]", ", NOS", ", unspecified". Few names end as
        -- they do, and to replace is slow.
        trim(
            case
                when right(name.name, 1) in (')', ']', 'p', 'P', 's', 'S', 'd', 'D')
                    then regexp_replace(
                        name.name,
                        '(?i)\s*(\((disorder|finding|procedure|disease|diagnosis|substance|product|situation|'
                        || 'regime/therapy|medication|symptom|physical finding|usp)\)|\[[^\]]*\]|,? USP|,? NOS|'
                        || ',? unspecified|,? not otherwise specified|, not elsewhere classified)$',
                        ''
                    )
                else name.name
            end
        ) as name
    from kg.name as name
    inner join typed on name.cui = typed.cui
    where
        length(name.normalized) >= 3
        and length(name.normalized) <= 80
        and regexp_matches(name.normalized, '[a-z]{2}')
        and (
            not typed.needs_drug_source
            or name.sab in ('RXNORM', 'NDFRT', 'MED-RT', 'VANDF', 'ATC', 'DRUGBANK', 'USP')
        )
        and not (
            name.sab = 'RXNORM'
            and name.tty in (
                'SCD', 'SBD', 'SCDC', 'SBDC', 'SCDF', 'SBDF', 'SCDG', 'SBDG', 'SCDFP', 'SBDFP', 'SCDGP', 'GPCK', 'BPCK',
                'DF', 'DFG', 'PSN', 'ET'
            )
        )
        -- A heading leans on the one above it: "Thyroid gland" stands under tuberculosis.
        and not (name.sab in ('ICD9CM', 'ICD10CM') and name.tty = 'HT')
        and not regexp_matches(name.normalized, '\b[0-9]+ (mg|mcg|ml|unt|meq|hr|actuat)\b')
        and not regexp_matches(
            name.normalized,
            '^(other|unspecified|certain|personal history|family history|encounter|history of|screening for)\b'
        )
),

spelled as (
    select * from kept
    union all
    -- Inverted names: "Hypertension, Pulmonary" is written "Pulmonary Hypertension".
    select
        * replace (
            false as is_preferred,
            trim(split_part(name, ', ', 2)) || ' ' || split_part(name, ', ', 1) as name
        )
    from kept
    where
        contains(name, ', ')
        and len(string_split(name, ', ')) = 2
        and not regexp_matches(name, '(?i)[0-9(]|,.*\b(with|without|of|in|due|and|or|type|stage|by|not|site)\b')
    union all
    -- "Fracture of ankle" is written "ankle fracture".
    select
        * replace (
            false as is_preferred,
            regexp_replace(lower(name), '^([a-z][a-z -]{2,30}) of (the )?([a-z][a-z -]{2,30})$', '\3 \1') as name
        )
    from kept
    where
        kind != 'drug'
        and contains(lower(name), ' of ')
        and regexp_matches(lower(name), '^[a-z][a-z -]{2,30} of (the )?[a-z][a-z -]{2,30}$')
        and not regexp_matches(lower(name), ' of .* of | (and|or|in|with|due|to|by|for|from) ')
    union all
    -- "Coronary artery bypass graft (CABG)" is written without what stands in brackets.
    select * replace (false as is_preferred, regexp_replace(name, '\s*\([A-Z]{2,6}\)$', '') as name)
    from kept
    where regexp_matches(name, '[a-z].*\s\([A-Z]{2,6}\)$')
),

worded as (
    select * from spelled
    union all
    -- The first words are compared before the phrases: the pairs of all names and phrases are too many.
    select
        worded.* exclude (word) replace (
            false as is_preferred,
            replace(lower(worded.name), name_variant.phrase, name_variant.variant) as name
        )
    from (
        select
            *,
            unnest(list_distinct(string_split(lower(name), ' '))) as word
        from spelled
    ) as worded
    inner join name_variant on worded.word = split_part(name_variant.phrase, ' ', 1)
    where
        contains(' ' || lower(worded.name) || ' ', ' ' || name_variant.phrase || ' ')
        and lower(worded.name) != name_variant.phrase
),

-- Grouped by source first: that takes half the time of counting distinct sources.
sourced as (
    select
        cui,
        name,
        sab,
        any_value(kind) as kind,
        any_value(is_sign) as is_sign,
        bool_or(is_preferred) as is_preferred,
        max(rank) as rank,
        bool_and(is_brand) as is_brand
    from worded
    where length(name) >= 3 and lower(name) not in (select lower(name_stop.name) from name_stop)
    group by cui, name, sab
),

named as (
    select
        cui,
        name,
        any_value(kind) as kind,
        any_value(is_sign) as is_sign,
        bool_or(is_preferred) as is_preferred,
        count(sab) as n_sources,
        max(rank) as rank,
        bool_and(is_brand) as is_brand
    from sourced
    group by cui, name
),

-- Words that hardly mean the concept that they name: common in English, or said of what is beside them ("not seen").
-- A short name in capitals is no word (AIDS, DISH), but of drugs.
ordinary as (
    select
        named.cui,
        named.name
    from named
    inner join english_word on lower(named.name) = english_word.word
    inner join ordinary_limit
        on
            case
                when named.is_brand then 'brand'
                when named.kind != 'finding' then named.kind
                when named.is_sign then 'sign'
                else 'finding'
            end = ordinary_limit.kind
    where
        (length(named.name) > 6 or named.name != upper(named.name) or named.kind = 'drug')
        and english_word.zipf::double
        >= case when english_word.use = 'noun' then ordinary_limit.noun else ordinary_limit.other end::double
    union
    -- An acronym that the tables do not have may be anything: ADA is a diet, ACLS is no syndrome.
    select
        named.cui,
        named.name
    from named
    left join trigger_phrase on lower(named.name) = trigger_phrase.phrase
    where
        (trigger_phrase.phrase is not null and named.kind != 'disorder' and not named.is_sign)
        or (named.kind != 'drug' and regexp_full_match(named.name, '[A-Z]{2,4}'))
)

select
    named.* exclude (is_sign),
    ordinary.cui is not null as is_ordinary,
    coalesce(concept_degree.n, 0) as degree
from named
left join ordinary on named.cui = ordinary.cui and named.name = ordinary.name
left join concept_degree on named.cui = concept_degree.cui;
