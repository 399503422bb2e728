"""On the real open release: what everybody knows reads the right way round, and a cohort's facts are exact."""

from __future__ import annotations

import pytest

from kg.graph import ConceptGraph
from kg.predicates import read_vocabulary
from tests.builders.real_world import Real
from tests.kg.graphs import facts_of

pytestmark = pytest.mark.real

TRUTH = ("stated", "equivalent", "inherited")

# (head, tail, the sentence that must hold); the same sentence must not hold the other way round.
EVERYDAY = [
    ("C0065374", "C0020538", "Lisinopril treats hypertension"),
    ("C0701176", "C0020538", "Prinivil treats hypertension"),
    ("C0025598", "C0011860", "Metformin treats type 2 diabetes mellitus"),
    ("C0591573", "C0011860", "Glucophage treats type 2 diabetes mellitus"),
    ("C0043031", "C0004238", "Warfarin treats Atrial Fibrillation"),
    ("C0699129", "C0004238", "Coumadin treats Atrial Fibrillation"),
    ("C0028978", "C0017168", "Omeprazole treats Gastroesophageal Reflux Disease"),
    ("C0040165", "C0020676", "Thyroxine treats hypothyroidism"),
    ("C0699992", "C0018801", "Lasix treats congestive heart failure"),
    ("C0286650", "C0020443", "Atorvastatin calcium treats Hypercholesterolemia"),
    ("C0025859", "C0020538", "Metoprolol treats hypertension"),
    ("C0019134", "C0034065", "Heparin prevents pulmonary embolism"),
    ("C0633084", "C0027051", "Plavix prevents myocardial infarction"),
    ("C0004057", "C0027051", "Aspirin prevents myocardial infarction"),
    ("C0024002", "C0003469", "Lorazepam treats anxiety disorder"),
    ("C0018546", "C0036341", "Haloperidol treats Schizophrenia"),
    ("C0022957", "C0019151", "Lactulose treats hepatic encephalopathy"),
    ("C0065374", "C0003015", "Lisinopril has the pharmacologic class Angiotensin-converting Enzyme (ACE) Inhibitors"),
    ("C0005632", "C0000727", "Bisacodyl is contraindicated in Abdomen, Acute"),
    ("C0005632", "C0021843", "Bisacodyl is contraindicated in Bowel Obstruction"),
    ("C0004238", "C0003811", "Atrial Fibrillation is classified as Cardiac Arrhythmia"),
    ("C0020538", "C0065374", "hypertension may be treated by Lisinopril"),
]


def _sentences(graph: ConceptGraph, head: str, tail: str) -> set[str]:
    vocabulary = read_vocabulary()
    found = set()
    for relation in graph.relations(head, tail, tiers=TRUTH):
        line, backwards = vocabulary.line_of(relation.predicate)
        template = line.inverse_sentence if backwards else line.sentence
        found.add(template.format(head=graph.name(head), tail=graph.name(tail)))
    return found


@pytest.mark.parametrize(("head", "tail", "sentence"), EVERYDAY, ids=[line[2][:40] for line in EVERYDAY])
def test_everyday_pairs_read_the_right_way_round(real: Real, head: str, tail: str, sentence: str) -> None:
    graph = real.graph
    assert sentence in _sentences(graph, head, tail)
    name, other = graph.name(head), graph.name(tail)
    assert sentence.replace(name, "?").replace(other, name).replace("?", other) not in _sentences(graph, tail, head)


def test_the_counts_of_the_release_are_those_of_its_readme(real: Real) -> None:
    graph, report = real.graph, real.graph_report
    assert len(graph) == report.concepts == 44528
    # 4,787 may_treat and 543 may_prevent rows in one direction, less those whose ends are of other groups.
    assert report.edges_by_predicate["treats"] + 6 == 4787
    assert report.edges_by_predicate["prevents"] + 6 == 543
    assert set(report.evidence_by_sab["treats"]) == {"NDFRT"}
    assert sum(int(row["n"]) for row in report.uncovered) < 10


def test_facts_of_a_cohort_are_the_relations_of_its_pairs(real: Real) -> None:
    graph = real.graph
    cohort = sorted({cui for line in EVERYDAY for cui in line[:2]})
    facts = facts_of(graph, cohort, extended=True).to_pylist()
    expected = {
        (head, relation.predicate, tail, relation.pattern, relation.tier, relation.hops)
        for head in cohort
        for tail in cohort
        if head != tail
        for relation in graph.relations(head, tail, extended=True, paths_per_pattern=1)
    }
    assert {tuple(row.values()) for row in facts} == expected
    assert len(facts) == len(expected) > 100
