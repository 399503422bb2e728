-- RxNorm's atoms and the concepts they belong to
-- Grain: one row per (node, tty, name, suppressed)
-- Inputs: release.mrconso (SAB RXNORM), source_rxnconso and source_rxnatomarchive (rxnorm.*, empty
--   where they were not loaded)
-- Output: temporary table rxnorm_node(node, rxcui, cui, tty, name, suppressed); node is the CUI where UMLS has the
--   RXCUI, else 'RXCUI:' and its number, so that a newer or larger RxNorm still leads to ingredients
-- Source: UMLS Reference Manual, RXNORM source page: CODE of RXNORM atoms is the RXCUI
create or replace temp table rxnorm_node as
with atom as (
    select
        code as rxcui,
        tty,
        str as name,
        coalesce(suppress, 'N') <> 'N' as suppressed
    from release.mrconso
    where sab = 'RXNORM'
    union
    select
        rxcui,
        tty,
        str as name,
        coalesce(suppress, 'N') <> 'N' as suppressed
    from source_rxnconso
    where sab = 'RXNORM'
    union
    -- Names of retired concepts lead to the concept that took their place.
    select
        merged_to_rxcui as rxcui,
        null as tty,
        str as name,
        true as suppressed
    from source_rxnatomarchive
    where sab = 'RXNORM' and merged_to_rxcui <> ''
),

bridge as (
    select
        code as rxcui,
        min(cui) as cui
    from release.mrconso
    where sab = 'RXNORM'
    group by code
)

select
    coalesce(b.cui, 'RXCUI:' || a.rxcui) as node,
    a.rxcui,
    b.cui,
    a.tty,
    a.name,
    a.suppressed
from atom as a
left join bridge as b on a.rxcui = b.rxcui;
