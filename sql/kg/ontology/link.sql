-- Identifiers that name one concept, as candidates
-- Grain: link, one row per pair of identifiers; umls_code, one row per code of UMLS (or of RxNorm alone)
-- Inputs: ontology.class, ontology.xref, ontology.relation, code_system (kg/data/code_systems.tsv), umls_atom,
--   rxnorm_atom
-- Output: link(one, other, step, agrees, claims), in the order in which they are taken. step: 1 UMLS has the identifier
--   itself as a code, 2 a CUI is stated, 3 a code that is one concept, 4 a code that may hold several; agrees: the two
--   have a name in common; claims: how many want the same; then the class goes first that
--   states more. Source: docs/ontologies.md
create or replace temp table identifier_code as
select
    used.id,
    coalesce(system.joins, 'concept') as joins,
    coalesce(system.sab, split_part(used.id, ':', 1)) as sab,
    case when system.code = 'prefixed' then used.id else substr(used.id, strpos(used.id, ':') + 1) end as code,
    split_part(used.id, ':', 1) as prefix
from (
    select id from ontology.class
    union
    select target as id from ontology.xref
    union
    select head as id from ontology.relation
    union
    select tail as id from ontology.relation
) as used
left join code_system as system on split_part(used.id, ':', 1) = system.prefix;

create or replace temp table umls_code as
select
    known.id,
    min(atom.cui) as cui
from identifier_code as known
inner join (
    select * exclude (str) from umls_atom
    union all
    -- RxNorm's concepts have the codes of other sources too.
    select
        'RXNORM:' || rxcui as cui,
        sab,
        code
    from rxnorm_atom
    where sab <> 'RXNORM'
) as atom on known.sab = atom.sab and known.code = atom.code
group by known.id
having count(distinct atom.cui) = 1;

create or replace temp table link as
with stated as (
    select
        code.id as one,
        known.cui as other,
        1 as step
    from identifier_code as code
    inner join umls_code as known on code.id = known.id
    where code.joins = 'concept'
    union
    select
        xref.id as one,
        xref.target as other,
        case
            when regexp_full_match(xref.target, 'C[0-9]{7}') then 2
            when code.joins = 'class' then 4
            else 3
        end as step
    from ontology.xref as xref
    inner join identifier_code as code on xref.target = code.id
    where xref.kind = 'exact'
    union
    select
        xref.id as one,
        known.cui as other,
        4 as step
    from ontology.xref as xref
    inner join identifier_code as code on xref.target = code.id and code.joins = 'class'
    inner join umls_code as known on xref.target = known.id
    where xref.kind = 'exact'
),

-- Of several ways from one to the other the best counts.
nearest as (
    select
        one,
        other,
        min(step) as step
    from stated
    where one <> other
    group by one, other
),

name as (
    select
        id,
        lower(name) as name
    from ontology.class
    union
    select
        synonym.id,
        lower(synonym.name) as name
    from ontology.synonym as synonym
    where synonym.kind = 'exact'
    union
    select
        atom.cui as id,
        lower(atom.str) as name
    from umls_atom as atom
    where atom.cui in (select other from nearest)
),

agreeing as (
    select distinct
        nearest.one,
        nearest.other
    from nearest
    inner join name as one on nearest.one = one.id
    inner join name as other on nearest.other = other.id and one.name = other.name
)

select
    nearest.*,
    agreeing.one is not null as agrees,
    count(*) over (partition by nearest.other, split_part(nearest.one, ':', 1))
    * count(*) over (partition by nearest.one, split_part(nearest.other, ':', 1)) as claims
from nearest
left join agreeing on nearest.one = agreeing.one and nearest.other = agreeing.other
order by
    nearest.step asc, agrees desc, claims asc, count(*) over (partition by nearest.one) desc, nearest.one asc,
    nearest.other asc;
