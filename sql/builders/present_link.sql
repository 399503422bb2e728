-- Pairs of attested concepts that the context links, by mentions that are present
-- Grain: one row per admission and ordered pair
-- Output: present_link(hadm_id, cui, other, mention, other_mention)
-- Inputs: attested, ground.segment
-- In one sentence or list item, or one in the heading of the problem that the other stands under. DESIGN section 6
create or replace temp table present_link as
with placed as (
    select distinct
        attested.hadm_id,
        attested.cui,
        attested.mention,
        attested.segment,
        attested.block,
        coalesce(part.kind = 'heading', false) as in_heading
    from attested
    inner join cohort on attested.hadm_id = cohort.hadm_id
    left join ground.segment as part
        on cohort.note_id = part.note_id and attested.segment = part.begin_offset
    where attested.relation in ('self', 'equivalent') or attested.depth <= getvariable('ancestor_steps')
)

select
    placed.hadm_id,
    placed.cui,
    other.cui as other,
    min(placed.mention) as mention,
    arg_min(other.mention, (placed.mention, other.mention)) as other_mention
from placed
inner join placed as other
    on
        placed.hadm_id = other.hadm_id and placed.block = other.block
        and (placed.segment = other.segment or placed.in_heading or other.in_heading)
where placed.mention != other.mention and placed.cui != other.cui
group by placed.hadm_id, placed.cui, other.cui;
