"""The data tables of the graph fit together."""

from __future__ import annotations

import pytest

from ground.errors import InputError
from ground.storage.own_rules import OwnRules
from ground.storage.tables import read_table
from kg.predicates import data_folder, read_dose_form_words, read_relation_lines, read_semantic_groups, read_vocabulary

# MediEval (Qu and Färber), Table 2.
TABLE_2 = {
    "treats", "may_be_treated_by", "related_to", "classified_as", "contraindicated_class_of", "subset_includes",
    "has_pharmacologic_class", "diagnoses", "prevents", "causes", "associated_with", "authorized_value",
    "co-occurs_with", "defining_characteristic_of", "manifestation_of", "sign_or_symptom_of", "may_be_diagnosed_by",
    "part_of",
}  # fmt: skip
VOCABULARY = read_vocabulary()


def _statements() -> set[str]:
    names = {line.predicate for line in VOCABULARY.predicates if line.statement in ("yes", "both", "true")}
    return names | {line.inverse for line in VOCABULARY.predicates if line.statement == "both"}


def test_statements_use_the_18_predicates_of_table_2_and_those_that_the_paper_speaks_of() -> None:
    assert _statements() == TABLE_2 | {"has_associated_procedure", "contraindicated_with"}


def test_a_contraindication_is_never_false_and_true_only_where_it_is_stated_of_a_form_of_the_drug() -> None:
    assert {line.predicate for line in VOCABULARY.predicates if line.statement == "true"} == {"contraindicated_with"}
    patterns = [pattern for pattern in VOCABULARY.patterns if pattern.predicate == "contraindicated_with"]
    assert "inherited" not in {pattern.tier for pattern in patterns}
    assert {step for pattern in patterns if pattern.tier == "equivalent" for step in pattern.steps} == {
        "drug_form_of",
        "has_drug_form",
        "contraindicated_with",
    }


def test_names_of_steps_are_unique_and_sentences_have_both_ends() -> None:
    names = [name for name in VOCABULARY.step_names if name]
    assert len(names) == len(set(names))
    for line in VOCABULARY.predicates:
        assert line.symmetric == (line.predicate == line.inverse)
        for sentence in (line.sentence, line.inverse_sentence):
            assert sentence.count("{head}") == 1
            assert sentence.count("{tail}") == 1
        assert line.implies in ("", *names)
        assert line.source


def test_each_predicate_of_a_statement_has_its_one_edge_as_a_stated_pattern() -> None:
    stated = {(pattern.predicate, pattern.steps) for pattern in VOCABULARY.patterns if pattern.tier == "stated"}
    for name in _statements():
        assert (name, (name,)) in stated


def test_patterns_of_an_inverse_predicate_mirror_those_of_the_predicate() -> None:
    def backwards(name: str) -> str:
        line, is_inverse = VOCABULARY.line_of(name)
        return line.predicate if is_inverse else line.inverse

    for line in VOCABULARY.predicates:
        if line.statement == "both":
            own, mirrored = (
                {
                    (pattern.steps, pattern.tier, pattern.max_fan)
                    for pattern in VOCABULARY.patterns
                    if pattern.predicate == name and not pattern.extends
                }
                for name in (line.predicate, line.inverse)
            )
            assert {(tuple(backwards(s) for s in reversed(steps)), tier, fan) for steps, tier, fan in own} == mirrored


def test_truth_never_rests_on_loose_relations() -> None:
    loose = {"broader", "narrower", "loosely_related", "narrower_than", "broader_than", "synonym_of", "contains_drug",
             "contained_in_drug"}  # fmt: skip
    for pattern in VOCABULARY.patterns:
        if pattern.tier != "plausible":
            assert not loose & {*pattern.steps, pattern.extends}, pattern.pattern
            assert pattern.max_fan == 0


def test_what_makes_a_statement_true_is_also_a_pattern_of_the_looser_hierarchy() -> None:
    # is_a implies broader: each inherited pattern has a plausible twin, so nothing true can be called false.
    plausible = {(p.predicate, p.steps) for p in VOCABULARY.patterns if p.tier == "plausible"}
    assert ("treats", ("broader", "treats")) in plausible
    assert ("treats", ("treats", "narrower")) in plausible
    assert ("treats", ("treats", "broader", "narrower")) in plausible
    assert ("treats", ("broader", "narrower", "treats")) in plausible
    assert ("treats", ("treats", "may_be_treated_by", "treats")) in plausible


