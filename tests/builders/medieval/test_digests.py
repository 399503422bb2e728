"""Hashes of many texts at once are those of the stable hash, wherever a block of MD5 ends."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from builders.medieval.digests import Texts, hashes_of, units_of
from ground.stable import hash_of_joined, unit_of


def test_hashes_are_the_stable_hashes_of_keys_and_endings() -> None:
    keys = ["k" * length for length in (0, 1, 3, 46, 47, 48, 55, 56, 63, 64, 65, 119, 120, 130)]
    endings = ["C0000001", "", "é", "RX12345678901", "C0020538"]
    counts = [len(endings) * (1 + i % 4) for i in range(len(keys))]
    code = np.concatenate([np.resize(np.arange(len(endings), dtype=np.int32), n) for n in counts])
    begin = np.concatenate([[0], np.cumsum(counts)])

    found = hashes_of(Texts.of(pa.array(keys)), begin, Texts.of(pa.array(endings)), code)

    run = np.repeat(np.arange(len(keys)), counts)
    expected = [hash_of_joined(keys[key] + endings[its]) for key, its in zip(run, code, strict=True)]
    assert found.tolist() == expected
    assert units_of(found).tolist() == [unit_of(number) for number in expected]


def test_texts_of_a_part_of_a_column_and_of_none() -> None:
    texts = Texts.of(pa.chunked_array([["a", "bc"], ["", "def"]]).slice(1))

    assert [bytes(texts.byte[begin:end]) for begin, end in pairwise(texts.begin)] == [b"bc", b"", b"def"]
    assert hashes_of(Texts.of(pa.array([], pa.string())), np.zeros(1, np.int64), texts, np.empty(0, np.int32)).size == 0
