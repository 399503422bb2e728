"""The model card of a classifier or policy, written from its record: what it was made from and is good for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ground.storage.files import write_text
from training.runs.folder import loss_records

__all__ = ["TIERS", "TITLES", "front_matter", "write_card"]

TITLES = {
    "classifier": ("Quadrant classifier", "text-classification"),
    "corfu": ("CoRFu policy", "text-generation"),
    "encoder": ("Quadrant classifier", "text-classification"),
    "medhal": ("Detector of non-factual medical statements", "text-generation"),
    "medval": ("Validator of medical text", "text-generation"),
}
WHAT = {
    "classifier": "It reads a patient record and a statement, and says in which quadrant the statement is: Q1 true and "
    "supported by the record, Q2 true but not supported, Q3 false but supported, Q4 false and not supported.",
    "corfu": "It gives statements that are true and supported by a patient's record a higher probability than others.",
}
WHAT["encoder"] = WHAT["classifier"]
TIERS = {
    "open": "The training data are open: nothing in them is under a data use agreement or a vocabulary's licence.",
    "credentialed": "The training data come from credentialed sources (such as MIMIC-IV and UMLS). Weights may hold "
    "parts of what they were trained on. This folder stays under the data use agreements of those sources: **do not "
    "publish it, and do not share it with anyone who has not signed them.**",
}
USE = """\
```python
from peft import PeftModel
from transformers import AutoModelForSequenceClassification

base = AutoModelForSequenceClassification.from_pretrained({base}, num_labels=4)
model = PeftModel.from_pretrained(base, "{folder}").eval()
```
"""
USE_WHOLE = """\
```python
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("{folder}").eval()
```
"""
USE_ENCODER = """
## Use
`ontoground evaluate quadrants --model DIR --dataset DIR`, or `training.encoder.train.predict`. The windows over the
record{head} are ontoground's own: what transformers loads from this folder alone does not give the results above.
"""
INPUT = """
Input ids are those of `Patient record:\\n` + record + `\\n\\nStatement:` and of a space + statement, each of the four
parts encoded apart without special tokens, behind the begin-of-text token where the tokenizer has one. The four logits
are those of Q1, Q2, Q3, Q4.
"""


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _settings(record: Mapping[str, Any]) -> list[str]:
    settings = record["settings"]
    if record["kind"] == "encoder":
        return [
            f"Trained: the layers above the lowest {settings['frozen_layers']}, and the quadrant head",
            f"Optimizer: learning rate {settings['learning_rate']:g} (new layers {settings['head_learning_rate']:g}), "
            f"linear schedule, batch {settings['batch_size']}, {settings['epochs']} epochs, "
            f"{_number(record['steps'])} steps",
            f"Engine: {record['engine']}; precision: float32; seed: {settings['seed']}",
        ]
    lora, optimizer = settings["lora"], settings["optimizer"]
    adapter = (
        f"LoRA, rank {lora['r']}, alpha {lora['alpha']}, dropout {lora['dropout']}" if lora["r"] else "all weights"
    )
    if record.get("freeze_backbone"):
        adapter = "the head alone; the backbone is frozen"
    return [
        f"Trained: {adapter}",
        f"Optimizer: learning rate {optimizer['learning_rate']}, {optimizer['schedule']} schedule, "
        f"batch {settings['batch_size']}, {settings['epochs']:g} epochs, {_number(record['steps'])} steps",
        f"Engine: {record['engine']}; precision: {record['machine']['precision']}; seed: {settings['seed']}",
    ]


def _losses(record: Mapping[str, Any]) -> str:
    losses = [one["loss"] for one in loss_records(record)]
    if not losses:
        return "not recorded"
    few = max(1, min(20, len(losses) // 4))
    first, last = sum(losses[:few]) / few, sum(losses[-few:]) / few
    return f"{first:.4f} in the first steps, {last:.4f} in the last ({few} of {len(losses)} each)"


def _results(folder: Path) -> str:
    """Return the table of a report where one was made."""
    report = folder / "report" / "report.md"
    if not report.is_file():
        return "Not evaluated yet: `ontoground evaluate quadrants --model DIR --dataset DIR --baselines`."
    lines = report.read_text(encoding="utf-8").partition("\n## Results\n")[2].splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("|")]
    if not starts:
        return "See `report/report.md`."
    end = next((at for at in range(starts[0], len(lines)) if not lines[at].startswith("|")), len(lines))
    return "\n".join(
        [
            *lines[starts[0] : end],
            "",
            "In percent, with 95% intervals over patients. From `report/report.md`, which has the rest and its limits.",
        ]
    )


def front_matter(record: Mapping[str, Any]) -> str:
    """Return the lines that the hub reads, between two rules."""
    task = TITLES[record["kind"]][1]
    adapter = record["kind"] != "encoder" and record["settings"]["lora"]["r"] > 0
    values = {
        "base_model": record["base_model"],
        "library_name": "peft" if adapter else "transformers",
        "pipeline_tag": task,
        "tags": ["lora", "medical"] if adapter else ["medical"],
    }
    # JSON is YAML: names with colons or quotes stay whole.
    return "---\n" + "".join(f"{name}: {json.dumps(value)}\n" for name, value in values.items()) + "---"


def _data(record: Mapping[str, Any]) -> list[str]:
    if record["kind"] == "encoder":
        return [
            f"Dataset: {record['dataset']}, SHA-256 of its manifest {record['manifest_sha256']}",
            f"Rows: train {_number(record['rows'])}",
            f"Contexts: {_number(record['admissions'])} in {_number(record['windows'])} windows of at most "
            f"{record['settings']['window_tokens']} tokens; nothing is cut",
        ]
    dataset, truncation = record["dataset"], record["truncation"]
    rows = ", ".join(f"{name} {_number(n)}" for name, n in record["rows"].items())
    return [
        f"Dataset: {dataset['name']}, SHA-256 of its manifest {dataset['manifest_sha256']}",
        f"Rows: {rows}",
        f"Contexts cut to fit: {_number(truncation['truncated'])} of {_number(truncation['contexts'])} "
        f"({_number(truncation['tokens_cut'])} of {_number(truncation['tokens'])} tokens), "
        "by a fixed order of sections",
    ]


def write_card(folder: Path, record: Mapping[str, Any], *, results: Path | None = None) -> None:
    """Write ``README.md`` of a run folder.

    Args:
        folder: where the card goes.
        record: what ``training.json`` holds.
        results: the run folder whose ``report/`` is quoted, ``folder`` where left out.
    """
    use = ""
    if record["kind"] == "encoder":
        use = USE_ENCODER.format(head=" and the quadrant head" if record["engine"] == "late" else "")
    if record["kind"] == "classifier":
        code = USE if record["settings"]["lora"]["r"] else USE_WHOLE
        use = "\n## Use without ontoground\n" + code.format(base=json.dumps(record["base_model"]), folder="DIR") + INPUT
    write_text(
        folder / "README.md",
        f"""\
{front_matter(record)}
# {TITLES[record["kind"]][0]}

{WHAT[record["kind"]]}

- Base model: {record["base_model"]}
{"".join(f"- {line}{chr(10)}" for line in (*_data(record), *_settings(record)))}- Loss: {_losses(record)}

## Results
{_results(results or folder)}
{use}
## Intended use and limits
For research on whether statements are true and supported by a record. **This is no medical device.** It has not been
checked for use in care and must not be used to decide on a patient's treatment. Its labels were derived by rules from
an ontology and from the text of records: it can repeat their errors, and it knows nothing of relations that the
ontology lacks. It was trained on statements made from templates; other wordings, languages, hospitals and kinds of
notes were not tried.

## Data
{TIERS[record["licence_tier"]]}

All settings, losses, versions and hashes: `training.json`.
""",
    )
