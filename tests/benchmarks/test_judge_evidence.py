"""What is exchanged in a note to measure the judge's evidence: one place, and another word."""

from __future__ import annotations

from difflib import SequenceMatcher

from benchmarks.judge_evidence import EXCHANGES, exchanged

NOTE = (
    "A 62-year-old man with hypertension denies fever and reports pain of the left knee for 3 weeks. "
    "BP 132/80, A1c 8.2, O2 98%. Platelets 108. Father had gout. "
    "Continue metoprolol 25 mg twice daily and aspirin daily. Allergy: penicillin.\n"
)


def test_each_sort_of_error_is_one_exchange() -> None:
    found = dict(exchanged("one", NOTE))
    assert found.keys() == EXCHANGES.keys()
    for sort, note in found.items():
        parts = SequenceMatcher(None, NOTE.split(" "), note.split(" "), autojunk=False).get_opcodes()
        assert sum(kind != "equal" for kind, *_ in parts) == 1, sort


def test_a_note_without_such_words_has_no_error_of_the_sort() -> None:
    assert not dict(exchanged("one", "She feels well."))
