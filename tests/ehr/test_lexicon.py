"""Names of a small release become a lexicon: kinds, order of candidates, what is left out, misspellings."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from ehr.lexicon import Lexicon, build_lexicon
from ehr.misspellings import ENGLISH_WORDS, Speller
from ehr.reading import ReadMention, TextReader, UnclearMention
from ehr.spans import KINDS, Assertion
from ground.storage.tables import read_table
from ground.storage.warehouse import connect

CONCEPTS = [
    ("C1", "Hypertensive disease", ["T047"]),
    ("C2", "Pneumonia", ["T047"]),
    ("C3", "Warfarin", ["T109", "T121"]),
    ("C4", "Coumadin", ["T121"]),
    ("C5", "Sodium", ["T196"]),
    ("C6", "Escherichia coli", ["T007"]),
    ("C7", "Aortic valve stenosis", ["T047"]),
    ("C8", "Chronic obstructive airway disease", ["T047"]),
    ("C9", "Metoprolol", ["T121"]),
    ("C10", "Pneumonia of twins", ["T047"]),
    ("C11", "Hepatic encephalopathy", ["T047"]),
    ("C12", "Sulfamethoxazole", ["T121"]),
    ("C15", "Urinalysis", ["T060"]),
]
NAMES = [
    ("C1", "Hypertension", "MSH", "MH", False, 5),
    ("C1", "Hypertensive disease", "MTH", "PN", True, 9),
    ("C2", "Pneumonia", "MSH", "MH", True, 5),
    ("C10", "Pneumonia", "DO", "SY", False, 1),
    ("C3", "warfarin", "RXNORM", "IN", True, 5),
    ("C3", "warfarin 5 MG Oral Tablet", "RXNORM", "SCD", False, 5),
    ("C4", "Coumadin", "RXNORM", "BN", True, 5),
    ("C5", "sodium", "RXNORM", "IN", True, 5),
    ("C6", "Escherichia coli", "MSH", "MH", True, 5),
    ("C7", "Stenosis, Aortic Valve", "MSH", "PM", True, 5),
    ("C8", "Chronic obstructive pulmonary disease (disorder)", "SNOMEDCT_US", "FN", True, 5),
    ("C8", "Other disease of lung, unspecified", "ICD9CM", "PT", False, 5),
    ("C9", "metoprolol", "RXNORM", "IN", True, 5),
    ("C11", "Hepatic encephalopathy", "MSH", "MH", True, 5),
    ("C12", "sulfamethoxazole", "RXNORM", "IN", True, 5),
    ("C15", "Urinalysis", "MSH", "MH", True, 5),
]


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "create table kg.name (cui varchar, name varchar, normalized varchar, sab varchar, tty varchar,"
        " code varchar, is_preferred boolean, rank integer)"
    )
    connection.execute("create table kg.concept (cui varchar, name varchar, groups varchar[], types varchar[])")
    connection.execute("create table kg.edge (head_cui varchar, predicate varchar, tail_cui varchar)")
    connection.executemany("insert into kg.concept values (?, ?, [], ?)", CONCEPTS)
    connection.executemany(
        "insert into kg.name select ?, $2, trim(regexp_replace(lower($2), '[^a-z0-9]+', ' ', 'g')), ?, ?, '', ?, ?",
        NAMES,
    )


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    with connect(tmp_path_factory.mktemp("names") / "warehouse.duckdb") as connection:
        fill(connection)
        return build_lexicon(connection)


def mentions(lexicon: Lexicon, text: str, *, fuzzy: bool = False) -> list[ReadMention]:
    speller = lexicon.speller if fuzzy else None
    read = TextReader(lexicon, speller).read(text)
    for begin, end in [(one.begin, one.end) for one in read.mentions] + [(one.begin, one.end) for one in read.unclear]:
        assert 0 <= begin < end <= len(text)
    return list(read.mentions)


def with_unclear(lexicon: Lexicon, text: str) -> list[UnclearMention]:
    """Return all mentions; those that are not unclear have no reason."""
    read = TextReader(lexicon).read(text)
    clear = [UnclearMention(one.begin, one.end, one.cuis, one.kind, one.section, "") for one in read.mentions]
    return sorted([*clear, *read.unclear], key=lambda one: one.begin)


@pytest.mark.parametrize(
    ("text", "cui", "kind"),
    [
        ("has hypertension now", "C1", "disorder"),
        ("HTN", "C1", "disorder"),
        ("takes warfarin", "C3", "drug"),
        ("takes Coumadin", "C4", "drug"),
        ("aortic valve stenosis", "C7", "disorder"),
        ("severe AS", "C7", "disorder"),
        ("chronic obstructive pulmonary disease", "C8", "disorder"),
        ("COPD", "C8", "disorder"),
    ],
)
def test_a_name_an_abbreviation_and_a_variant_lead_to_the_concept(
    lexicon: Lexicon, text: str, cui: str, kind: str
) -> None:
    (found,) = mentions(lexicon, text)
    assert (found.cuis[0], found.kind) == (cui, kind)


def test_candidates_of_a_shared_name_are_kept_best_first(lexicon: Lexicon) -> None:
    (found,) = mentions(lexicon, "treated for pneumonia")
    assert found.cuis == ("C2", "C10")


@pytest.mark.parametrize("text", ["sodium 140", "grew escherichia coli", "Other disease of lung", "5 MG oral tablet"])
def test_laboratory_names_organisms_and_residual_classes_are_no_mentions(lexicon: Lexicon, text: str) -> None:
    assert mentions(lexicon, text) == []


@pytest.mark.parametrize(
    ("text", "drugs"),
    [
        ("sensitive to warfarin and metoprolol, resistant to Coumadin", []),
        ("R to warfarin, S to metoprolol. Coumadin was begun.", ["Coumadin"]),
        ("warfarin----- <=1 S\nmetoprolol R, Coumadin I think", ["Coumadin"]),
        ("sensitive to warfarin, started metoprolol", ["metoprolol"]),
    ],
)
def test_a_drug_that_a_culture_was_tested_against_is_not_given(lexicon: Lexicon, text: str, drugs: list[str]) -> None:
    read = mentions(lexicon, text)
    assert [found.text for found in read if found.assertion is not Assertion.HYPOTHETICAL] == drugs


def test_a_misspelling_is_repaired_only_where_asked(lexicon: Lexicon) -> None:
    text = "started metoprolal and sulfamethoxazale, hypertenison"
    assert mentions(lexicon, text) == []
    assert [found.cuis for found in mentions(lexicon, "started metopralol", fuzzy=True)] == [("C9",)]


def test_a_defined_abbreviation_takes_the_concept_of_its_long_form(lexicon: Lexicon) -> None:
    text = "Hepatic encephalopathy (HE). Later HE again."
    assert [(text[m.begin : m.end], m.cuis) for m in mentions(lexicon, text)] == [
        ("Hepatic encephalopathy", ("C11",)),
        ("HE", ("C11",)),
        ("HE", ("C11",)),
    ]


def test_an_abbreviation_that_is_defined_over_and_over_is_what_it_is_when_defined_once(lexicon: Lexicon) -> None:
    text = "Hepatic encephalopathy (HE). Aortic stenosis (AS). "
    once, often = mentions(lexicon, text), mentions(lexicon, text * 50)
    assert [(one.cuis, one.kind) for one in often] == [(one.cuis, one.kind) for one in once] * 50


def test_headers_are_no_mentions_and_signs_of_the_examination_are_unclear(lexicon: Lexicon) -> None:
    text = "Allergies:\nwarfarin\n \nPhysical Exam:\nno wheezing, COPD\n"
    found = with_unclear(lexicon, text)
    assert [(text[m.begin : m.end], m.section, m.reason) for m in found] == [
        ("warfarin", "allergies", ""),
        ("wheezing", "physical_exam", "examination_sign"),
        ("COPD", "physical_exam", ""),
    ]


def test_routine_tests_are_unclear_wherever_they_stand(lexicon: Lexicon) -> None:
    """They say little of an admission, but it cannot be said that its note is silent on them."""
    text = "Brief Hospital Course:\nUrinalysis was clean, blood cultures grew nothing, no hypertension.\n"
    found = with_unclear(lexicon, text)
    assert [(text[m.begin : m.end], m.kind, m.cuis, m.reason) for m in found] == [
        ("Urinalysis", "procedure", ("C15",), "routine_test"),
        ("blood cultures", "procedure", (), "routine_test"),
        ("hypertension", "disorder", ("C1",), ""),
    ]


def test_a_saved_lexicon_finds_the_same(lexicon: Lexicon, tmp_path: Path) -> None:
    text = "COPD, HTN, MR on TTE, severe AS, warfarin and pneumonia, afebrile"
    lexicon.save(tmp_path / "lexicon")
    assert mentions(Lexicon.load(tmp_path / "lexicon"), text) == mentions(lexicon, text)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("metopralol", "metoprolol"),
        ("metoprolo", "metoprolol"),
        ("metoprolol", None),
        ("xetoprolol", None),
        ("short", None),
    ],
)
def test_the_speller_keeps_the_first_letter(word: str, expected: str | None) -> None:
    assert Speller.of(["metoprolol", "warfarin"]).repair(word) == expected


def test_the_speller_does_not_take_a_word_without_end_apart() -> None:
    # One letter left out of each of a million words of a million letters would take hours.
    assert Speller.of(["metoprolol"]).repair("metopro" + "l" * 1_000_000 + "ol") is None


def test_the_speller_repairs_nothing_with_two_answers() -> None:
    assert Speller.of(["abcdefgh", "abcxefgh"]).repair("abcyefgh") is None


@pytest.mark.parametrize(
    ("finding", "assertable"), [(None, False), (("C14", "Depressed mood", ["T184"]), True)], ids=["absent", "known"]
)
def test_a_symptom_names_its_finding_and_never_the_disorder_that_it_may_be_a_sign_of(
    warehouse: duckdb.DuckDBPyConnection, finding: tuple[str, str, list[str]] | None, assertable: bool
) -> None:
    fill(warehouse)
    for cui, name, types in [("C13", "Depressive disorder", ["T048"]), *([finding] if finding else [])]:
        warehouse.execute("insert into kg.concept values (?, ?, [], ?)", [cui, name, types])
        warehouse.execute("insert into kg.name values (?, $2, lower($2), 'MSH', 'MH', '', true, 5)", [cui, name])
    text = "reports low mood. Depression. LVEF depressed."
    low, disorder = with_unclear(build_lexicon(warehouse), text)
    assert (disorder.cuis, disorder.reason) == (("C13",), "")
    if assertable:
        assert (low.cuis, low.kind, low.reason) == (("C14",), "finding", "")
    else:
        assert (low.cuis, low.reason) == (("C13",), "ambiguous")


def add_name(
    connection: duckdb.DuckDBPyConnection, name: str, types: list[str], sab: str, tty: str, cui: str = "C90"
) -> None:
    connection.execute("insert into kg.concept values ($1, $2, [], $3)", [cui, name, types])
    connection.execute(
        "insert into kg.name values ($1, $2, lower($2), $3, $4, '', true, 5)",
        [cui, name, sab, tty],
    )


@pytest.mark.parametrize(
    ("name", "type_", "text"), [("Alteplase", "T121", "vasopressin"), ("ST segment depression", "T033", "ST elevation")]
)
def test_a_word_is_not_read_as_another_thing_where_the_release_lacks_it(
    warehouse: duckdb.DuckDBPyConnection, name: str, type_: str, text: str
) -> None:
    fill(warehouse)
    add_name(warehouse, name, [type_], "MSH", "MH")
    lexicon = build_lexicon(warehouse)
    assert [one.cuis for one in mentions(lexicon, f"on {name}")] == [("C90",)]
    assert all("C90" not in one.cuis for one in with_unclear(lexicon, f"on {text}"))


def test_an_ordinary_word_is_read_and_not_asserted(warehouse: duckdb.DuckDBPyConnection) -> None:
    names = [
        ("Oriented", ["T033"], "SNOMEDCT_US", "PT", "ordinary_word"),
        ("Ambulatory", ["T033"], "SNOMEDCT_US", "PT", "ordinary_word"),
        ("Student", ["T033"], "NCI", "PT", "ordinary_word"),
        ("Placement", ["T061"], "NCI", "PT", "ordinary_word"),
        ("Align", ["T121"], "RXNORM", "BN", "ordinary_word"),
        ("Partner", ["T121"], "RXNORM", "IN", "ordinary_word"),
        ("Not seen", ["T033"], "LNC", "LA", "ordinary_word"),
        # what a word is a name of tells how common it may be
        ("Retired", ["T033", "T047"], "SNOMEDCT_US", "PT", ""),
        ("Panic", ["T048"], "NCI", "PT", ""),
        ("Tumor", ["T191"], "NCI", "PT", ""),
        ("Toxicity", ["T033"], "NCI", "PT", ""),
        ("Thirst", ["T033"], "NCI", "PT", ""),
        ("Snoring", ["T033"], "NCI", "PT", ""),
        ("Azotemia", ["T033"], "NCI", "PT", ""),
        ("Morphine", ["T121"], "RXNORM", "IN", ""),
        ("Tylenol", ["T121"], "RXNORM", "BN", ""),
        # a word of the project's own tables means what these say
        ("Pain", ["T033"], "NCI", "PT", ""),
        # a short name in capitals is no word
        ("AIDS", ["T047"], "NCI", "PT", ""),
        # a name of several words says more than its words
        ("Cold feet", ["T033"], "NCI", "PT", ""),
    ]
    fill(warehouse)
    for number, (name, types, sab, tty, _) in enumerate(names):
        add_name(warehouse, name, types, sab, tty, f"C9{number}")
    text = "History of Present Illness:\n" + "".join(f"On the ward {name[0]} was written.\n" for name in names)
    found = with_unclear(build_lexicon(warehouse), text)
    assert [(text[one.begin : one.end], one.cuis, one.reason) for one in found if one.reason != "inside_name"] == [
        (name, (f"C9{number}",), reason) for number, (name, *_, reason) in enumerate(names)
    ]


def test_an_ordinary_word_hides_nothing_that_is_said_of_a_mention(warehouse: duckdb.DuckDBPyConnection) -> None:
    """As a mention of its own it would take the word from the assertion rules: "pneumonia not seen" would be held."""
    fill(warehouse)
    text = "Brief Hospital Course:\nPneumonia not seen on the film.\n"
    before = TextReader(build_lexicon(warehouse)).read(text)
    add_name(warehouse, "Not seen", ["T033"], "LNC", "LA")
    after = TextReader(build_lexicon(warehouse)).read(text)
    assert [(one.cuis[0], one.assertion) for one in after.mentions] == [("C2", Assertion.ABSENT)]
    assert (after.mentions, len(before.unclear), len(after.unclear)) == (before.mentions, 0, 1)


def test_an_abbreviation_of_an_ordinary_word_is_no_more_than_the_word(warehouse: duckdb.DuckDBPyConnection) -> None:
    fill(warehouse)
    add_name(warehouse, "Placement", ["T061"], "NCI", "PT")
    text = "Brief Hospital Course:\nPlacement (PLMT) was sought. PLMT pending.\n"
    found = with_unclear(build_lexicon(warehouse), text)
    assert [(text[one.begin : one.end], one.reason) for one in found] == [
        ("Placement", "ordinary_word"),
        ("PLMT", "ordinary_word"),
        ("PLMT", "ordinary_word"),
    ]


def test_limits_lie_within_the_table_of_english_words_and_cover_every_kind() -> None:
    """A limit below the least frequency of the table would hold for some words only, by chance."""
    words = read_table(ENGLISH_WORDS, ("word", "use", "zipf", "source"))
    least = {use: min(float(row["zipf"]) for row in words if row["use"] == use) for use in ("noun", "other")}
    assert [row["word"] for row in words] == sorted({row["word"] for row in words})
    limits = read_table(ENGLISH_WORDS.with_name("ordinary_limits.tsv"), ("kind", "noun", "other", "source"))
    assert {row["kind"] for row in limits} == {*KINDS, "sign", "brand"}
    for row in limits:
        assert all(float(row[use]) >= least[use] - 0.005 for use in least)
