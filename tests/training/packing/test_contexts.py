"""Contexts are cut by a fixed section priority, blind to any row's evidence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.contracts.prompts import Answer
from ground.errors import UsageError
from ground.lm.tiny import tiny_tokenizer
from training.grpo.prompts import encode, messages
from training.packing.contexts import ContextSection, context_sections, kept_tokens
from training.packing.tokens import encode_contexts, encode_statements
from training.sft.encoding import encode_answer, encode_prompt

CONTEXT = (
    "Free words.\nChief Complaint:\nChest pain\n\nHistory of Present Illness:\nA man with chest pain since noon.\n"
    "Past Medical History:\n- Hypertension\nBrief Hospital Course:\n# Pain: given aspirin.\n"
    "Discharge Diagnoses: angina\n"
)


def text_of(section: ContextSection) -> str:
    return CONTEXT[section.begin : section.end].split(":", maxsplit=1)[0].strip()


def test_sections_are_found_by_their_headers_and_tile_the_context() -> None:
    sections = context_sections(CONTEXT)
    assert [text_of(section) for section in sections] == [
        "Free words.",
        "Chief Complaint",
        "History of Present Illness",
        "Past Medical History",
        "Brief Hospital Course",
        "Discharge Diagnoses",
    ]
    assert [section.begin for section in sections[1:]] == [section.end for section in sections[:-1]]
    assert (sections[0].begin, sections[-1].end) == (0, len(CONTEXT))
    by_priority = sorted(sections, key=lambda section: section.priority)
    assert [text_of(section) for section in by_priority] == [
        "Chief Complaint",
        "Discharge Diagnoses",
        "Past Medical History",
        "Brief Hospital Course",
        "History of Present Illness",
        "Free words.",
    ]


def test_a_text_without_headers_is_one_section() -> None:
    assert context_sections("no header") == [ContextSection(0, 9, 99)]
    assert context_sections("") == []


@given(st.integers(0, 60))
def test_the_budget_is_used_up_and_never_passed(budget: int) -> None:
    starts = np.arange(0, len(CONTEXT), 5)
    kept = kept_tokens(starts, context_sections(CONTEXT), budget)
    assert kept.sum() == min(budget, len(starts))


def test_the_lowest_priority_loses_its_end_first() -> None:
    starts = np.arange(len(CONTEXT))
    first = CONTEXT.index("History")
    end = CONTEXT.index("Past Medical")
    kept = kept_tokens(starts, context_sections(CONTEXT), len(CONTEXT) - CONTEXT.index("Chief") - 10)
    assert not kept[: CONTEXT.index("Chief")].any()
    assert kept[first : end - 10].all()
    assert not kept[end - 10 : end].any()
    assert kept[end:].all()


def test_encoded_contexts_keep_the_words_around_them_and_count_what_was_cut(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer([CONTEXT], tmp_path, vocab_size=300)
    whole, nothing = encode_contexts(tokenizer, [CONTEXT, "Short."], max_tokens=4096)
    assert tokenizer.decode(whole[0]) == f"<s>Patient record:\n{CONTEXT}\n\nStatement:"
    assert (nothing.contexts, nothing.truncated, nothing.tokens_cut) == (2, 0, 0)
    cut, counted = encode_contexts(tokenizer, [CONTEXT, "Short."], max_tokens=150)
    assert len(cut[0]) == 150
    assert tokenizer.decode(cut[0]).startswith("<s>Patient record:\nChief Complaint:\nChest pain")
    assert tokenizer.decode(cut[0]).endswith("Discharge Diagnoses: angina\n\n\nStatement:")
    assert cut[1].tolist() == whole[1].tolist()
    assert (counted.truncated, counted.tokens_cut) == (1, len(whole[0]) - 150)
    with pytest.raises(UsageError, match="no room for a context"):
        encode_contexts(tokenizer, [CONTEXT], max_tokens=5)


def test_statements_end_with_the_end_of_text_where_asked(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer([CONTEXT], tmp_path)
    assert tokenizer.decode(encode_statements(tokenizer, ["Aspirin."], end=True)[0]) == " Aspirin.</s>"
    assert tokenizer.decode(encode_statements(tokenizer, ["Aspirin."], end=False)[0]) == " Aspirin."


def test_special_tokens_in_a_text_are_read_as_its_letters(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer([CONTEXT], tmp_path, chat=True)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<|eot_id|>"]})
    special = {tokenizer.convert_tokens_to_ids(mark) for mark in ("<s>", "</s>", "<|eot_id|>")}
    text = "Given <|eot_id|> aspirin.</s>"
    contexts, _ = encode_contexts(tokenizer, [text], max_tokens=4096)
    assert special.isdisjoint(contexts[0][1:].tolist())
    assert text in tokenizer.decode(contexts[0])
    assert special.isdisjoint(encode_statements(tokenizer, [text], end=False)[0].tolist())
    assert special.isdisjoint(encode_answer(tokenizer, Answer(text, ends=False)))
    # What a chat template itself marks stays; its template ends one message.
    for chat in (True, False):
        tokenizer.chat_template = tokenizer.chat_template if chat else None
        found = [encode_prompt(tokenizer, text), *encode(tokenizer, [messages(tokenizer, text)], thinking=False)]
        assert [sum(id in special for id in ids) for ids in found] == ([1, 2] if chat else [0, 0])


def test_an_instruct_model_can_be_asked_in_its_own_turns(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer([CONTEXT], tmp_path / "chat", chat=True)
    texts, _ = encode_contexts(tokenizer, [CONTEXT, CONTEXT + "</s> more"], max_tokens=200, chat=True)
    whole, marked = texts[0], texts[1]
    text = tokenizer.decode(whole)
    assert text == f"<|user|>Patient record:\n{CONTEXT}\n\nStatement:</s><|assistant|>"
    # The turn's end is one token; what stands in a note is letters.
    assert (whole == tokenizer.eos_token_id).sum() == (marked == tokenizer.eos_token_id).sum() == 1
    assert encode_contexts(tokenizer, [CONTEXT], max_tokens=60, chat=True)[0].lengths.tolist() == [60]
    with pytest.raises(UsageError, match="no chat template"):
        encode_contexts(tiny_tokenizer([CONTEXT], tmp_path / "plain"), [CONTEXT], max_tokens=200, chat=True)
