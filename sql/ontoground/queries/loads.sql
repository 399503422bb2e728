-- Loaded files with their rows and releases
-- Grain: one row per file; digest: the first 12 digits of its SHA-256 (whole in ground.load)
-- Inputs: ground.load
select
    source,
    file,
    release,
    rows_read as n_rows,
    rows_rejected as refused,
    left(sha256, 12) as digest
from ground.load
order by source, file;
