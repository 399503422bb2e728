"""``ontoground evaluate medval --rules``: the rules' validator over a dataset's split, or over pairs from elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import UsageError
from ground.storage.files import private_directory
from ontoground.cli.options import Result
from ontoground.cli.render import Blocks, note, table, unfolded
from ontoground.cli.runs import run_folder

if TYPE_CHECKING:
    from builders.medval.items import Validator
    from builders.medval.pairs import TextPair
    from evaluation.datasets import TextDataset
    from ontoground.cli.evaluate.options import Evaluated

__all__ = ["judged_pairs", "judged_split"]

BATCH = 256
PARSED = "parsed"


def judged_split(options: Evaluated, dataset: TextDataset) -> dict[str, Any]:
    """Judge a split of a dataset; a refusal is an answer without a level, its reason the outcome."""
    from builders.medval.pairs import TextPair
    from evaluation.predictions import write_predictions

    folder = run_folder(options.workspace, "rules", "medval")
    pairs = (TextPair(row["id"], row["task"], row["input"], row["output"]) for row in dataset.rows(options.split))

    def write(file: Path) -> None:
        write_predictions(file, _frame(_answers(_validator(options), pairs)))

    state = options.kept(folder, {"model": "rules", "dataset": dataset.identity}, write)
    note("labels of a dataset that the engine rules built are this validator's own: agreement with them says nothing")
    return options.predicted(folder, "rules", "rules", state)


def judged_pairs(options: Evaluated, named: Sequence[str]) -> Result:
    """Judge the pairs of each ``NAME=PATH[:LAYOUT]``; write what is said of each, and count it."""
    from builders.medval.pairs import read_pairs
    from evaluation.predictions import write_predictions

    folder = options.out or run_folder(options.workspace, "rules", "pairs")
    chosen, validator, sources = [_source(text) for text in named], _validator(options), []
    for name, path, layout in chosen:
        answers = list(_answers(validator, read_pairs(path, layout)))
        file = folder / f"{name}.parquet"
        private_directory(folder)
        write_predictions(file, _frame(answers))
        sources.append({"name": name, "path": str(path), "layout": layout, **_counted(answers), "file": str(file)})
    return options.result("evaluate medval", _blocks, sources=sources)


def _source(text: str) -> tuple[str, Path, str]:
    from builders.medval.pairs import LAYOUTS

    name, equals, rest = text.partition("=")
    path, colon, layout = rest.rpartition(":")
    if not colon:
        path, layout = rest, "pairs"
    if not (equals and name and path and layout in LAYOUTS):
        expected = f"NAME=PATH or NAME=PATH:LAYOUT, LAYOUT one of {', '.join(LAYOUTS)}"
        raise UsageError("--texts cannot be read", found=text, expected=expected)
    return name, Path(path), layout


def _validator(options: Evaluated) -> Validator:
    from builders.medval.rules.engine import open_rules
    from ground.storage.workspace import Workspace

    return open_rules(Workspace.existing(options.workspace), {})[1]


def _answers(validator: Validator, pairs: Iterable[TextPair]) -> Iterator[tuple[TextPair, dict[str, Any]]]:
    """Yield each pair with its line of a predictions file."""
    from builders.medval.items import Item, Judgement
    from builders.texts.origin import Origin

    ahead = iter(pairs)
    while batch := list(islice(ahead, BATCH)):
        items = [Item(Origin("pairs", pair.name, pair.name, "test"), pair.task, pair.input, None) for pair in batch]
        for pair, judged in zip(batch, validator.judge(items, [pair.output for pair in batch]), strict=True):
            line: dict[str, Any] = {"id": pair.name, "label": "", "outcome": "", "explanation": None, "model": "rules"}
            if isinstance(judged, Judgement):
                line |= {"label": str(judged.risk_level), "outcome": PARSED, "explanation": judged.reasoning}
            else:
                line |= {"outcome": judged.reason}
            yield pair, line


def _frame(answers: Iterable[tuple[TextPair, dict[str, Any]]]) -> Any:
    import polars as pl

    return pl.DataFrame([line for _, line in answers])


def _counted(answers: Sequence[tuple[TextPair, dict[str, Any]]]) -> dict[str, Any]:
    """Count levels, refusals, and levels beside what people say of the outputs."""
    levels = Counter(line["label"] for _, line in answers if line["label"])
    refused = Counter(line["outcome"] for _, line in answers if not line["label"])
    known = [(pair, line["label"]) for pair, line in answers if pair.unsafe is not None]
    sides = {
        side: [label for pair, label in known if pair.unsafe is unsafe]
        for side, unsafe in (("unsafe", True), ("safe", False))
    }
    return {
        "pairs": len(answers),
        "levels": {str(level): levels[str(level)] for level in range(1, 5)},
        "refused": dict(sorted(refused.items())),
        **{
            side: {
                "pairs": len(labels),
                "answered": sum(bool(label) for label in labels),
                "called_unsafe": sum(label in {"3", "4"} for label in labels),
            }
            for side, labels in sides.items()
        },
        "same_level": sum(label == str(pair.level) for pair, label in known if pair.level is not None),
        "with_level": sum(pair.level is not None for pair, _ in known),
    }


def _blocks(payload: dict[str, Any]) -> Blocks:
    heads = ("texts", "pairs", "1", "2", "3", "4", "refused", "unsafe found", "safe called unsafe", "same level")
    rows = []
    for texts in payload["sources"]:
        unsafe = [f"{texts[side]['called_unsafe']} of {texts[side]['pairs']}" for side in ("unsafe", "safe")]
        refused, same = sum(texts["refused"].values()), f"{texts['same_level']} of {texts['with_level']}"
        rows.append((texts["name"], texts["pairs"], *texts["levels"].values(), refused, *unsafe, same))
    yield table(heads, rows)
    for texts in payload["sources"]:
        reasons = ", ".join(f"{reason} {n}" for reason, n in texts["refused"].items())
        yield unfolded(f"{texts['name']}: {texts['file']}" + (f"; refused: {reasons}" if reasons else ""))
