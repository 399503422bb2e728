"""The paper's tables are whole, and a model stands beside its own row only."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.paper import PAPER_COLUMNS, paper_results, same_measurement


def test_the_papers_tables_are_whole() -> None:
    rows = paper_results()
    assert len(rows) == 27
    assert len({(row["model"], row["method"]) for row in rows}) == 27
    assert {row["source"] for row in rows} == {"MediEval, Table 1", "MediEval, Table 3"}
    assert all(0 <= value <= 1 for row in rows for value in row["metrics"].values())
    best = same_measurement("Llama-3.1-8B-Instruct + CoRFu (Q1 vs. Q2)")
    assert best is not None
    assert list(best["metrics"].values()) == [0.768, 0.772, 0.77, 0.779, 0.732, 0.766, 0.789, 0.799, 0.182, 0.0]


def test_most_macro_f1_of_the_paper_are_the_means_of_their_quadrants() -> None:
    far = [
        row["model"]
        for row in paper_results()
        if abs(row["metrics"]["f1"] - np.mean([row["metrics"][f"f1_q{at}"] for at in (1, 2, 3, 4)])) > 0.006
    ]
    assert len(far) <= 3


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("Qwen/Qwen3-8B + SFT", "MediEval, Table 1"),
        ("/models/vicuna-13b-v1.5/ + sft", "MediEval, Table 1"),
        ("gpt-4o + zero-shot", "MediEval, Table 3"),
        ("Qwen/Qwen3-8B", None),
        ("Qwen/Qwen3-8B + CoRFu (Q2 vs. Q1)", None),
        ("other/Model + SFT", None),
    ],
)
def test_only_the_same_model_and_method_stand_beside_the_paper(name: str, source: str | None) -> None:
    row = same_measurement(name)
    assert (row and row["source"]) == source


def test_columns_are_those_of_the_papers_table() -> None:
    assert " ".join(PAPER_COLUMNS.values()) == "Acc. Prec. Rec. F1 F1_Q1 F1_Q2 F1_Q3 F1_Q4 HSR TIR"
