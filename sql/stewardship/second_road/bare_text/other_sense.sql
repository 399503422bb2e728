-- Words that texts hold for an end and that are also a name of something that does not mean it
-- Second road: shares no rules and no word tables with builders, ehr and their SQL
-- Grain: one row per end and name. Columns: cui, name. Inputs: word_of(cui, name), in words; meaning, kg.name
select distinct
    word_of.cui,
    word_of.name
from word_of
inner join kg.name as name on word_of.name = name.normalized
anti join meaning on word_of.cui = meaning.cui and name.cui = meaning.mentioned;
