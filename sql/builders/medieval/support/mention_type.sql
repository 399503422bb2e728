-- Assertions and certainties that mentions have, as types of one byte, in which tables of all mentions hold them
-- Grain: none: said_assertion and said_certainty are types. Inputs: ground.mention
drop table if exists mention_concept;
drop type if exists said_assertion;
drop type if exists said_certainty;
create temp type said_assertion as enum ( -- noqa: PRS
    select assertion from ground.mention
    union
    select 'discontinued' as assertion
);
create temp type said_certainty as enum (select distinct certainty from ground.mention); -- noqa: PRS
