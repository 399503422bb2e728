-- Drugs that are only put on the skin do not inherit from the same drug taken by mouth: is_a becomes narrower_than
-- Grain: rows of edge_candidate. Inputs: drug_route (kg/composition.py), kg.predicate_code
-- Output: changes them in edge_candidate. Source: DESIGN section 4
update edge_candidate set
    predicate = (
        select code from kg.predicate_code
        where predicate = 'narrower_than'
    )
where
    predicate = (
        select code from kg.predicate_code
        where predicate = 'is_a'
    )
    and refused is null
    and head in (
        select node from drug_route
        where not systemic
    )
    and tail in (
        select node from drug_route
        where mixed
    );
