"""The table of English words is what its command makes of two packages."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks.english_words import HEAD, first_tags, main, word_table, zipf
from ehr.misspellings import ENGLISH_WORDS
from ground.errors import InputError


def test_spellings_that_differ_in_capitals_are_counted_together() -> None:
    found = zipf({"pain": math.log(2e-5), "Pain": math.log(1e-5), "rare": math.log(1e-9)})
    assert found == {"pain": pytest.approx(math.log10(3e4)), "rare": pytest.approx(0)}


def test_words_are_kept_by_their_first_tag_and_frequency() -> None:
    tags = first_tags(
        ";;; head\n\nJohn NNP\naid NN VB\noriented VBN JJ\nof IN\nrare NN\nguarding VBG\nxanax NNP\nwell-off JJ\n"
    )
    uses = {
        "aid": 3.004,
        "oriented": 1.9,
        "of": 7.0,
        "rare": 2.99,
        "guarding": 3.28,
        "xanax": 3.3,
        "well-off": 4.0,
        "untagged": 5.0,
    }
    assert word_table(uses, tags) == HEAD + (
        "word\tuse\tzipf\tsource\naid\tnoun\t3.00\tbrill,spacy\n"
        "guarding\tnoun\t3.28\tbrill,spacy\noriented\tother\t1.90\tbrill,spacy\n"
    )


def test_the_table_says_where_it_comes_from() -> None:
    assert ENGLISH_WORDS.read_text(encoding="utf-8").startswith(HEAD + "word\tuse\tzipf\tsource\n")


def test_a_wheel_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"spacy_lookups_data-\*.whl"):
        main(tmp_path)
