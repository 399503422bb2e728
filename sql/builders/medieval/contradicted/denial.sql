-- What the notes of some admissions name in the context and deny, and the first reason why the record may mean it yet
-- Grain: denied_mention, one row per mention of the context and concept that it denies; denial, one row per admission
--   and concept; denying_words, one row per admission, concept and words
-- Output: denied_mention(number, code, mention) and denial(number, code, reason), added to; reason is null where the
--   record denies the concept; denying_words(number, code, words), the words that deny what no mention and no code
--   speaks for
-- Inputs: admission, mention_concept, clear_mention, wording, nameable, cover, cover_concept, ground.mention,
--   ground.unclear_mention, ground.admission_concept. Parameters: first_number, last_number (of the admissions: many at
--   once, since all that notes hold goes by each time)
-- Denying: absent, family, allergy, historical or planned, and sure to be so. Of what is absent, doubts whether it was
--   once, another's or one of several do not matter: it is not so in any case. What is only thought of ("return if",
--   "as needed for") neither denies nor affirms. Every other mention of all notes of the admission that may mean the
--   concept, and every code, speaks against; elsewhere.sql asks for the words. Source: docs/definitions.md#contradicted
create or replace temp table read_mention as
select
    admission.number,
    mention.note_id = admission.note_id as is_shown,
    mention.begin_offset,
    mention.text,
    mention.cuis,
    case
        when mention.assertion = 'absent'
            then if(list_has_all(['past', 'other_person', 'uncertain'], mention.reasons), 'denied', 'other')
        when mention.assertion in ('family', 'allergy', 'historical', 'planned')
            then if(mention.certainty = 'certain', 'denied', 'other')
        when mention.assertion = 'hypothetical'
            then if(list_has_all(['uncertain'], mention.reasons), 'thought', 'other')
        else 'other'
    end as manner
from ground.mention as mention
inner join admission on mention.hadm_id = admission.hadm_id
where admission.number between getvariable('first_number') and getvariable('last_number');

insert into denied_mention
select
    mention_concept.number,
    nameable.code,
    mention_concept.mention
from mention_concept
inner join nameable on mention_concept.cui = nameable.cui
semi join wording on nameable.code = wording.denied
semi join read_mention
    on
        mention_concept.number = read_mention.number and mention_concept.mention = read_mention.begin_offset
        and read_mention.is_shown and read_mention.manner = 'denied'
left join clear_mention
    on mention_concept.number = clear_mention.number and mention_concept.mention = clear_mention.mention
where
    mention_concept.number between getvariable('first_number') and getvariable('last_number')
    and mention_concept.in_context
    and (mention_concept.n_candidates = 1 or clear_mention.mention is not null);

insert into denial
with asked as (
    select distinct
        number,
        code
    from denied_mention
    where number between getvariable('first_number') and getvariable('last_number')
),

evidence as (
    select
        read_mention.number,
        unnest(read_mention.cuis) as cui,
        'another mention may mean it' as reason
    from read_mention
    where read_mention.manner = 'other'
    union
    select
        admission.number,
        unnest(mention.cuis) as cui,
        'another mention may mean it' as reason
    from ground.unclear_mention as mention
    inner join admission on mention.hadm_id = admission.hadm_id
    where admission.number between getvariable('first_number') and getvariable('last_number')
    union
    select
        admission.number,
        admission_concept.cui,
        'a code may mean it' as reason
    from ground.admission_concept as admission_concept
    inner join admission on admission_concept.hadm_id = admission.hadm_id
    where admission.number between getvariable('first_number') and getvariable('last_number')
),

against as (
    select
        asked.number,
        asked.code,
        min(evidence.reason) as reason
    from asked
    inner join evidence on asked.number = evidence.number
    inner join cover_concept on evidence.cui = cover_concept.cui
    inner join cover on cover_concept.concept = cover.concept and asked.code = cover.code
    where cover.by_code or evidence.reason != 'a code may mean it'
    group by asked.number, asked.code
)

select
    asked.number,
    asked.code,
    against.reason
from asked
left join against on asked.number = against.number and asked.code = against.code;

create or replace temp table denying_words as
select distinct
    denied_mention.number,
    denied_mention.code,
    normal_name(read_mention.text) as words
from denied_mention
inner join denial on denied_mention.number = denial.number and denied_mention.code = denial.code
inner join read_mention
    on denied_mention.number = read_mention.number and denied_mention.mention = read_mention.begin_offset
where read_mention.is_shown and denial.reason is null;
