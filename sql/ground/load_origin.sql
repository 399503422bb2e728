-- Where each loaded file came from, so that an unchanged one is skipped without reading it again
-- Grain: one row per loaded file of ground.load. recipe: settings and columns that shaped the table; modified_ns: time
-- of change, of a file in object storage the mark by which its store tells versions apart
-- Inputs: none. Output: ground.load_origin, created where missing. Source: ground/storage/loading.py writes it
create table if not exists ground.load_origin (
    source varchar not null,
    file varchar not null,
    table_name varchar not null,
    path varchar not null,
    modified_ns bigint not null,
    recipe varchar not null
);
