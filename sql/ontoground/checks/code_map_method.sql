-- Rows of the code map with a source or method that is not in the contract, or that do not go together
-- Grain: one row per offending row of ground.code_map
-- Inputs: ground.code_map
select
    source,
    code,
    code_version,
    cui,
    method
from ground.code_map
where
    (source, method) not in (
        ('diagnoses_icd', 'exact'), ('diagnoses_icd', 'parent_code'), ('diagnoses_icd', 'map'),
        ('procedures_icd', 'exact'), ('procedures_icd', 'parent_code'), ('procedures_icd', 'map'),
        ('prescriptions_ndc', 'ndc_rxcui'), ('prescriptions_ndc', 'ndc_ingredient'),
        ('prescriptions_drug', 'drug_name'), ('prescriptions_drug', 'drug_name_loose')
    )
    or (source in ('diagnoses_icd', 'procedures_icd')) <> (code_version in (9, 10))
    or (source in ('diagnoses_icd', 'procedures_icd') and code_version is null)
order by source, code, code_version, cui;
