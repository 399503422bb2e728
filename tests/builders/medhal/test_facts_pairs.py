"""Our own facts: pairs of MediEval's statements, their explanations, their splits, and the graph that judges them."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders.medhal import facts
from builders.medhal.facts import denials, fact_pairs, is_counted
from builders.medhal.items import Pair
from builders.medhal.judge_graph import GraphJudge
from builders.medieval.facts import TAXONOMIC
from builders.texts.edits.model import article_of
from builders.texts.origin import Tally, split_of
from ground.errors import InputError
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph
from tests.builders.medieval_world import Built, Truth


@pytest.fixture(scope="module")
def pairs(medieval: Built) -> list[Pair]:
    return list(fact_pairs(medieval.workspace, medieval.connection, Tally()))


@pytest.fixture(scope="module")
def judge(medieval: Built) -> Iterator[GraphJudge]:
    connection = medieval.connection.cursor()
    yield GraphJudge(medieval.workspace, connection)
    connection.close()


@pytest.fixture(scope="module")
def rows(medieval: Built) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in medieval.rows}


def explanation_of(pair: Pair) -> str:
    assert pair.wrong.explanation is not None
    return pair.wrong.explanation


def context_of(pair: Pair) -> str:
    assert pair.context is not None
    return pair.context


def quadrant_of(pair: Pair) -> str:
    return pair.wrong.rule[-2:].upper()


def ends(pair: Pair, rows: dict[str, dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    return rows[pair.origin.inner_id[:-2] + "Q1"], rows[pair.origin.inner_id]


def worded(row: dict[str, Any]) -> str:
    """Return a statement of MediEval without its end, a class in words that need no article."""
    statement: str = row["statement"].removesuffix(".")
    return statement.replace(" is classified as ", " belongs to the class ")


def test_classes_are_said_in_words_that_need_no_article(pairs: list[Pair]) -> None:
    said = [text for pair in pairs for text in (pair.factual.statement, pair.wrong.statement, explanation_of(pair))]
    assert any("belongs to the class" in text for text in said)
    assert not any("classified as" in text for text in said)


def test_each_group_gives_one_pair_of_its_first_statement_and_one_that_fails(
    pairs: list[Pair], medieval: Built, rows: dict[str, dict[str, Any]]
) -> None:
    tally = Tally()
    again = list(fact_pairs(medieval.workspace, medieval.connection, tally))
    assert again == pairs and len(pairs) > 100
    assert tally.read["mimic"] == len(medieval.groups) == len(pairs) + sum(tally.dropped.values())
    groups = Counter(pair.origin.inner_id[:-3] for pair in pairs)
    assert set(groups.values()) == {1}
    for pair in pairs:
        first, other = ends(pair, rows)
        assert pair.factual.statement.startswith(worded(first))
        assert pair.wrong.statement.startswith(worded(other))
        assert context_of(pair) == first["context"] and quadrant_of(pair) == other["quadrant"] != "Q1"


def test_names_stand_in_failing_statements_about_as_often_as_in_factual_ones(
    pairs: list[Pair], rows: dict[str, dict[str, Any]], medieval: Built
) -> None:
    """More of the factual statements' names come again in failing ones than in a third of all offered."""
    assert {quadrant_of(pair) for pair in pairs} == {"Q2", "Q3", "Q4"}
    held: Counter[str] = Counter()
    put_in: Counter[str] = Counter()
    offered: Counter[str] = Counter()
    for pair in pairs:
        first, other = ends(pair, rows)
        end = f"{other['replaced_end']}_name"
        held[first[end]] += 1
        put_in[other[end]] += 1
    for row in medieval.rows:
        if row["quadrant"] != "Q1":
            offered[row[f"{row['replaced_end']}_name"]] += 1
    thirds = sum(min(n, offered[name] / 3) for name, n in held.items())
    assert (held & put_in).total() > thirds


def test_both_statements_claim_that_the_record_documents_their_ends(
    pairs: list[Pair], rows: dict[str, dict[str, Any]]
) -> None:
    for pair in pairs:
        for text, row in zip((pair.factual.statement, pair.wrong.statement), ends(pair, rows), strict=True):
            head, tail = (
                f"{article_of(name)} {name}" if is_counted(name) else name
                for name in (row["head_name"], row["tail_name"])
            )
            claim = f", and this patient's record documents both {head} and {tail}."
            assert text == worded(row) + claim


