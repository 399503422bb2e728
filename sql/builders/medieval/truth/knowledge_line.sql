-- The lines of a table of builders/data, as text
-- Grain: one row per line. Inputs: none. Parameter: file. Source: the table's own comments
select *
from
    read_csv(
        getvariable('file'),
        delim = '\t', quote = '', escape = '', comment = '#', header = true, all_varchar = true
    );
