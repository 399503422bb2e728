-- Parents that are not pharmacologic classes: a substance that products hold, such as the base above its salt
-- Grain: rows of kg.edge_candidate. Inputs: kg.composition, kg.predicate_code
-- Output: marks them in kg.edge_candidate. Source: seen in USPMG, where a salt stands below its base
update kg.edge_candidate set refused = 'not_a_class'
where
    predicate = (
        select code from kg.predicate_code
        where predicate = 'has_pharmacologic_class'
    )
    and refused is null
    and tail in (select link.tail from kg.composition as link);
