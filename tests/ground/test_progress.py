"""Progress where nobody watches a bar."""

from __future__ import annotations

import pytest

from ground import progress


@pytest.mark.parametrize(("total", "said"), [(5, ["work: 2 of 5", "work: 5 of 5"]), (None, ["work: 2"])])
def test_piped_work_says_how_far_it_is_and_its_end(
    total: int | None, said: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    with progress.progress("work", total) as advance:
        advance(2)
        monkeypatch.setattr(progress, "LINE_SECONDS", 1e9)
        advance(3)
    shown = capsys.readouterr()
    assert (shown.out, shown.err.splitlines()) == ("", said)


def test_short_piped_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress("work", 1) as advance:
        advance(1)
    assert capsys.readouterr().err == ""
