-- Parents that are not pharmacologic classes: a substance that products hold, such as the base above its salt
-- Grain: rows of edge_candidate. Inputs: composition, kg.predicate_code
-- Output: marks them in edge_candidate. Source: seen in USPMG, where a salt stands below its base
update edge_candidate set refused = 7
where
    predicate = (
        select code from kg.predicate_code
        where predicate = 'has_pharmacologic_class'
    )
    and refused is null
    and tail in (select link.tail from composition as link);
