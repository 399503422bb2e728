"""Segments: sentences, items and headings, with the blocks that tie a problem's lines together."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from ehr.characters import codes_of
from ehr.segments import segment_arrays, segments_of
from ehr.spans import Section, Segment

WORDS = st.sampled_from(
    ["pain", "Dr.", "q.d.", "1.5", "mg", "#", "Fever:", "- cough", "No", "edema.", "[ ]", "2.", "ok?"]
)
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", "\n", "\n\n", "  "])), max_size=60).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)


def whole(text: str) -> list[Section]:
    return [Section("brief_hospital_course", "", 0, len(text))]


def segment_note(text: str, sections: list[Section]) -> list[Segment]:
    return segments_of(segment_arrays(codes_of(text), sections))


def texts(text: str) -> list[str]:
    return [text[s.begin : s.end] for s in segment_note(text, whole(text))]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(s.kind, text[s.begin : s.end]) for s in segment_note(text, whole(text))]


def test_wrapped_lines_belong_together() -> None:
    text = (
        "She was treated with furosemide and improved over the following two days, with\n"
        "less edema. Oxygen was stopped.\n"
        "Asthma\n"
        "Eczema\n"
    )
    assert texts(text) == [
        "She was treated with furosemide and improved over the following two days, with\nless edema.",
        "Oxygen was stopped.",
        "Asthma",
        "Eczema",
    ]


def test_abbreviations_do_not_end_a_sentence() -> None:
    text = "Seen by Dr. Smith at 8 a.m. Monday, aspirin q.d. Lactate was 1.5 then. Plan approx. 3 weeks of therapy."
    assert texts(text) == [
        "Seen by Dr. Smith at 8 a.m. Monday, aspirin q.d. Lactate was 1.5 then.",
        "Plan approx. 3 weeks of therapy.",
    ]


def test_a_number_that_wraps_to_a_line_of_its_own_is_no_bullet() -> None:
    text = "He was sent in from the clinic because his blood pressure had a systolic value of\n72.\n\nThen he left.\n"
    assert texts(text)[0].endswith("72.")


def test_problem_headings_share_a_block_with_their_lines() -> None:
    text = "# Asthma: stable. On albuterol.\nNo wheeze heard.\n\n# Gout: no flare.\n"
    segments = segment_note(text, whole(text))
    blocks = {text[s.begin : s.end]: s.block for s in segments}
    assert kinds(text)[0] == ("heading", "# Asthma:")
    assert blocks["# Asthma:"] == blocks["stable."] == blocks["On albuterol."] == blocks["No wheeze heard."]
    assert blocks["# Gout:"] == blocks["no flare."] != blocks["# Asthma:"]


def test_a_label_that_opens_a_paragraph_is_a_heading() -> None:
    text = "Liver abscess: drained by radiology.\nCultures were negative.\n\nGout: colchicine.\n"
    segments = segment_note(text, whole(text))
    assert [s.kind for s in segments][:2] == ["heading", "sentence"]
    assert segments[0].block == segments[2].block != segments[3].block


def test_numbered_problems_of_the_course_are_apart() -> None:
    text = "1. Gout. Colchicine was given.\n2. Asthma. Stable.\n"
    segments = segment_note(text, whole(text))
    assert kinds(text)[0] == ("heading", "1. Gout.")
    assert segments[0].block == segments[1].block != segments[2].block == segments[3].block


def test_list_items_are_items_of_one_block() -> None:
    text = "1. Aspirin 81 mg\n2. Lisinopril 10 mg\n- Senna PRN\n"
    segments = segment_note(text, [Section("discharge_medications", "", 0, len(text))])
    assert [s.kind for s in segments] == ["item", "item", "item"]
    assert len({s.block for s in segments}) == 1


@given(TEXTS, st.integers(0, 200))
def test_segments_tile_the_words_of_their_sections(text: str, cut: int) -> None:
    middle = min(cut, len(text))
    sections = [Section("a", "", 0, middle), Section("b", "", middle, len(text))]
    segments = segment_note(text, sections)
    check(text, sections, segments)


def check(text: str, sections: list[Section], segments: list[Segment]) -> None:
    covered = [False] * len(text)
    for left, right in itertools.pairwise(segments):
        assert left.end <= right.begin
        assert left.block <= right.block
    for segment in segments:
        assert segment.begin < segment.end
        assert any(s.begin <= segment.begin and segment.end <= s.end for s in sections)
        assert not text[segment.begin].isspace()
        assert not text[segment.end - 1].isspace()
        covered[segment.begin : segment.end] = [True] * (segment.end - segment.begin)
    assert all(done or character.isspace() for done, character in zip(covered, text, strict=True))


def test_text_without_an_end_is_cut_between_words() -> None:
    text = "fever and chills " * 2000 + "x" * 9000
    sections = whole(text)
    segments = segment_note(text, sections)
    check(text, sections, segments)
    assert all(s.end - s.begin <= 4000 for s in segments)
    assert text[segments[0].end].isspace()
