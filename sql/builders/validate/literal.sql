-- Unsupported rows whose replaced end the text of a note names
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per row of the dataset
-- Output: (check_name, id, found, expected)
-- Inputs: labelled, named_end. The name that was found comes from the release or from the row, not from the note
-- Source: docs/definitions.md#not-attested
select
    'the text of no note names the replaced end of an unsupported statement' as check_name,
    labelled.id,
    concat('the text has "', min(named_end.name), '"') as found,
    'no name of it' as expected
from labelled
inner join named_end
    on
        labelled.hadm_id = named_end.hadm_id
        and if(labelled.replaced_end = 'head', labelled.head_cui, labelled.tail_cui) = named_end.cui
where not labelled.is_supported
group by labelled.id
