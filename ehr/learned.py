"""How likely a mention's assertion is right, as learned from notes with gold (``benchmarks/learn_certainty.py``).

A logistic regression over hashed features: what the rules say of the mention, its text, the layout of its line, the
words around it, and what the note says of its concept elsewhere. Weights and sums are whole numbers, so that every
machine says the same. The rules say which assertion it is; this says where they are not to be trusted, what speaks
against them, and which assertion is the likeliest there.
"""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehr.certainty import ASSERTIONS
from ehr.characters import CodeArray, IndexArray, codes_of, cut_out, hash_of, kinds_of_characters
from ehr.learned_scan import (
    AFTER,
    AMONG,
    BEFORE,
    BESIDE,
    COLUMNS,
    ELSEWHERE,
    FINDINGS,
    HEADER,
    LAYOUT,
    LINE,
    NAMED,
    OWN_TEXT,
    SLOTS,
    TABLE,
    Inputs,
    Model,
    scores_of,
)
from ehr.lexicon import Lexicon
from ehr.mentions import Mentions, Texts
from ehr.spans import KINDS
from ground import ROOT
from ground.compiled import read_only
from ground.errors import InputError

__all__ = ["GROUPS", "MODEL", "inputs_of", "load_model", "spoken_against"]

MODEL = ROOT / "ehr" / "data" / "certainty.npz"
GROUPS = ("present", "absent", "other")
"""Assertions that are scored by weights of their own; all others together have the last ones."""
_OTHER = GROUPS.index("other")
_GROUP = np.array([GROUPS.index(each) if each in GROUPS else _OTHER for each in ASSERTIONS], dtype=np.int64)
# What features are about, by the first slot of each group; {} is the word of the text, and {own} the mention.
_IN_WORDS = {
    FINDINGS: "its section",
    OWN_TEXT: '"{own}" itself',
    OWN_TEXT + 4: "its form",
    LAYOUT: "the layout of its line",
    LINE + 1: '"{}" at the beginning of its line',
    HEADER: '"{}" in the heading',
    BESIDE: '"{own}" itself',
    BESIDE + 2: '"{}" before',
    BESIDE + 5: '"{}" after',
    ELSEWHERE: "the rest of the note",
    ELSEWHERE + 2: "its name",
    ELSEWHERE + 3: "its concept",
    AMONG: "what stands beside it",
    AMONG + 3: '"{}" before',
    BEFORE: '"{}" before',
    AFTER: '"{}" after',
}
_BY_SLOT = [_IN_WORDS[max(first for first in _IN_WORDS if first <= slot)] for slot in range(SLOTS)]
_IS_OWN = np.array(["{own}" in phrase for phrase in _BY_SLOT] + [False], dtype=np.bool_)
# What stands before the words that are named and after them, by slot and last where there is nothing to name: of the
# first that is named, and of the others.
_CUT = [phrase.replace("{own}", "{}").partition("{}") for phrase in _BY_SLOT]
_PHRASES = [
    part
    for lead, nothing in [("learned: ", "learned: little speaks for it"), *[(", ", "")] * (NAMED - 1)]
    for around in [*((lead + before, after) for before, _, after in _CUT), (nothing, "")]
    for part in around
]
_SIZES = np.array([len(phrase) for phrase in _PHRASES])
_PLACES = np.stack((np.cumsum(_SIZES) - _SIZES, np.cumsum(_SIZES)), axis=1).reshape(NAMED, SLOTS + 1, 2, 2)