def test_explanations_say_what_the_quadrant_means(pairs: list[Pair], rows: dict[str, dict[str, Any]]) -> None:
    for pair in pairs:
        first, other = ends(pair, rows)
        role = other["replaced_end"]
        put_in = other[f"{role}_name"]
        named = f"{article_of(put_in)} {put_in}" if is_counted(put_in) else put_in
        silent = f"this patient's record does not mention {named}"
        denial = denials()[other["predicate"]].format(head=other["head_name"], tail=other["tail_name"])
        lower = explanation_of(pair).lower()
        assert (silent.lower() in lower) == (quadrant_of(pair) in ("Q2", "Q4"))
        assert (denial.lower() in lower) == (quadrant_of(pair) in ("Q3", "Q4"))
        assert explanation_of(pair).startswith("The relation is medically true") == (quadrant_of(pair) == "Q2")
        assert first[f"{role}_name"].lower() in lower
        assert explanation_of(pair).endswith(".") and "  " not in explanation_of(pair)


def test_words_that_an_explanation_quotes_stand_in_the_context(pairs: list[Pair]) -> None:
    quoted = 0
    for pair in pairs:
        for words in explanation_of(pair).split('"')[1::2]:
            quoted += 1
            assert words in " ".join(context_of(pair).split())
    assert quoted > 10


def test_facts_that_an_explanation_adds_are_true_statements_of_the_dataset(
    pairs: list[Pair], medieval: Built, rows: dict[str, dict[str, Any]]
) -> None:
    true = {(row["predicate"], row["head_name"], row["tail_name"]) for row in medieval.rows if row["is_true"]}
    templates = dict(medieval.connection.execute(sql_text("builders/medieval/truth/template")).fetchall())
    templates["classified_as"] = "{head} belongs to the class {tail}"
    both = dict(
        medieval.connection.execute("select predicate, inverse from kg.predicate where statement = 'both'").fetchall()
    )
    true |= {(both[p], t, h) for p, h, t in true if p in both} | {
        (p, t, h) for p, inverse in both.items() for q, h, t in true if q == inverse
    }
    sentences = {templates[p].format(head=h, tail=t).lower() + "." for p, h, t in true if p in templates}
    for pair in pairs:
        if quadrant_of(pair) != "Q2":
            _, other = ends(pair, rows)
            denial = denials()[other["predicate"]].format(head=other["head_name"], tail=other["tail_name"])
            rest = explanation_of(pair).split(f"{denial}.", 1)[1].strip().lower()
            assert rest
            while rest:
                known = [one for one in sentences if rest.startswith(one)]
                assert known, rest
                rest = rest[len(max(known, key=len)) :].strip()


def test_a_patient_has_the_split_that_medieval_gives(
    pairs: list[Pair], medieval: Built, rows: dict[str, dict[str, Any]]
) -> None:
    seed = medieval.workspace.settings.build.seed
    for pair in pairs:
        first, _ = ends(pair, rows)
        assert pair.origin.subject_id == first["subject_id"]
        assert split_of(seed, pair.origin) == pair.origin.split == first["split"]
    assert {pair.origin.split for pair in pairs} == {"train", "validation", "test"}


def test_every_predicate_that_statements_use_can_be_denied(medieval: Built) -> None:
    told = {name for name, _ in medieval.connection.execute(sql_text("builders/medieval/truth/template")).fetchall()}
    assert told == set(denials())
    assert all("{head}" in text and "{tail}" in text for text in denials().values())


def test_a_name_that_says_more_than_the_record_is_left_out(pairs: list[Pair], rows: dict[str, dict[str, Any]]) -> None:
    for pair in pairs:
        for row in ends(pair, rows):
            for span in row["support_spans"]:
                name = row[f"{span['role']}_name"].lower()
                more = set(re.findall(r"\w+", name)) > set(re.findall(r"\w+", span["text"].lower()))
                assert not more or name in context_of(pair).lower()


def test_a_class_that_is_counted_is_named_only_as_a_class(pairs: list[Pair], rows: dict[str, dict[str, Any]]) -> None:
    names = {"Digestive system disorder": True, "intestinal disorder": True, "immune system disease": True}
    names |= {"depressive disorder": False, "bipolar disorder": False, "coronary artery disease": False, "gout": False}
    assert {name: is_counted(name) for name in names} == names
    told = [row for pair in pairs for row in ends(pair, rows) if row["predicate"] not in TAXONOMIC]
    assert told and not any(is_counted(row[f"{end}_name"]) for row in told for end in ("head", "tail"))


