-- Parents that are not pharmacologic classes: a substance that products hold, such as the base above its salt
-- Grain: rows of kg.edge_candidate. Inputs: kg.composition, kg.node
-- Output: marks them in kg.edge_candidate. Source: seen in USPMG, where a salt stands below its base
update kg.edge_candidate set refused = 'not_a_class'
where
    predicate = 'has_pharmacologic_class'
    and refused is null
    and tail_cui in (select node.cui from kg.node as node inner join kg.composition as link on node.node = link.tail);
