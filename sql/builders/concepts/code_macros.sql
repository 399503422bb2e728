-- Macros that bring codes and names into one form
-- Output: temporary macros dotted_icd, icd_root_length, ndc11, plain_name (nothing is kept in the warehouse)
-- Caveat: codes are text; leading zeros count ('01882' and '1882' are different codes)
-- Source: ICD-9-CM and ICD-10-CM official guidelines (position of the dot); FDA NDC directory and RxNorm technical
--   documentation, NDC formats (4-4-2, 5-3-2, 5-4-1 become 5-4-2)

-- noqa: disable=LT02,LT05

-- ICD-9-CM diagnoses have three digits before the dot (E codes a letter and three), ICD-9-CM procedures two,
-- ICD-10-CM three; ICD-10-PCS has no dot, nor has a code that ends where the dot would stand.
create or replace temp macro icd_root_length(kind, vocabulary, bare) as
    case
        when vocabulary <> 'ICD9CM' then 3
        when kind = 'procedure' then 2
        when bare like 'E%' then 4
        else 3
    end;

create or replace temp macro dotted_icd(kind, vocabulary, bare) as
    case
        when vocabulary = 'ICD10PCS' then bare
        when length(bare) <= icd_root_length(kind, vocabulary, bare) then bare
        else
            left(bare, icd_root_length(kind, vocabulary, bare)) || '.'
            || substr(bare, icd_root_length(kind, vocabulary, bare) + 1)
    end;

create or replace temp macro ndc_digits(digits) as
    case when regexp_full_match(digits, '[0-9]+') then digits end;

-- One segment of a dashed NDC to its width: '*' stands for a padding zero, a segment of nothing but '*' is unknown.
create or replace temp macro ndc_segment(segment, width) as
    case
        when regexp_full_match(segment, '[0-9*]+') and not regexp_full_match(segment, '[*]+') and length(segment) <= width
            then lpad(replace(segment, '*', '0'), width, '0')
        when length(segment) = width + 1 and segment like '0%' then ndc_digits(substr(segment, 2))
    end;

-- Eleven digits, or null where the text is no NDC. Fewer than seven digits without dashes is no NDC that lost its
-- leading zeros: the smallest labeler code is 00002.
create or replace temp macro ndc11(raw) as
    case
        when regexp_full_match(trim(raw), '[0-9*]+-[0-9*]+-[0-9*]+')
            then nullif(
                ndc_segment(split_part(trim(raw), '-', 1), 5) || ndc_segment(split_part(trim(raw), '-', 2), 4)
                || ndc_segment(split_part(trim(raw), '-', 3), 2), '00000000000'
            )
        when regexp_full_match(trim(raw), '[0-9*]{7,11}([.]0)?')
            then nullif(lpad(replace(split_part(trim(raw), '.', 1), '*', '0'), 11, '0'), '00000000000')
        when regexp_full_match(trim(raw), '0[0-9]{11}') then nullif(substr(trim(raw), 2), '00000000000')
    end;

-- Lower case without accents, everything that is neither letter nor digit one space.
create or replace temp macro plain_name(raw) as
    trim(regexp_replace(lower(strip_accents(raw)), '[^a-z0-9]+', ' ', 'g'));
