-- How often each value of M_MedVAL was reached
-- Grain: one row per value, rounded to four decimals
-- Output: consistency, judged, kept
-- Inputs: triple (datasets/medval/triples.parquet)
-- Source: MedVAL, equation 2
select
    round(consistency, 4) as consistency,
    count(*)::bigint as judged,
    count(*) filter (where kept)::bigint as kept
from triple
where consistency is not null
group by round(consistency, 4)
order by round(consistency, 4) desc;