@cache
def load_model(path: Path = MODEL) -> Model:
    """Return what was learned.

    Raises:
        InputError: the file is damaged, or was learned from other features.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            weights, least, choice, slots = (file[name] for name in ("weights", "least", "choice", "slots"))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError("the learned certainty cannot be read", file=path, found=str(error)) from error
    form = [(array.dtype, array.shape) for array in (weights, least, choice)]
    expected = [
        (np.dtype(np.int16), (len(GROUPS), TABLE)),
        (np.dtype(np.int64), (len(GROUPS), len(KINDS))),
        (np.dtype(np.int8), (TABLE, len(ASSERTIONS) + 1)),
    ]
    if (form, slots.tolist()) != (expected, SLOTS):
        raise InputError("the learned certainty has another form", file=path, found=str(form), expected=str(expected))
    return Model(read_only(weights), read_only(least), read_only(choice))


def _elsewhere(named: IndexArray, assertion: IndexArray) -> IndexArray:
    """Return what is asserted of the other mentions of each concept in its text, as bits; 0: there are none."""
    own, bits = 1 << assertion, np.zeros_like(named)
    np.bitwise_or.at(bits, named, own)
    said = named * len(ASSERTIONS) + assertion
    return bits[named] & ~np.where(np.bincount(said)[said] > 1, 0, own)


def inputs_of(
    texts: Texts, mentions: Mentions, lexicon: Lexicon, named: IndexArray, assertion: IndexArray, reasons: IndexArray
) -> Inputs:
    """Return what the scan reads of mentions.

    Args:
        texts: in which they stand.
        mentions: in order.
        lexicon: of their entries.
        named: what each names in its text (``ehr.certainty.named_in``).
        assertion: of each by the rules, as its place in ``ASSERTIONS``.
        reasons: of the rules to doubt it, as bits of ``UNSURE``.
    """
    entry, sections, segments = mentions.entry, texts.sections, texts.segments
    candidates = np.minimum(lexicon.candidates[entry], 3)
    known = {
        "begin": mentions.begin,
        "end": mentions.end,
        "group": _GROUP[assertion],
        "kind": lexicon.kind[entry],
        "section": mentions.section,
        "reasons": reasons,
        "elsewhere": _elsewhere(named, assertion),
        # How many candidates the name has, whether the context chose its sense, whether it denies by itself.
        "name": candidates << 2 | (entry >= lexicon.term.size) << 1 | lexicon.denied[entry],
        "assertion": assertion,
        "concept": lexicon.best[entry],
    }
    names = np.array([hash_of(name) for name in sections.names], dtype=np.uint64)
    return Inputs(
        texts.codes,
        kinds_of_characters(),
        np.array([known[name] for name in COLUMNS], dtype=np.int64).T.copy(),
        names[sections.name],
        np.array((sections.begin, texts.body), dtype=np.int64).T.copy(),
        np.array((segments.kind, segments.begin, segments.end), dtype=np.int64).T.copy(),
    )


def spoken_against(
    texts: Texts, inputs: Inputs, model: Model, asked: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], IndexArray, pa.StringArray]:
    """Return which of the mentions that it is asked about the model calls unsure, what each mention likeliest asserts,
    and in words what speaks most against each unsure one."""
    sums, likeliest, against = scores_of(inputs, model)
    spans, group, kind = inputs.mentions[:, :2], inputs.mentions[:, 2], inputs.mentions[:, 3]
    unsure = asked & (sums < model.least[group, kind])
    likeliest = np.where(asked, likeliest, inputs.mentions[:, COLUMNS.index("assertion")])
    return unsure, likeliest, _in_words(texts.codes, against[unsure], spans[unsure])


def _in_words(codes: CodeArray, against: IndexArray, spans: IndexArray) -> pa.StringArray:
    """Return in words what speaks against each mention: stretches of phrases and of the text, one after another."""
    slot, words = against[:, :, 0], against[:, :, 1:]
    stretches = np.empty((*slot.shape, 3, 2), dtype=np.int64)
    stretches[:, :, ::2] = codes.size + _PLACES[np.arange(NAMED), slot]
    stretches[:, :, 1] = np.where(_IS_OWN[slot][:, :, np.newaxis], spans[:, np.newaxis], words)
    stretches = stretches.reshape(-1, 3 * NAMED, 2)
    in_one_line = np.where(codes < ord(" "), np.uint32(ord(" ")), codes)
    all_codes = np.concatenate((in_one_line, codes_of("".join(_PHRASES))))
    return cut_out(all_codes, stretches[:, :, 0], stretches[:, :, 1])
