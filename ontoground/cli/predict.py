"""``ontoground predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Option

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import InWorkspace, Result, text_of, verb
from ontoground.cli.render import Blocks, number, percent, table, text
from ontoground.cli.runs import require_packages

__all__ = ["predict"]


@verb(
    app,
    VERBS["predict"],
    "ontoground predict --model work/runs/RUN --note note.txt \\",
    '    --statement "Lisinopril treats hypertension."',
)
def predict(
    options: InWorkspace,
    model: Annotated[Path, Option(metavar="RUN", help="Folder of a trained classifier, encoder or CoRFu run")],
    note: Annotated[Path, Option("--note", metavar="FILE", help="A text in UTF-8; - reads standard input")],
    statements: Annotated[
        list[str],
        Option("--statement", metavar="TEXT", help="A sentence in the form of the dataset's statements; repeatable"),
    ],
    device: Annotated[Literal["auto", "cpu", "cuda"], Option(help="auto uses a GPU if there is one")] = "auto",
) -> Result:
    """Predict the quadrant of statements about a note with a trained model, with probabilities; nothing is stored.

    The model sees the sections of the context (build.sections), or the whole text if it has none of them.
    The answer means little for statements worded differently from those in the training data.
    """
    require_packages("torch", "transformers", "peft")
    from ontoground.views.predictions import predict_statements

    answer = predict_statements(model, text_of(note), statements, options.open(needs_warehouse=False), device)
    return options.result("predict", _blocks, note=str(note), **answer)


def _blocks(payload: dict[str, Any]) -> Blocks:
    rows = [
        (answer["quadrant"], *(f"{100 * share:.1f}" for share in answer["probabilities"].values()), answer["statement"])
        for answer in payload["statements"]
    ]
    yield table(("", "Q1", "Q2", "Q3", "Q4", "statement"), rows)
    for number_of, answer in enumerate(payload["statements"], 1):
        for doubt in answer["doubts"]:
            yield text(f"no run learned to judge statement {number_of}: {doubt}", "bold")
    sections = ", ".join(section.replace("_", " ") for section in payload["sections"])
    yield f"in percent; context: {sections or 'the whole text, which has none of the sections'}"
    if cut := payload["context_tokens_cut"]:
        whole = payload["context_tokens"]
        unread = f"{number(cut)} of its {number(whole)} tokens ({percent(cut / whole)}) are not read"
        yield text(f"the context is cut to fit the model, by section priority: {unread}", "bold")
