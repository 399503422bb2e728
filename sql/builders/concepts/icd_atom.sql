-- Concepts of ICD codes in the release
-- Grain: one row per (sab, code, cui)
-- Inputs: release.mrconso
-- Output: temporary table icd_atom(sab, code, cui)
-- Caveat: of a code's atoms the best kind is kept: current before suppressed, the code's own title (PT, HT) before
--   its long, short and obsolete forms, entry terms last, for an entry term may be narrower than its code
-- Source: UMLS Reference Manual, term types of ICD9CM, ICD10CM and ICD10PCS
create or replace temp table icd_atom as
select distinct
    sab,
    code,
    cui
from release.mrconso
where sab in ('ICD9CM', 'ICD10CM', 'ICD10PCS')
qualify rank() over (
    partition by sab, code
    order by
        coalesce(suppress, 'N') <> 'N',
        case
            when tty in ('PT', 'HT') then 1
            when tty in ('PX', 'HX', 'MTH_PT', 'MTH_HT', 'MTH_PX', 'MTH_HX', 'XM', 'AB', 'HS', 'PS', 'OP') then 2
            else 3
        end
) = 1;
