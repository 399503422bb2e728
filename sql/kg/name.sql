-- English names that are not suppressed
-- Grain: one row per atom (CUI, name, SAB, TTY, code). Languages and suppression are settings.
-- Inputs: release.mrconso, umls.mrrank where the release has it, kg.language, kg.suppressed
-- Output: kg.name(cui, name, normalized, sab, tty, code, is_preferred, rank)
-- Source: UMLS Reference Manual, MRCONSO and MRRANK; normalized is lower case with single spaces for punctuation
create or replace table kg.name ( -- noqa: PRS
    cui varchar,
    -- Zstandard takes half the time of DuckDB's own choice for texts that hardly repeat.
    name varchar using compression zstd,
    normalized varchar using compression zstd,
    sab varchar,
    tty varchar,
    code varchar,
    is_preferred boolean,
    rank integer
);

insert into kg.name by name
select
    sorted.*,
    -- Most names are plain words; the expression that replaces runs of characters is ten times as slow as this one.
    case
        when regexp_matches(sorted.name, '[^A-Za-z0-9 ]|  |^ | $')
            then trim(regexp_replace(lower(sorted.name), '[^\p{L}\p{N}]+', ' ', 'g'))
        else lower(sorted.name)
    end as normalized
from (
    select
        atom.cui,
        atom.str as name,
        atom.sab,
        atom.tty,
        atom.code,
        atom.ts = 'P' and atom.stt = 'PF' and atom.ispref = 'Y' as is_preferred,
        coalesce(rank.rank, 0) as rank
    from release.mrconso as atom
    left join kg.atom_rank as rank on atom.sab = rank.sab and atom.tty = rank.tty
    where
        atom.lat in (select lat from kg.language)
        and coalesce(atom.suppress, 'N') not in (select suppress from kg.suppressed)
        and atom.str is not null
    order by atom.cui asc, is_preferred desc, rank desc, atom.aui asc
) as sorted;
