"""Labels against what the open world knows of itself: which relations hold, and what its notes say."""

from __future__ import annotations

from collections import Counter

from tests.builders.medieval_world import Built, Row, Truth


def world_mentions(truth: Truth, row: Row, span: Row) -> list[Row]:
    """Return what the world wrote where a span is."""
    mentions: list[Row] = truth.notes[row["hadm_id"]]["mentions"]
    return [m for m in mentions if m["start"] < span["end_offset"] and span["begin_offset"] < m["end"]]


def means(mention: Row, concepts: set[str]) -> bool:
    return mention["cui"] in concepts or mention["surface_cui"] in concepts


def holds(truth: Truth, row: Row) -> bool:
    return truth.holds(row["head_cui"], row["predicate"], row["tail_cui"])


def test_every_true_statement_holds_in_the_world(medieval: Built, truth: Truth) -> None:
    wrong = [row["statement"] for row in medieval.rows if row["is_true"] and not holds(truth, row)]
    assert wrong == []


def test_no_false_statement_holds_in_the_world(medieval: Built, truth: Truth) -> None:
    """The world also knows what its release omits: what is not stated there must not be called false."""
    wrong = [row["statement"] for row in medieval.rows if not row["is_true"] and holds(truth, row)]
    assert wrong == []


def test_no_false_statement_holds_when_it_is_turned_round(medieval: Built, truth: Truth) -> None:
    wrong = [
        row["statement"]
        for row in medieval.rows
        if not row["is_true"] and truth.states(row["tail_cui"], row["predicate"], row["head_cui"])
    ]
    assert wrong == []


def test_nothing_that_is_contraindicated_is_said_to_help(medieval: Built, truth: Truth) -> None:
    for row in medieval.rows:
        if row["is_true"] and row["predicate"] in ("treats", "prevents", "may_be_treated_by"):
            ends = (row["head_cui"], row["tail_cui"])
            drug, disorder = ends if row["predicate"] != "may_be_treated_by" else ends[::-1]
            assert not any((form, "contraindicated_with", disorder) in truth.facts for form in truth.same(drug))


def test_q3_recombines_what_the_note_has_in_true_facts(medieval: Built, truth: Truth) -> None:
    """The new end of a Q3 statement stands in some true fact of the same predicate."""
    ends = {end for fact in truth.facts for end in (fact[0], fact[2])}
    for row in medieval.rows:
        if row["quadrant"] == "Q3":
            new = row[f"{row['replaced_end']}_cui"]
            assert (truth.same(new) | truth.above(new)) & ends


def allowed(row: Row, role: str) -> set[str]:
    """Return what the world may say of a mention that attests."""
    return {"present", "discontinued"} if row["given"] in (role, "both") else {"present"}


def test_supported_ends_are_written_as_present(medieval: Built, truth: Truth) -> None:
    """At least 99% of the spans are mentions that the world wrote of the concept or something below it.

    The world calls them present, or discontinued where the row says that the drug was given.
    """
    counts: Counter[str] = Counter()
    for row in medieval.rows:
        for span in row["support_spans"]:
            found = world_mentions(truth, row, span)
            below = truth.below(span["cui"])
            if not any(means(mention, below) for mention in found):
                counts["other concept"] += 1
            elif not {mention["assertion"] for mention in found} <= allowed(row, span["role"]):
                counts["other assertion"] += 1
            else:
                counts["right"] += 1
    assert counts["right"] >= 0.99 * counts.total(), counts


def test_a_title_supports_nothing(medieval: Built) -> None:
    """Ms. is no multiple sclerosis."""
    titles = {"Ms", "Mr", "Mrs", "Dr", "Miss"}
    assert not {span["text"] for row in medieval.rows for span in row["support_spans"]} & titles


def test_no_unsupported_end_is_written_anywhere_in_the_note(medieval: Built, truth: Truth) -> None:
    """Neither present nor negated nor of the family: the world's own list of mentions has nothing of it."""
    wrong = []
    for row in medieval.rows:
        if not row["is_supported"]:
            below = truth.below(row[f"{row['replaced_end']}_cui"])
            if any(means(mention, below) for mention in truth.notes[row["hadm_id"]]["mentions"]):
                wrong.append(row["statement"])
    assert wrong == []


def test_a_stated_link_between_drug_and_problem_is_one_that_the_note_makes(medieval: Built, truth: Truth) -> None:
    """Of true treatments that count as stated, most are among those that the world meant to write."""
    counts: Counter[bool] = Counter()
    for row in medieval.rows:
        if row["quadrant"] != "Q1" or row["support_level"] != "stated":
            continue
        if row["predicate"] not in ("treats", "may_be_treated_by"):
            continue
        ends = (row["head_cui"], row["tail_cui"])
        drug, disorder = ends if row["predicate"] == "treats" else ends[::-1]
        note = truth.notes[row["hadm_id"]]
        cui = {mention["concept"]: mention["cui"] for mention in note["mentions"]}
        drugs, disorders = truth.same(drug), truth.below(disorder)
        counts[
            any(cui.get(link["drug"]) in drugs and cui.get(link["disorder"]) in disorders for link in note["treats"])
        ] += 1
    assert counts.total() >= 20
    assert counts[True] >= 0.8 * counts.total(), counts
