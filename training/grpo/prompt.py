"""What a policy is asked: one system prompt for all rows and arms, which lets it abstain (paper, appendix E)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from training.packing.tokens import unmarked

__all__ = ["encode", "messages", "system_prompt"]

SYSTEM = """\
You answer questions about the record of a patient: each asks for a medical score or quantity, and your answer should \
be what a careful physician would compute from this record.

First reason step by step between <think> and </think>: name the formula or rule, find every input in the record with \
its unit, convert units where they differ, and calculate. Then give the final answer alone between <answer> and \
</answer>: {forms}. Write no unit and no explanation there.

If the record lacks an input that the rule needs and that cannot reasonably be inferred, or if the question does not \
apply to the patient, answer <answer>unknown</answer>. Do so only then: most questions can be answered.

Examples of endings: {examples}"""
NUMBERS = "a number, a date as MM/DD/YYYY, or weeks and days as (W weeks, D days)"
NUMBER_EXAMPLES = "<answer>22.86</answer>, <answer>03/21/2006</answer>, <answer>unknown</answer>"


def system_prompt(categories: Sequence[str] = ()) -> str:
    """Return the system prompt; with ``categories`` the answer is one of their names."""
    if not categories:
        return SYSTEM.format(forms=NUMBERS, examples=NUMBER_EXAMPLES)
    examples = f"<answer>{categories[0]}</answer>, <answer>unknown</answer>"
    return SYSTEM.format(forms=f"one of {', '.join(categories)}", examples=examples)


def messages(tokenizer: Any, prompt: str, categories: Sequence[str] = ()) -> Any:
    """Return a row's prompt as trl takes it: a conversation, or text where the tokenizer has no chat template."""
    system, prompt = system_prompt(categories), unmarked(tokenizer, prompt)
    if tokenizer.chat_template:
        return [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    return f"{system}\n\n{prompt}\n\n"


def encode(tokenizer: Any, prompts: Sequence[Any], *, thinking: bool) -> list[list[int]]:
    """Return the tokens of prompts, as `messages` made them, exactly as trl encodes them."""
    if not prompts:
        return []
    if isinstance(prompts[0], str):
        return [list(ids) for ids in tokenizer(text=list(prompts))["input_ids"]]
    encoded = tokenizer.apply_chat_template(
        conversation=list(prompts),
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        enable_thinking=thinking,
    )
    return [list(ids) for ids in encoded["input_ids"]]
