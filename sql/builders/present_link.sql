-- Pairs of ends of statements that the context links, by mentions that are present
-- Grain: one row per admission and ordered pair
-- Output: present_link(hadm_id, cui, other, mention, other_mention)
-- Inputs: statement, attested, ground.segment
-- In one sentence or list item, or one in the heading of the problem that the other stands under. DESIGN section 6
create or replace temp table present_link as
with wanted as (
    select distinct
        hadm_id,
        head_cui as cui,
        tail_cui as other
    from statement
),

ended as (
    select
        hadm_id,
        cui
    from wanted
    union
    select
        hadm_id,
        other as cui
    from wanted
),

placed as (
    select distinct
        attested.hadm_id,
        attested.cui,
        attested.mention,
        attested.segment,
        attested.block,
        coalesce(part.kind = 'heading', false) as in_heading
    from attested
    semi join ended on attested.hadm_id = ended.hadm_id and attested.cui = ended.cui
    inner join cohort on attested.hadm_id = cohort.hadm_id
    left join ground.segment as part
        on cohort.note_id = part.note_id and attested.segment = part.begin_offset
    where attested.relation in ('self', 'equivalent') or attested.depth <= getvariable('ancestor_steps')
)

select
    wanted.hadm_id,
    wanted.cui,
    wanted.other,
    min(placed.mention) as mention,
    arg_min(other.mention, (placed.mention, other.mention)) as other_mention
from wanted
inner join placed on wanted.hadm_id = placed.hadm_id and wanted.cui = placed.cui
inner join placed as other
    on
        wanted.hadm_id = other.hadm_id and wanted.other = other.cui and placed.block = other.block
        and (placed.segment = other.segment or placed.in_heading or other.in_heading)
where placed.mention != other.mention and wanted.cui != wanted.other
group by wanted.hadm_id, wanted.cui, wanted.other;