def test_the_graph_confirms_nearly_all_pairs_and_its_refusals_have_the_words_in_the_note(
    judge: GraphJudge, pairs: list[Pair], medieval: Built
) -> None:
    verdicts = judge.agree(pairs)
    refused = [(pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True) if verdict is not None]
    assert len(refused) <= 0.02 * len(pairs)
    # What it refuses is a note that holds a name of what the statement puts in.
    assert {verdict.reason for _, verdict in refused} <= {"judge_graph_does_not_call_wrong_wrong"}
    assert all(pair.origin.inner_id.endswith(("Q2", "Q4")) for pair, _ in refused)


def test_the_graph_agrees_with_what_the_open_world_says_of_itself(
    judge: GraphJudge, pairs: list[Pair], rows: dict[str, dict[str, Any]], truth: Truth
) -> None:
    confirmed = [pair for pair, verdict in zip(pairs, judge.agree(pairs), strict=True) if verdict is None]
    world = {(head, tail) for head, _, tail in truth.facts} | {(tail, head) for head, _, tail in truth.facts}
    for pair in confirmed:
        row = rows[pair.origin.inner_id]
        if row["quadrant"] != "Q2":
            assert (row["head_cui"], row["tail_cui"]) not in world


def test_the_graph_refuses_labels_that_are_turned_round(judge: GraphJudge, pairs: list[Pair]) -> None:
    turned = []
    for pair in pairs[:60]:
        quadrant = pair.origin.inner_id[-2:]
        # The story of another quadrant: a false relation told as true, a silent end told as documented.
        other = {"Q2": "Q3", "Q3": "Q2", "Q4": "Q3"}[quadrant]
        turned.append(replace(pair, origin=replace(pair.origin, inner_id=pair.origin.inner_id[:-2] + other)))
    swapped = [replace(pair, factual=pair.wrong, wrong=pair.factual) for pair in pairs[:60]]
    assert all(verdict is not None for verdict in judge.agree(swapped))
    assert all(verdict is not None for verdict in judge.agree(turned))


def test_the_graph_refuses_a_pair_whose_context_or_origin_is_another(judge: GraphJudge, pairs: list[Pair]) -> None:
    elsewhere = [replace(pair, context="Nothing of note.") for pair in pairs[:20]]
    assert {verdict and verdict.reason for verdict in judge.agree(elsewhere)} == {"judge_graph_calls_factual_wrong"}
    unknown = [replace(pairs[0], origin=replace(pairs[0].origin, inner_id="1-none-h-Q2"))]
    assert {verdict and verdict.reason for verdict in judge.agree(unknown)} == {"judge_graph_knows_no_such_statement"}


def test_verdicts_do_not_depend_on_the_batches(judge: GraphJudge, pairs: list[Pair]) -> None:
    some = pairs[:40]
    assert [verdict for pair in some for verdict in judge.agree([pair])] == judge.agree(some)


def test_facts_without_a_dataset_are_an_input_error(tmp_path: Path, medieval: Built) -> None:
    with pytest.raises(InputError, match="no MediEval dataset"):
        list(fact_pairs(Workspace(tmp_path), medieval.connection, Tally()))


def test_facts_and_judge_need_no_writing(medieval: Built, pairs: list[Pair], tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(medieval.workspace.root, root)
    workspace = Workspace.existing(root)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    with connect(workspace.warehouse, workspace.settings.run, read_only=True) as connection:
        found = list(fact_pairs(workspace, connection, Tally()))
        assert found == pairs
        assert GraphJudge(workspace, connection).agree(found[:3]) == [None] * 3
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
    assert len(ConceptGraph.open(workspace.graph)) > 0


def test_a_predicate_of_a_user_that_has_no_denial_gives_no_pair(
    medieval: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {name: text for name, text in denials().items() if name != "treats"}
    monkeypatch.setattr(facts, "denials", lambda: known)
    found = list(fact_pairs(medieval.workspace, medieval.connection, tally := Tally()))
    assert found and tally.dropped["mimic", "predicate_has_no_denial"] > 0
