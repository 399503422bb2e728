from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.training.encoder.world import tiny_word_tokenizer
from training.encoder.windows import context_windows, tile


@given(st.integers(0, 5000), st.integers(4, 600), st.data())
def test_windows_tile_the_whole_context_and_fit(n_tokens: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    windows = tile(n_tokens, size, overlap)
    assert windows[0].start == 0
    assert windows[-1].stop == n_tokens
    assert all(0 <= window.stop - window.start <= size for window in windows)
    for left, right in pairwise(windows):
        assert left.start < right.start
        assert left.stop - right.start == overlap
    assert {i for window in windows for i in range(window.start, window.stop)} == set(range(n_tokens))


@given(st.integers(1, 5000), st.integers(4, 600), st.data())
def test_no_fewer_windows_would_do_and_their_lengths_are_alike(n_tokens: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    windows = tile(n_tokens, size, overlap)
    lengths = [window.stop - window.start for window in windows]
    assert max(lengths) - min(lengths) <= 1
    fewer = len(windows) - 1
    assert fewer == 0 or fewer * size - (fewer - 1) * overlap < n_tokens


def test_windows_hold_every_token_of_a_context_between_marks() -> None:
    tokenizer = tiny_word_tokenizer()
    context = " ".join(["aspirin warfarin insulin"] * 30)
    (windows,) = context_windows(tokenizer, [context], window_tokens=20, overlap_tokens=4)
    plain = tokenizer(context, add_special_tokens=False)["input_ids"]
    assert all(w[0] == tokenizer.cls_token_id and w[-1] == tokenizer.sep_token_id for w in windows)
    assert max(map(len, windows)) <= 20
    rebuilt = list(windows[0][1:-1]) + [token for window in windows[1:] for token in window[5:-1]]
    assert rebuilt == plain


def test_windows_of_a_context_do_not_depend_on_the_contexts_beside_it() -> None:
    tokenizer = tiny_word_tokenizer()
    long, short = " ".join(["metformin"] * 50), "aspirin"
    together = context_windows(tokenizer, [long, short], 16, 2)
    assert together == [context_windows(tokenizer, [text], 16, 2)[0] for text in (long, short)]
