-- One step along the ring: extractions without a partner yet take the next value, if it is wrong in their document
-- Grain: one row per extraction that finds its partner at this step
-- Output: extraction_swap(extraction_id, wrong), added to
-- Inputs: extraction, extraction_text, extraction_pool, extraction_start. Parameter: step
-- A value is wrong in a document that has none of its marks, so it never comes from the same document. It must also be
--   far enough from the right one, and name no part of the body that the right one names. Source: MedHal,
--   section 3.3
insert into extraction_swap
select
    extraction.extraction_id,
    extraction_pool.said as wrong
from extraction
inner join extraction_start on extraction.extraction_id = extraction_start.extraction_id
inner join extraction_text on extraction.document = extraction_text.document
inner join extraction_pool
    on
        extraction.swap_group = extraction_pool.swap_group
        and (extraction_start.start + getvariable('step')) % extraction_pool.ring = extraction_pool.place
where
    getvariable('step') < extraction_pool.ring
    and extraction.words != extraction_pool.words
    and not list_has_any(extraction_text.features, extraction_pool.marks)
    and not list_has_any(extraction.regions, extraction_pool.regions)
    and (
        extraction.size is null
        or extraction_pool.size is null
        or greatest(extraction.size, extraction_pool.size)
        >= extraction.ratio * least(extraction.size, extraction_pool.size)
    )
    and not exists (
        select 1 from extraction_swap as found
        where found.extraction_id = extraction.extraction_id
    );
