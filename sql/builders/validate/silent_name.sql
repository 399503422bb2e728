-- Names that some patients' rows call unsupported, each between blanks
-- Second road: shares no rules and no word tables with builders/medieval and sql/builders/medieval
-- Grain: one row per name. Columns: name. Inputs: silent_end, spelled
select distinct concat(' ', name, ' ') as name
from spelled
semi join silent_end on spelled.cui = silent_end.cui;
