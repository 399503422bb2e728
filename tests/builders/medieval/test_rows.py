"""Every row of a built dataset keeps the contract (docs/definitions.md)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import pyarrow.parquet as pq
import pytest

from builders.medieval.facts import TAXONOMIC
from ground.contracts.rows import MEDIEVAL_SCHEMA, QUADRANTS, STATEMENT_SCHEMA
from tests.builders.medieval_world import Built, Row, Truth, data_files

SPLITS = {"train", "validation", "test"}


def pair(row: Row) -> frozenset[str]:
    return frozenset((row["head_cui"], row["tail_cui"]))


def kept_end(row: Row) -> str:
    return "tail" if row["replaced_end"] == "head" else "head"


def canonical(built: Built) -> dict[str, str]:
    """Return the canonical predicate of each inverse name."""
    lines = built.connection.execute("select inverse, predicate from kg.predicate").fetchall()
    return {inverse: predicate for inverse, predicate in lines if inverse != predicate}


def test_the_world_is_large_enough_to_tell(medieval: Built) -> None:
    assert len(medieval.rows) >= 400
    assert len({row["predicate"] for row in medieval.rows}) >= 6
    assert {row["split"] for row in medieval.rows} == SPLITS
    assert sum(row["hops"] > 1 for row in medieval.rows) > 50


def test_every_file_has_the_schema_of_the_contract(medieval: Built) -> None:
    files = data_files(medieval.folder)
    assert {file.name.split("-")[0] for file in files} == SPLITS
    for file in files:
        assert pq.read_schema(file).remove_metadata() == MEDIEVAL_SCHEMA
    assert pq.read_schema(medieval.folder / "statements.parquet").remove_metadata() == STATEMENT_SCHEMA


def test_columns_that_must_not_be_null_are_not(medieval: Built) -> None:
    nulls = {field.name: medieval.table[field.name].null_count for field in MEDIEVAL_SCHEMA}
    assert {name for name, n in nulls.items() if n} <= {
        "tier",
        "replaced_cui",
        "distance",
        "why_false",
        "fact_split",
    }
    assert all(row["statement"] and row["context"] and row["head_name"] and row["tail_name"] for row in medieval.rows)


@pytest.mark.parametrize("split", sorted(SPLITS))
def test_a_file_holds_the_rows_of_its_split_in_order(medieval: Built, split: str) -> None:
    rows = pq.read_table(medieval.folder / "data" / f"{split}-00000-of-00001.parquet").to_pylist()
    assert {row["split"] for row in rows} == {split}
    keys = [(row["subject_id"], row["group_id"], row["quadrant"]) for row in rows]
    assert keys == sorted(keys)


def test_ids_are_unique_and_a_group_has_one_row_of_each_quadrant(medieval: Built) -> None:
    assert all(row["head_cui"] != row["tail_cui"] for row in medieval.rows)
    assert max(Counter(row["id"] for row in medieval.rows).values()) == 1
    assert max(Counter((row["group_id"], row["quadrant"]) for row in medieval.rows).values()) == 1
    assert {tuple(sorted(group)) for group in medieval.groups.values()} == {QUADRANTS}


def test_the_rows_of_a_group_share_admission_predicate_split_and_kept_end(medieval: Built) -> None:
    for group in medieval.groups.values():
        rows = list(group.values())
        for column in ("subject_id", "hadm_id", "context", "predicate", "split"):
            assert len({row[column] for row in rows}) == 1, column
        replaced = {row["replaced_end"] for row in rows if row["quadrant"] != "Q1"}
        assert len(replaced) == 1
        end = kept_end(group["Q2"])
        assert len({row[f"{end}_cui"] for row in rows}) == 1
        assert len({row[f"{end}_name"] for row in rows}) == 1


def test_the_replaced_concept_is_that_of_q1_and_no_quadrant_keeps_it(medieval: Built) -> None:
    for group in medieval.groups.values():
        first = group["Q1"]
        assert (first["replaced_end"], first["replaced_cui"], first["distance"]) == ("none", None, None)
        others = [group[quadrant] for quadrant in ("Q2", "Q3", "Q4")]
        end = others[0]["replaced_end"]
        assert {row["replaced_cui"] for row in others} == {first[f"{end}_cui"]}
        assert len({row[f"{end}_cui"] for row in (first, *others)}) == 4


def test_a_quadrant_is_truth_with_tier_and_path_or_falsehood_with_a_reason_times_support(medieval: Built) -> None:
    tiers = set(medieval.workspace.settings.build.truth_tiers)
    meaning = {"Q1": (True, True), "Q2": (True, False), "Q3": (False, True), "Q4": (False, False)}
    for row in medieval.rows:
        assert (row["is_true"], row["is_supported"]) == meaning[row["quadrant"]]
        if row["is_true"]:
            assert row["tier"] in tiers
            assert row["path"]
            assert row["why_false"] is None
        else:
            assert row["tier"] is None
            assert row["path"] == []
            assert row["why_false"]
            # what its words claim: one edge, two with the addition
            assert row["hops"] == 1 + ("which is a type of" in row["statement"])


def test_one_admission_per_patient_and_one_split_per_patient(medieval: Built) -> None:
    admissions, splits = defaultdict(set), defaultdict(set)
    for row in medieval.rows:
        admissions[row["subject_id"]].add(row["hadm_id"])
        splits[row["subject_id"]].add(row["split"])
    assert {len(values) for values in admissions.values()} == {1}
    assert {len(values) for values in splits.values()} == {1}


def test_fact_split_is_disjoint_in_pairs_and_in_patients(medieval: Built) -> None:
    kept = [row for row in medieval.rows if row["fact_split"]]
    for key in (pair, lambda row: row["subject_id"]):
        splits = defaultdict(set)
        for row in kept:
            splits[key(row)].add(row["fact_split"])
        assert {len(values) for values in splits.values()} == {1}
    assert {row["fact_split"] for row in kept} == SPLITS
    assert all(row["fact_split"] == row["split"] for row in kept)


def test_fact_split_leaves_out_only_rows_whose_pair_is_in_a_later_split(medieval: Built) -> None:
    order = ["train", "validation", "test"]
    last: dict[frozenset[str], int] = defaultdict(int)
    for row in medieval.rows:
        last[pair(row)] = max(last[pair(row)], order.index(row["split"]))
    for row in medieval.rows:
        assert (row["fact_split"] is None) == (order.index(row["split"]) < last[pair(row)])


def test_no_statement_is_made_twice_of_one_admission(medieval: Built) -> None:
    for columns in (("head_cui", "predicate", "tail_cui"), ("statement",)):
        keys = Counter((row["hadm_id"], *(row[column] for column in columns)) for row in medieval.rows)
        assert max(keys.values()) == 1


def test_the_quadrants_are_balanced_for_every_predicate(medieval: Built) -> None:
    counts = Counter((row["predicate"], row["quadrant"]) for row in medieval.rows)
    for predicate in {row["predicate"] for row in medieval.rows}:
        assert len({counts[predicate, quadrant] for quadrant in QUADRANTS}) == 1


def test_the_limits_of_the_settings_hold(medieval: Built) -> None:
    settings = medieval.workspace.settings.build
    first = [row for row in medieval.rows if row["quadrant"] == "Q1"]
    groups = len(first)
    assert max(Counter(row["hadm_id"] for row in first).values()) <= settings.max_groups_per_admission
    assert max(Counter(row["predicate"] for row in first).values()) <= math.ceil(settings.max_predicate_share * groups)
    assert max(Counter(map(pair, first)).values()) <= math.ceil(settings.max_pair_share * groups)


def test_no_pair_is_above_its_share_in_any_quadrant(medieval: Built) -> None:
    share = medieval.workspace.settings.build.max_pair_share
    for quadrant in QUADRANTS:
        counts = Counter((r["head_cui"], r["tail_cui"]) for r in medieval.rows if r["quadrant"] == quadrant)
        assert max(counts.values()) <= share * counts.total(), quadrant


def test_the_replaced_end_varies(medieval: Built) -> None:
    counts = Counter(row["replaced_end"] for row in medieval.rows if row["quadrant"] == "Q4")
    assert set(counts) == {"head", "tail"}
    assert min(counts.values()) >= 0.2 * counts.total()


def test_a_path_leads_from_head_to_tail_and_hops_counts_its_edges(medieval: Built) -> None:
    for row in medieval.rows:
        if not row["is_true"]:
            continue
        path = row["path"]
        assert row["hops"] == len(path)
        at = path[0]["head_cui"]
        assert at == row["head_cui"]
        visited = [at]
        for edge in path:
            if edge["head_cui"] != at:
                # The last edge may describe a kept head instead: "..., which is a type of ...".
                assert edge is path[-1]
                assert at == row["tail_cui"]
                assert edge["head_cui"] == row["head_cui"]
                assert "which is a type of" in row["statement"]
                break
            at = edge["tail_cui"]
            visited.append(at)
        assert row["tail_cui"] in visited
        assert len(set(visited)) == len(visited)
        assert at == row["tail_cui"] or "which is a type of" in row["statement"]


def test_every_edge_of_a_path_is_in_the_graph_with_its_evidence(medieval: Built) -> None:
    inverse = canonical(medieval)
    edges = {
        (edge["head_cui"], edge["predicate"], edge["tail_cui"], edge["rela"] or "", edge["sab"], edge["rui"] or "")
        for row in medieval.rows
        for edge in row["path"]
    }
    stored = set(
        medieval.connection.execute(
            "select head_cui, predicate, tail_cui, coalesce(rela, ''), sab, coalesce(rui, '') from kg.edge"
        ).fetchall()
    )
    for head, predicate, tail, *evidence in edges:
        forward = (head, predicate, tail, *evidence)
        backward = (tail, inverse.get(predicate, predicate), head, *evidence)
        assert forward in stored or backward in stored, (forward, backward)


def test_a_stated_tier_is_one_edge_of_the_predicate_itself(medieval: Built) -> None:
    inverse = canonical(medieval)
    for row in medieval.rows:
        if row["tier"] == "stated" and "which is a type of" not in row["statement"]:
            assert len(row["path"]) == 1
            edge = row["path"][0]
            if row["predicate"] not in ("classified_as", "has_pharmacologic_class"):
                assert inverse.get(edge["predicate"], edge["predicate"]) == inverse.get(
                    row["predicate"], row["predicate"]
                )


def test_spans_are_the_text_of_the_note_and_stand_in_the_context(medieval: Built) -> None:
    notes = dict(medieval.connection.execute("select hadm_id, text from mimiciv_note.discharge").fetchall())
    for row in medieval.rows:
        for span in row["support_spans"]:
            assert span["begin_offset"] < span["end_offset"]
            assert notes[row["hadm_id"]][span["begin_offset"] : span["end_offset"]] == span["text"]
            assert span["text"] in row["context"]


def test_spans_stand_for_the_ends_that_the_note_has(medieval: Built) -> None:
    for row in medieval.rows:
        roles = [span["role"] for span in row["support_spans"]]
        assert sorted(roles) == (["head", "tail"] if row["is_supported"] else [kept_end(row)])
        for span in row["support_spans"]:
            assert span["cui"] == row[f"{span['role']}_cui"]


def test_every_span_is_a_present_mention_in_a_section_of_the_context(medieval: Built) -> None:
    stored = set(
        medieval.connection.execute(
            "select hadm_id, begin_offset, end_offset, section from ground.mention "
            "where assertion in ('present', 'given')"
        ).fetchall()
    )
    for row in medieval.rows:
        for span in row["support_spans"]:
            assert (row["hadm_id"], span["begin_offset"], span["end_offset"], span["section"]) in stored


def test_support_level_says_whether_the_note_is_silent(medieval: Built) -> None:
    for row in medieval.rows:
        assert row["support_level"] in ({"stated", "co_mentioned"} if row["is_supported"] else {"silent"})
    assert {row["support_level"] for row in medieval.rows} == {"stated", "co_mentioned", "silent"}
    kinds = {row["support_level"] for row in medieval.rows if row["predicate"] in TAXONOMIC and row["is_supported"]}
    assert kinds == {"co_mentioned"}


def test_the_replaced_end_of_an_unsupported_statement_is_neither_named_in_the_note_nor_coded(medieval: Built) -> None:
    """No mention, of whatever assertion, has a name of it, in the whole note."""
    connection = medieval.connection
    mentioned = defaultdict(set)
    for table in ("ground.mention", "ground.unclear_mention"):
        for hadm_id, text in connection.execute(f"select hadm_id, text from {table}").fetchall():
            mentioned[hadm_id].add(" ".join(text.lower().split()))
    names = defaultdict(set)
    for cui, name in connection.execute("select cui, lower(name) from kg.name").fetchall():
        names[cui].add(name)
    coded = set(connection.execute("select hadm_id, cui from ground.admission_concept").fetchall())
    for row in medieval.rows:
        if not row["is_supported"]:
            cui = row[f"{row['replaced_end']}_cui"]
            assert names[cui]
            assert not names[cui] & mentioned[row["hadm_id"]]
            assert (row["hadm_id"], cui) not in coded


def test_no_class_of_a_drug_that_is_called_unsupported_is_named_in_the_note(medieval: Built, truth: Truth) -> None:
    """A note that says "antibiotics" leaves ciprofloxacin unclear, and its brands, which are in no class themselves."""
    mentioned = defaultdict(set)
    for table in ("ground.mention", "ground.unclear_mention"):
        for hadm_id, cui in medieval.connection.execute(f"select hadm_id, unnest(cuis) from {table}").fetchall():
            mentioned[hadm_id].add(cui)
    drugs = {
        cui
        for (cui,) in medieval.connection.execute(
            "select cui from kg.concept where list_contains(groups, 'CHEM')"
        ).fetchall()
    }
    with_class = 0
    for row in medieval.rows:
        cui = row.get(f"{row['replaced_end']}_cui")
        if row["is_supported"] or cui is None or cui not in drugs:
            continue
        classes = {above for form in truth.same(cui) for above in truth.up[form]}
        classes |= {further for above in classes for further in truth.up[above]}
        with_class += bool(classes)
        assert not classes & mentioned[row["hadm_id"]]
    assert with_class > 20


def test_a_distractor_of_q4_is_distant_and_a_relative_of_q2_is_not(medieval: Built) -> None:
    least = medieval.workspace.settings.build.min_distractor_distance
    far = [row["distance"] for row in medieval.rows if row["quadrant"] == "Q4"]
    near = [row["distance"] for row in medieval.rows if row["quadrant"] == "Q2"]
    assert all(distance is None or distance >= least for distance in far)
    assert sum(distance is not None and distance <= 3 for distance in near) > 0.5 * len(near)


def test_q2_and_q1_replace_within_a_semantic_group(medieval: Built) -> None:
    lines = medieval.connection.execute("select cui, groups from kg.concept").fetchall()
    groups = {cui: set(found) for cui, found in lines}
    for row in medieval.rows:
        if row["quadrant"] == "Q2":
            assert groups[row["replaced_cui"]] & groups[row[f"{row['replaced_end']}_cui"]]


def test_a_statement_names_both_ends_by_names_of_the_release(medieval: Built) -> None:
    names = set(medieval.connection.execute("select cui, lower(name) from kg.name").fetchall())
    names |= set(medieval.connection.execute("select cui, lower(name) from kg.concept").fetchall())
    for row in medieval.rows:
        for end in ("head", "tail"):
            assert (row[f"{end}_cui"], row[f"{end}_name"].lower()) in names
            assert row[f"{end}_name"].lower() in row["statement"].lower()
        assert row["statement"][0] == row["statement"][0].upper()
        assert row["statement"].endswith(".")
        assert row["statement"].count(".") - row["head_name"].count(".") - row["tail_name"].count(".") == 1


def test_long_wordings_occur_in_all_quadrants_of_a_group_or_in_none(medieval: Built) -> None:
    extended = 0
    for group in medieval.groups.values():
        found = {"which is a type of" in row["statement"] for row in group.values()}
        assert len(found) == 1
        extended += found.pop()
    assert 0 < extended < len(medieval.groups)


def test_the_context_is_the_chosen_sections_of_the_note(medieval: Built) -> None:
    notes = dict(medieval.connection.execute("select hadm_id, text from mimiciv_note.discharge").fetchall())
    for hadm_id, context in {row["hadm_id"]: row["context"] for row in medieval.rows}.items():
        note = notes[hadm_id]
        assert 0 < len(context) < len(note)
        assert "Discharge Instructions:" not in context
        assert "Family History:" not in context
        assert "Brief Hospital Course:" in context
        lines = {line.rstrip() for line in note.splitlines()}
        assert all(line.rstrip() in lines for line in context.splitlines())


def test_no_row_shows_the_name_of_the_patient_or_the_quadrant_in_its_statement(medieval: Built) -> None:
    for row in medieval.rows:
        assert str(row["subject_id"]) not in row["statement"]
        assert str(row["hadm_id"]) not in row["statement"]


def test_statements_are_counted_once_each(medieval: Built) -> None:
    lines = pq.read_table(medieval.folder / "statements.parquet").to_pylist()
    key = ("statement", "predicate", "head_cui", "tail_cui", "is_true")
    found = {tuple(line[name] for name in key): line["n_samples"] for line in lines}
    assert len(found) == len(lines)
    assert found == Counter(tuple(row[name] for name in key) for row in medieval.rows)


def test_a_statement_is_not_true_here_and_false_there(medieval: Built) -> None:
    truths = defaultdict(set)
    for row in medieval.rows:
        truths[row["head_cui"], row["predicate"], row["tail_cui"]].add(row["is_true"])
    assert {len(values) for values in truths.values()} == {1}


def test_the_report_counts_what_is_in_the_files(medieval: Built) -> None:
    report, rows = medieval.report, medieval.rows
    assert report.rows == len(rows)
    assert report.groups == len(medieval.groups)
    assert report.admissions == len({row["hadm_id"] for row in rows})
    assert report.statements == len({row["statement"] for row in rows})
    assert report.by_quadrant == Counter(row["quadrant"] for row in rows)
    assert report.by_split == Counter(row["split"] for row in rows)
    assert report.multi_hop == sum(row["hops"] > 1 for row in rows)
    assert sum(sum(counts.values()) for counts in report.by_predicate.values()) == len(rows)
