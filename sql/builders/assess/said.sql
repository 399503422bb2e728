-- What each note says of each end of the statements about it
-- Grain: end_said, one row per note, end and mention that attests or denies it; the answer, one row per note and end
-- Output: (number, cui, term, said, why, text, begin_offset, end_offset, assertion, section): said is attested,
--   denied, silent or unclear. term: all that the statement's name may mean
-- Inputs: asked_end_of(number, cui, term), present_mention, mention_concept, closure, cover, cover_concept, nameable,
--   named_code(number, code), ground.mention, ground.unclear_mention, admission. Parameters: ancestor_steps,
--   assertions, certainties
-- Attested and silent as docs/definitions.md has them. What a name may mean does not matter where the note has the same
--   name, and of several mentions that all affirm an end none need be sure. Denied: no mention that may mean the end
--   affirms it (denied, of the past or of a relative, planned, possible, stopped), and one is sure not to
with meaning as (
    select
        closure.cui,
        closure.other,
        closure.relation = 'self' as is_self,
        closure.relation in ('self', 'equivalent') as is_same
    from closure
    where
        closure.relation in ('self', 'equivalent')
        or (closure.relation = 'ancestor' and closure.depth <= greatest(1, getvariable('ancestor_steps')))
),

attesting as (
    select
        number,
        cui,
        term,
        arg_min(mention, (rank, mention)) as mention
    from (
        select
            asked.number,
            asked.cui,
            asked.term,
            present.mention,
            if(meaning.is_self, 0, if(meaning.is_same, 1, 2)) as rank
        from asked_end_of as asked
        inner join meaning on asked.cui = meaning.other
        inner join present_mention as present on asked.number = present.number and meaning.cui = present.cui
        union all
        select
            asked.number,
            asked.cui,
            asked.term,
            same.mention,
            0 as rank
        from asked_end_of as asked
        inner join (
            select
                number,
                mention,
                string_agg(cui, ',' order by cui) as term
            from mention_concept
            where
                in_context and list_contains(getvariable('assertions'), assertion)
                and list_contains(getvariable('certainties'), certainty)
            group by number, mention
        ) as same on asked.number = same.number and asked.term = same.term
    ) as every_attesting
    group by number, cui, term
),

-- with the assertion that a home drug has once the note stops it
every_mention as (
    select
        number,
        mention as begin_offset,
        cui,
        list_contains(getvariable('assertions'), assertion) as affirms,
        not affirms as denies,
        certainty = 'certain' as is_certain
    from mention_concept
    union all
    select
        admission.number,
        mention.begin_offset,
        unnest(mention.cuis) as cui,
        false as affirms,
        false as denies,
        false as is_certain
    from ground.unclear_mention as mention
    inner join admission on mention.note_id = admission.note_id
),

covering as (
    select
        asked.number,
        asked.cui,
        bool_and(every_mention.denies) as all_deny,
        min(every_mention.begin_offset) filter (where every_mention.denies and every_mention.is_certain) as denial,
        bool_and(every_mention.affirms) as all_affirm,
        min(every_mention.begin_offset) filter (where every_mention.cui = asked.cui) as own,
        count(distinct every_mention.begin_offset) as n
    from (
        select distinct
            number,
            cui
        from asked_end_of
    ) as asked
    inner join nameable on asked.cui = nameable.cui
    inner join cover on nameable.code = cover.code
    inner join cover_concept on cover.concept = cover_concept.concept
    inner join every_mention on asked.number = every_mention.number and cover_concept.cui = every_mention.cui
    group by asked.number, asked.cui
),

told as (
    select
        asked.number,
        asked.cui,
        asked.term,
        case
            when attesting.mention is not null then 'attested'
            when covering.all_affirm and covering.own is not null and covering.n > 1 then 'attested'
            when covering.all_deny and covering.denial is not null then 'denied'
            when covering.n is not null then 'unclear'
            when named_code.code is not null then 'unclear'
            else 'silent'
        end as said,
        coalesce(
            attesting.mention,
            if(covering.all_deny, covering.denial, null),
            if(covering.all_affirm and covering.n > 1, covering.own, null)
        ) as mention,
        covering.n is null as only_named
    from asked_end_of as asked
    inner join nameable on asked.cui = nameable.cui
    left join attesting
        on asked.number = attesting.number and asked.cui = attesting.cui and asked.term = attesting.term
    left join covering on asked.number = covering.number and asked.cui = covering.cui
    left join named_code on asked.number = named_code.number and nameable.code = named_code.code
)

select
    told.number,
    told.cui,
    told.term,
    told.said,
    case
        when told.said = 'unclear' and told.only_named then 'its words stand in the note, but no mention means it'
        when told.said = 'unclear' then 'a mention that may mean it is neither sure nor a denial'
    end as why,
    mention.text,
    mention.begin_offset,
    mention.end_offset,
    mention.assertion,
    mention.section
from told
inner join admission on told.number = admission.number
left join ground.mention as mention
    on admission.note_id = mention.note_id and told.mention = mention.begin_offset
order by told.number, told.cui, told.term;
