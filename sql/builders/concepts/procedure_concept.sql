-- Concepts that are procedures
-- Grain: one row per cui
-- Inputs: release.mrsty, concept_type (builders/data/concept_types.tsv)
-- Output: temporary table procedure_concept(cui)
-- Source: UMLS semantic groups
create or replace temp table procedure_concept as
select distinct s.cui
from release.mrsty as s
inner join concept_type as t on s.tui = t.tui
where t.kind = 'procedure';
