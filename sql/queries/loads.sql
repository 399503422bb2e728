-- Loaded files with their rows and releases
-- Grain: one row per file
-- Inputs: ground.load
select
    source,
    file,
    release,
    rows_read,
    rows_rejected,
    bytes,
    sha256,
    finished_at
from ground.load
order by source, file;
