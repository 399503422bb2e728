-- Concepts that identifiers of ontologies belong to, and the names of these
-- Grain: ontology.concept, one row per identifier in use; ontology.mrconso, one per name, and per code of another
--   vocabulary that a class states and UMLS does not have
-- Inputs: joined (kg/ontology/joining.py), identifier_code, ontology.class, synonym, xref, umls_atom, rxnorm_atom
-- Output: ontology.concept(id, cui), ontology.mrconso with columns of MRCONSO. TTY: PT the name, SY an
--   exact synonym, AB an abbreviation, ET a narrower or related one, BS a broader one (suppressed: it names more than
--   the concept), XM a code that the class states. Source: UMLS Reference Manual, MRCONSO; docs/ontologies.md
create or replace table ontology.concept as
with alternate as (
    select
        target as id,
        min(id) as current_id
    from ontology.xref
    where
        kind = 'alternate' and target not in (
            select class.id
            from ontology.class as class
            where not class.obsolete
        )
    group by target
)

select
    code.id,
    coalesce(joined.cui, known.cui, code.id) as cui
from identifier_code as code
left join alternate on code.id = alternate.id
left join joined on coalesce(alternate.current_id, code.id) = joined.id
left join umls_code as known on coalesce(alternate.current_id, code.id) = known.id
order by code.id;

create or replace temp table live_class as
select
    class.id,
    concept.cui,
    arg_min(class.name, (class.stub, class.file, class.name)) as name,
    min(class.sab) as sab,
    bool_and(class.stub) as stub
from ontology.class as class
inner join ontology.concept as concept on class.id = concept.id
where not class.obsolete
group by class.id, concept.cui;

create or replace table ontology.mrconso as
with name as (
    select
        id,
        name,
        'PT' as tty
    from live_class
    union
    select
        id,
        name,
        case kind
            when 'exact' then 'SY'
            when 'abbreviation' then 'AB'
            when 'broad' then 'BS'
            else 'ET'
        end as tty
    from ontology.synonym
),

named as (
    select
        class.* exclude (name),
        name.tty,
        code.code,
        name.name as str
    from name
    inner join live_class as class on name.id = class.id
    inner join identifier_code as code on class.id = code.id
    union by name
    select
        class.* exclude (name) replace (code.sab as sab),
        'XM' as tty,
        code.code,
        class.name as str
    from ontology.xref as xref
    inner join live_class as class on xref.id = class.id
    inner join identifier_code as code on xref.target = code.id and code.joins <> 'cui'
    where
        xref.kind = 'exact' and code.sab <> '-' and code.id not in (select live.id from live_class as live)
        and code.sab in (select system.sab from code_system as system)
        and not exists (
            select 1 from umls_atom as atom
            where atom.sab = code.sab and atom.code = code.code
        )
    union all by name
    select
        atom.* exclude (rxcui, suppress),
        coalesce(concept.cui, 'RXNORM:' || atom.rxcui) as cui,
        'RXNORM:' || atom.rxcui as id,
        atom.suppress <> 'N' as stub
    from rxnorm_atom as atom
    left join ontology.concept as concept on concept.id = 'RXNORM:' || atom.rxcui
),

ranked as (
    select
        named.*,
        -- UMLS' own preferred name stays; of several ontologies' names the one of the first vocabulary is preferred.
        named.cui not in (select atom.cui from umls_atom as atom) and row_number() over (
            partition by named.cui
            order by
                named.tty in ('XM', 'BS', 'ET', 'AB', 'SY') asc, named.stub asc, coalesce(system.place, 1000) asc,
                named.sab <> 'RXNORM' asc, named.id asc, named.str asc
        ) = 1 as is_first
    from named
    left join code_system as system on split_part(named.id, ':', 1) = system.prefix
)

select
    cui as cui,
    'ENG' as lat,
    if(is_first, 'P', 'S') as ts,
    if(is_first, 'PF', 'VO') as stt,
    if(is_first, 'Y', 'N') as ispref,
    id || '|' || tty || '|' || str as aui,
    code as scui,
    null::varchar as sdui,
    sab,
    tty,
    code,
    str,
    if(tty = 'BS', 'Y', if(stub and sab = 'RXNORM' and tty <> 'PT', 'O', 'N')) as suppress
from ranked
order by ranked.cui, ranked.sab, ranked.tty, ranked.code, ranked.str;
