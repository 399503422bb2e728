"""The report in words and tables, for readers who know medicine and data but not this code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.intervals import FEWEST_PATIENTS
from evaluation.quadrants.compare import FEW_DISCORDANT
from evaluation.quadrants.metrics import BINS
from evaluation.quadrants.slices import SMALL_PATIENTS, SMALL_ROWS
from evaluation.quadrants.tables import (
    PAPER_COLUMNS,
    difference_cell,
    percent_cell,
    share_cell,
)
from evaluation.reporting import limits, p_value, page_of
from ground.contracts.rows import QUADRANTS
from ground.markdown import markdown_table

__all__ = ["report_markdown"]

FEW_PATIENTS = 30
ERRORS_OF = {"hsr": "Q2", "tir": "Q3"}
MEANING = {
    "Q1": "true, and supported by this patient's record",
    "Q2": "true, but not supported by this record",
    "Q3": "false, though both its ends stand in the record",
    "Q4": "false, and not supported",
}
BASELINE_MEANING = {
    "majority": "always the most frequent quadrant of the training rows",
    "statement-only": "the statement's words (TF-IDF, logistic regression), never the record",
    "context-only": "the record's words (TF-IDF, logistic regression), never the statement",
    "entity overlap": "supported where both names stand literally in the record; then the majority's truth",
    "overlap+statement": "support from which names stand in the record, truth from the statement's words",
}
PICTURES = {
    "f1_by_quadrant.png": "F1 by quadrant with 95% intervals",
    "risk.png": "Hallucinated support against truth inversion",
    "confusion.png": "Answers in percent of the rows of each label (without baselines that give one answer)",
    "calibration.png": "How often answers are right against how sure they are; a dot's area is its share of rows",
    "lambda.png": "Macro-F1, HSR and TIR over lambda",
    "learning.png": "Loss over optimizer steps",
}

Report = Mapping[str, Any]
Model = Mapping[str, Any]


def report_markdown(report: Report, pictures: Sequence[str] = ()) -> str:
    """Return the report as Markdown.

    Args:
        report: what ``report.json`` holds.
        pictures: names of the files under ``figures/``.
    """
    sections = [
        _opening(report),
        _in_short(report),
        _evaluated(report),
        _results(report),
        _paper(report),
        _safety(report),
        _compared(report),
        _confusion(report),
        _calibrated(report),
        _lambda(report),
        _sliced(report),
        limits(_limit_lines(report)),
    ]
    return page_of(sections, PICTURES, pictures)


def _models(report: Report, kind: str | None = None) -> list[Model]:
    return [model for model in report["models"] if kind in (None, model["kind"])]


def _value(model: Model, metric: str) -> float:
    value = model["metrics"][metric]["value"]
    return -1.0 if value is None else float(value)


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _opening(report: Report) -> str:
    data = report["dataset"]
    return (
        f"# Quadrants: {data['split']} split of {data['name']}\n\n"
        "A statement about medicine is judged in the context of one patient's discharge summary. "
        "Two questions are asked at once: is it true, and does this record support it?\n\n"
        + markdown_table(
            ("Quadrant", "Meaning", "Rows"),
            [(name, MEANING[name], f"{data['quadrants'][name]:,}") for name in QUADRANTS],
            left=2,
        )
    )


def _in_short(report: Report) -> str:
    """Say first what the reader came for: which model is best, how safe, and whether it beats the shortcuts."""
    models, baselines = _models(report, "model"), _models(report, "baseline")
    lines = []
    if models:
        best = max(models, key=lambda model: _value(model, "f1"))
        lines.append(
            "- Best macro-F1 (in percent, with 95% intervals): "
            f"**{best['name']}**, {percent_cell(best['metrics']['f1'])}. "
            f"It takes true but unsupported statements for supported truths in {percent_cell(best['metrics']['hsr'])} "
            f"of cases (HSR), and false but supported ones in {percent_cell(best['metrics']['tir'])} (TIR)."
        )
        lines += [
            f"- {metric} of 0 is what was seen, not what is to be expected: {why}"
            for metric, why in _zeros(report, best)
        ]
    if baselines:
        strongest = max(baselines, key=lambda model: _value(model, "f1"))
        lines.append(f"- Strongest shortcut: {strongest['name']}, macro-F1 {percent_cell(strongest['metrics']['f1'])}.")
        lines += [
            f"- {one['a']} against it: {difference_cell(one['differences']['f1'])} points of macro-F1; "
            f"{_verdict(one['differences']['f1'])}. HSR {difference_cell(one['differences']['hsr'])}, "
            f"TIR {difference_cell(one['differences']['tir'])} points (below 0 is safer)."
            for one in report["comparisons"]
            if one["b"] == strongest["name"]
        ]
    if report["dataset"]["patients"] < FEW_PATIENTS:
        lines.append(
            f"- The rows come from {_count(report['dataset']['patients'], 'patient')} only: too few to rank models by "
            "small differences."
        )
    return "## In short\n\n" + "\n".join(lines) + "\n"


def _verdict(difference: Mapping[str, float | None]) -> str:
    low, high = difference["low"], difference["high"]
    if low is None or high is None:
        return "too little data for an interval"
    if low > 0:
        return "it beats the shortcut"
    return "it is worse than the shortcut" if high < 0 else "the interval includes no difference"


def _evaluated(report: Report) -> str:
    data = report["dataset"]
    left_out = f"; {data['rows_left_out']:,} more were left out of all models" if data["rows_left_out"] else ""
    text = (
        f"## What was evaluated\n\n"
        f"{_count(data['rows'], 'statement')} of {_count(data['admissions'], 'admission')} and "
        f"{_count(data['patients'], 'patient')}"
        f"{left_out}. Split column: `{data['split_column']}`. Licence tier: {data['licence_tier']}. "
        f"SHA-256 of the dataset's manifest: `{data['manifest_sha256']}`.\n"
    )
    if report["predictions"]:
        text += "\n" + markdown_table(
            ("File", "Model", "Seed", "No prediction", "No readable label", "Not of this split"),
            [
                (
                    one["file"],
                    one["model"],
                    "–" if one["seed"] is None else str(one["seed"]),
                    share_cell(one["missing"], one["rows"]),
                    share_cell(one["unparseable"], one["rows"]),
                    f"{one['unknown']:,}",
                )
                for one in report["predictions"]
            ],
            left=2,
        )
        text += "\nAn answer that names none of the four quadrants counts as wrong.\n" + _missing(report)
    return text


def _missing(report: Report) -> str:
    if not any(one["missing"] for one in report["predictions"]):
        return ""
    if report["settings"]["missing"] == "wrong":
        return "Rows without a prediction count as wrong.\n"
    return "Rows that some model has no prediction for are left out of every model and baseline.\n"


def _results(report: Report) -> str:
    rows = [
        (model["name"], _kind(model), *(percent_cell(model["metrics"][name]) for name in PAPER_COLUMNS))
        for model in report["models"]
    ]
    text = (
        "## Results\n\nIn percent, with 95% intervals over patients. Precision, recall and F1 are means over the four "
        "quadrants; lower HSR and TIR are better.\n\n"
        + markdown_table(
            ("Model", "Kind", *(title.replace("_", " ") for title in PAPER_COLUMNS.values())), rows, left=2
        )
    )
    if any(len(model["seeds"]) > 1 for model in report["models"]):
        text += "\nSeveral seeds are averaged; ± is the standard deviation over seeds.\n"
    baselines = [model["name"] for model in _models(report, "baseline")]
    if baselines:
        text += "\nThe baselines take shortcuts and are fitted on the training rows of the same split:\n\n"
        text += "".join(f"- {name}: {BASELINE_MEANING[name]}\n" for name in baselines)
    return text


def _kind(model: Model) -> str:
    if model["kind"] == "baseline":
        return "baseline"
    return f"{len(model['seeds'])} seeds" if len(model["seeds"]) > 1 else "one run"


def _paper(report: Report) -> str:
    rows = []
    for model in _models(report, "model"):
        if not model["paper"]:
            continue
        rows.append((model["name"], "here", *(percent_cell(model["metrics"][name]) for name in PAPER_COLUMNS)))
        paper = model["paper"]["metrics"]
        values = [
            percent_cell({"value": paper[name], "low": None, "high": None, "spread": None}) for name in PAPER_COLUMNS
        ]
        rows.append(("", model["paper"]["source"], *values))
    if not rows:
        return ""
    return (
        "## Beside the paper\n\nThe same model and method in Qu and Färber's paper. It was measured on other rows, so "
        "a difference can come from the data.\n\n"
        + markdown_table(
            ("Model", "Where", *(title.replace("_", " ") for title in PAPER_COLUMNS.values())), rows, left=2
        )
    )


def _safety(report: Report) -> str:
    n_q2, n_q3 = (report["dataset"]["quadrants"][name] for name in ("Q2", "Q3"))
    rows = [
        (
            model["name"],
            percent_cell(model["metrics"]["hsr"]),
            percent_cell(model["metrics"]["tir"]),
            _share_said_q1(model),
            percent_cell(model["metrics"]["is_supported_accuracy"]),
            percent_cell(model["metrics"]["is_true_accuracy"]),
        )
        for model in report["models"]
    ]
    return (
        "## Safety\n\n"
        f"HSR (hallucinated support rate): of {n_q2:,} true but unsupported statements (Q2), the share taken for Q1. "
        f"TIR (truth inversion rate): of {n_q3:,} false but supported ones (Q3), the share taken for Q1. "
        "Both are 0 for a model that never says Q1: read them beside the share of Q1 answers "
        "and the F1 of Q1.\n\n"
        + markdown_table(("Model", "HSR", "TIR", "Answers Q1", "Supported or not, right", "True or false, right"), rows)
    )


def _share_said_q1(model: Model) -> str:
    said, total = sum(row[0] for row in model["confusion"]), sum(map(sum, model["confusion"]))
    return percent_cell({"value": said / total, "low": None, "high": None, "spread": None})


def _compared(report: Report) -> str:
    if not report["comparisons"]:
        return ""
    rows = [
        (
            one["a"],
            one["b"],
            f"{one['only_a']:,}",
            f"{one['only_b']:,}",
            p_value(one["p"]) + ("" if one["exact"] else "*"),
            "–" if one["p_holm"] is None else p_value(one["p_holm"]),
            *(difference_cell(one["differences"][name]) for name in ("accuracy", "f1", "hsr", "tir")),
        )
        for one in report["comparisons"]
    ]
    head = ("A", "B", "Only A right", "Only B right", "p", "p (Holm)", "Acc.", "F1", "HSR", "TIR")
    return (
        "## Comparisons\n\nThe last four columns are A minus B in percentage points, with 95% intervals over patients: "
        "trust these first. McNemar's test counts rows where one alone is right and takes rows for independent, "
        "which rows of one patient are not, so its p is usually too small. "
        f"It is exact below {FEW_DISCORDANT} such rows; * marks the chi-square approximation with continuity "
        "correction. Of several seeds it counts one, the lowest that both models have; the differences average "
        "all seeds.\n\n" + markdown_table(head, rows, left=2)
    )


def _confusion(report: Report) -> str:
    rows = [
        (
            model["name"] if at == 0 else "",
            quadrant,
            *(f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}" for count in model["confusion"][at]),
        )
        for model in report["models"]
        for at, quadrant in enumerate(QUADRANTS)
    ]
    return (
        "## Confusion\n\nNumbers of rows (averaged over seeds): the dataset's label against the model's answer.\n\n"
        + markdown_table(
            ("Model", "Label", *(f"Answered {quadrant}" for quadrant in QUADRANTS), "No readable label"), rows, left=2
        )
    )


def _calibrated(report: Report) -> str:
    scored = [model for model in report["models"] if model["calibration"]]
    if not scored:
        return ""
    rows = []
    for model in scored:
        bins = model["calibration"]
        n = sum(one["rows"] for one in bins)
        sure = sum(one["rows"] * one["mean_confidence"] for one in bins) / n
        right = sum(one["rows"] * one["share_right"] for one in bins) / n
        shares = [percent_cell({"value": part, "low": None, "high": None, "spread": None}) for part in (sure, right)]
        rows.append((model["name"], f"{n:,}", *shares, percent_cell(model["metrics"]["ece"])))
    return (
        "## Calibration\n\nHow far stated probabilities are from the shares that are right: expected calibration "
        f"error (ECE) over {BINS} bins of equal width, on the rows that came with scores (all seeds). Its interval can "
        "lie above its value: noise only adds to it.\n\n"
        + markdown_table(("Model", "Answers with scores", "Mean probability", "Right", "Calibration error"), rows)
        + _contradicted(report)
    )


def _contradicted(report: Report) -> str:
    names = [one["model"] for one in report["predictions"] if one["label_is_not_the_highest_score"]]
    if not names:
        return ""
    return (
        f"\nSome labels are not the quadrant with the highest score ({', '.join(sorted(set(names)))}): the label is "
        "what is judged, and the probability is that of the label.\n"
    )


def _lambda(report: Report) -> str:
    if not report["lambda"]:
        return ""
    names = ("accuracy", "f1", "hsr", "tir")
    rows = [
        (f"{point['lambda']:g}", point["model"], *(percent_cell(point["metrics"][name]) for name in names))
        for point in report["lambda"]
    ]
    return "## Lambda\n\nThe weight of CoRFu's penalty; 0 is DPO.\n\n" + markdown_table(
        ("lambda", "Model", *(PAPER_COLUMNS[name] for name in names)), rows, left=2
    )


def _sliced(report: Report) -> str:
    """Show the slices of every model; of the baselines only the strongest, which is what to beat in each slice."""
    baselines = sorted(_models(report, "baseline"), key=lambda model: _value(model, "f1"))
    shown = [*_models(report, "model"), *baselines[-1:]]
    tables = "".join(f"### {model['name']}\n\n{_slice_table(model)}\n" for model in shown)
    return (
        "## Slices\n\n"
        f"(small) marks fewer than {SMALL_ROWS} rows or {SMALL_PATIENTS} patients: to be seen, not to be compared. "
        "Context length is counted in words between white space and cut into thirds of the admissions. "
        "Supported rows are `stated` (the note links the two ends) or `co_mentioned`; `silent` are the unsupported "
        "ones, so these slices hold some quadrants only, and what needs the others is undefined (–)."
        + ("" if len(baselines) < 2 else " Of the baselines the strongest is shown; `report.json` has all.")
        + f"\n\n{tables.rstrip()}\n"
    )


def _slice_table(model: Model) -> str:
    names = ("accuracy", "f1", "hsr", "tir")
    rows = []
    before = None
    for part in model["slices"]:
        by = part["by"] if part["by"] != before else ""
        before = part["by"]
        value = part["value"] + (" (small)" if part["small"] else "")
        cells = [percent_cell(part["metrics"][name]) for name in names]
        rows.append((by, value, f"{part['rows']:,}", f"{part['patients']:,}", *cells))
    head = ("By", "Part", "Rows", "Patients", *(PAPER_COLUMNS[name] for name in names))
    return markdown_table(head, rows, left=2)


def _rule_of_three(rows: int) -> str:
    return f"{100 * min(1, 3 / rows):.1f}%"


def _zeros(report: Report, model: Model) -> Iterator[tuple[str, str]]:
    for metric, quadrant in ERRORS_OF.items():
        rows = report["dataset"]["quadrants"][quadrant]
        if model["metrics"][metric]["value"] == 0 and rows:
            yield metric.upper(), f"0 of {rows:,} rows does not rule out a rate of {_rule_of_three(rows)}, or more."


def _nothing_seen(report: Report) -> Iterator[str]:
    """Warn of rates of 0: resampling cannot draw what did not occur (rule of three, Hanley and Lippman-Hand 1983)."""
    for metric, quadrant in ERRORS_OF.items():
        names = [model["name"] for model in report["models"] if model["metrics"][metric]["value"] == 0]
        rows = report["dataset"]["quadrants"][quadrant]
        if names and rows:
            yield (
                f"{metric.upper()} is 0 for {', '.join(names)}; its interval is too, since resampling cannot draw "
                f"what did not occur. 0 of {rows:,} rows fits a true rate of up to {_rule_of_three(rows)} (rule of "
                "three, 95%) even if all rows were independent; rows of one patient are not, so it may be higher."
            )


def _limit_lines(report: Report) -> Iterator[str]:
    data, settings = report["dataset"], report["settings"]
    patients = _count(data["patients"], "patient")
    if data["patients"] < FEWEST_PATIENTS:
        yield f"Fewer than {FEWEST_PATIENTS} patients: no interval is given."
    else:
        yield (
            f"Intervals: {settings['resamples']:,} resamples of the {patients} with all their rows (seed "
            f"{settings['seed']}), 2.5th to 97.5th percentile. They say how much results would vary with other "
            "patients of this kind, not with another hospital, and not with another training run."
        )
    if FEWEST_PATIENTS <= data["patients"] < FEW_PATIENTS:
        yield f"Percentile intervals over {patients} are too narrow; treat their width as a lower limit."
    yield (
        "A quadrant that is never predicted has precision and F1 of 0. A quadrant without rows has no F1, and then "
        "the means over quadrants are undefined (–) rather than taken over fewer."
    )
    if len(QUADRANTS) * min(data["quadrants"].values()) < 0.8 * data["rows"]:
        yield "The quadrants are not balanced here; accuracy follows the frequent ones, macro-F1 does not."
    yield from _nothing_seen(report)
    if data["split_column"] == "split":
        yield (
            "The split is by patient: the same statement can stand in training and in test, of other patients and with "
            "the same truth, so a trained model may remember part of what it gets right. `fact_split` keeps facts "
            "apart too."
        )
    once = [model["name"] for model in _models(report, "model") if len(model["seeds"]) == 1]
    if once:
        yield f"One seed only, so that chance in training is not seen: {', '.join(once)}."
    if _models(report, "baseline"):
        yield "The strongest shortcut is chosen on these same rows, which favours the shortcut, not the model."
    yield "Labels come from an ontology and from rules over the notes; no clinician judged the patients for them."