def test_every_relation_line_names_a_predicate_and_a_direction() -> None:
    names = {line.predicate for line in VOCABULARY.predicates} | {"-"}
    keys = set()
    for line in read_relation_lines():
        assert line["predicate"] in names
        assert line["direction"] in ("forward", "inverse")
        assert line["rela"] == line["rela"].lower()
        assert line["source"]
        keys.add((line["rela"], line["rel"], line["sab"], line["predicate"], line["direction"]))
    assert len(keys) == len(read_relation_lines())


def test_no_relation_is_read_in_both_directions_unless_it_is_symmetric() -> None:
    symmetric = {line.predicate for line in VOCABULARY.predicates if line.symmetric} | {"-"}
    seen: dict[tuple[str, str, str, str], set[str]] = {}
    for line in read_relation_lines():
        seen.setdefault((line["rela"], line["rel"], line["sab"], line["predicate"]), set()).add(line["direction"])
    assert all(len(directions) == 1 or key[3] in symmetric for key, directions in seen.items())


def test_semantic_types_have_one_group_each() -> None:
    rows = read_semantic_groups()
    assert len({row["tui"] for row in rows}) == len(rows) >= 127
    assert len({row["group"] for row in rows}) == 15
    used = {group for line in VOCABULARY.predicates for group in (*line.head_groups, *line.tail_groups)} - {"*"}
    assert used <= {row["group"] for row in rows}


def test_biolink_terms_are_for_what_is_there() -> None:
    rows = read_table(data_folder() / "kgx.tsv", ("kind", "name", "biolink", "source"))
    predicates = {line.predicate for line in VOCABULARY.predicates}
    groups = {row["group"] for row in read_semantic_groups()}
    assert all(row["name"] in (predicates if row["kind"] == "predicate" else groups) for row in rows)
    assert {row["route"] for row in read_dose_form_words()} == {"local", "systemic"}


def test_an_unknown_name_of_a_predicate_is_refused() -> None:
    with pytest.raises(InputError, match="predicate"):
        VOCABULARY.step_of("cures")


def own_patterns(*rows: str) -> OwnRules:
    head = "pattern\textends\tpredicate\ttier\tmax_fan\tsource"
    return OwnRules((("patterns", "\n".join((head, *rows, ""))),))


def test_an_own_pattern_is_added_or_takes_the_place_of_the_packages() -> None:
    added, changed = "is_a . measures\t\tdiagnoses\tplausible\t7\tours", "treats\t\ttreats\tplausible\t\tours"
    vocabulary = read_vocabulary(own=own_patterns(added, changed))
    first, last = vocabulary.patterns[-2:]
    assert (first.pattern, first.predicate, first.max_fan) == ("is_a . measures", "diagnoses", 7)
    assert (last.pattern, last.tier) == ("treats", "plausible")
    kept = {(line.pattern, line.extends, line.predicate): line for line in VOCABULARY.patterns}
    del kept["treats", "", "treats"]
    assert vocabulary.patterns[:-2] == tuple(kept.values())


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("cures\t\ttreats\tplausible\t\tours", "no such predicate"),
        ("is_a . treats\t\ttreats\tsure\t\tours", "no such tier"),
        ("is_a . is_a . is_a . treats\t\ttreats\tplausible\t\tours", "too long"),
        ("is_a . measures\t\tdiagnoses\tplausible\t\tours", "there already"),
        ("is_a . prevents\t\ttreats\tplausible\tmany\tours", "max_fan"),
    ],
)
def test_an_own_pattern_that_is_none_is_refused_with_its_line(row: str, what: str) -> None:
    with pytest.raises(InputError, match=what) as error:
        read_vocabulary(own=own_patterns("is_a . measures\t\tdiagnoses\tplausible\t\tours", row))
    assert (error.value.file, error.value.line) == ("rules/patterns.tsv", 3)
