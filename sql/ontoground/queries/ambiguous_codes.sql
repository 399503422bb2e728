-- Ambiguous codes: codes with several candidate concepts
-- Grain: one row per (source, code, vocabulary), most candidates first
-- Inputs: ground.code_map, kg.concept
-- Caveat: a combination without a name of its own ("Amoxicillin-Clavulanic Acid") has one candidate per drug
select
    m.source,
    m.code,
    m.vocabulary,
    m.method,
    m.n_candidates,
    string_agg(m.cui || ' ' || coalesce(c.name, ''), ' | ' order by m.cui) as candidates
from ground.code_map as m
left join kg.concept as c on m.cui = c.cui
where m.n_candidates > 1
group by m.source, m.code, m.vocabulary, m.method, m.n_candidates
order by m.n_candidates desc, m.source asc, m.code asc, m.vocabulary asc;
