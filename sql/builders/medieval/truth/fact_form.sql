-- Usable facts as numbers, with what tells which of them are one fact in another form or direction
-- Grain: one row per usable fact between two bases
-- Output: (fact, head, tail, form, wording, loose, hash), by head and fact
-- Inputs: usable_fact, linked_base, statement_name, fact_side
-- form: the unordered pair of bases and the relation. wording: the same of the names, since several concepts can have
--   one name, and a statement is said once. loose: the tail may be a class that nothing else mentions.
--   hash: the stable hash (ground/stable.py) of the fact, which a choice depends on beside the admission
with based as (
    select
        fact.*,
        coalesce(head_base.base_cui, fact.head_cui) as head_base,
        coalesce(tail_base.base_cui, fact.tail_cui) as tail_base
    from usable_fact as fact
    left join linked_base as head_base on fact.head_cui = head_base.cui
    left join linked_base as tail_base on fact.tail_cui = tail_base.cui
)

select
    based.fact,
    head.side as head,
    tail.side as tail,
    dense_rank() over (
        order by least(based.head_base, based.tail_base), greatest(based.head_base, based.tail_base), based.relation
    ) - 1 as form,
    dense_rank() over (
        order by
            least(lower(head_name.name), lower(tail_name.name)), greatest(lower(head_name.name), lower(tail_name.name)),
            based.relation
    ) - 1 as wording,
    based.taxonomic and not based.statistical as loose,
    md5_number_upper(concat_ws(chr(31), based.head_cui, based.predicate, based.tail_cui)) as hash
from based
inner join fact_side as head on based.head_cui = head.cui
inner join fact_side as tail on based.tail_cui = tail.cui
inner join statement_name as head_name on based.head_cui = head_name.cui
inner join statement_name as tail_name on based.tail_cui = tail_name.cui
where based.head_base != based.tail_base
order by head.side, based.fact;
