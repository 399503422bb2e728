"""The report on detectors or validators in words and tables, for readers who know medicine but not this code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.intervals import FEWEST_PATIENTS
from evaluation.quadrants.compare import FEW_DISCORDANT
from evaluation.quadrants.slices import SMALL_ROWS
from evaluation.quadrants.tables import difference_cell, percent_cell
from evaluation.reporting import limits, p_value, page_of
from ground.markdown import markdown_table

__all__ = ["text_report_markdown"]

Report = Mapping[str, Any]
Run = Mapping[str, Any]
UNDEFINED = "–"
FEW_CLUSTERS = 30
PICTURES = {
    "f1_by_task.png": "F1 by task with 95% intervals",
    "overall.png": "The main metrics over all rows",
    "confusion.png": "Answers in percent of the rows of each label",
    "errors_by_task.png": "Each task's share of the errors, beside its share of the rows",
    "f1_by_length.png": "F1 by length of the text that was read",
    "agreement.png": "Agreement of the experts",
    "non_inferiority.png": "Macro-F1 of models minus that of a single expert",
}
OPENING = {
    "medhal": "A detector says whether a medical statement is factual, given a context or, without one, medical "
    "knowledge, and explains what is wrong. The class to be found is *non-factual*: precision is the share of alarms "
    "that are right, recall the share of non-factual statements that are found. The paper's Table 6 does not say which "
    "class its P, R and F1 are of, so the numbers of *factual* stand beside them.",
    "medval": "A validator grades the risk of a text made from another: 1 none, 2 low, 3 moderate, 4 high. Levels 1 "
    "and 2 are safe, 3 and 4 unsafe. Macro-F1 weighs the four levels alike; the mean over tasks, the paper's overall "
    "number, weighs the tasks alike too.",
}


def text_report_markdown(report: Report, pictures: Sequence[str] = ()) -> str:
    """Return the report as Markdown.

    Args:
        report: what ``report.json`` holds.
        pictures: names of the files under ``figures/``.
    """
    of_kind = (_factuality, _explanations) if report["kind"] == "medhal" else (_levels, _safety)
    sections = [
        _opening(report),
        *(section(report) for section in of_kind),
        _answers(report),
        _by_task(report),
        _errors(report),
        _lengths(report),
        _compared(report),
        _experts(report),
        _confusion(report),
        limits(_limit_lines(report)),
    ]
    return page_of(sections, PICTURES, pictures)


def _cell(estimate: Mapping[str, Any]) -> str:
    return percent_cell({"spread": None, **{name: estimate[name] for name in ("value", "low", "high")}})


def _plain(estimate: Mapping[str, Any], digits: int = 3) -> str:
    """Write a coefficient (kappa, alpha, BLEU) with its interval, not in percent."""
    if estimate["value"] is None:
        return UNDEFINED
    interval = "" if estimate["low"] is None else f" ({estimate['low']:.{digits}f} to {estimate['high']:.{digits}f})"
    return f"{estimate['value']:.{digits}f}{interval}"


def _table(report: Report, columns: Mapping[str, str], of: str = "overall") -> str:
    rows = [(run["name"], *(_cell(run[of][name]) for name in columns)) for run in report["runs"]]
    return markdown_table(("Run", *columns.values()), rows)


def _opening(report: Report) -> str:
    data, rows = report["dataset"], report["rows"]
    what = "Detectors" if report["kind"] == "medhal" else "Validators"
    by_task = [
        (task, f"{sum(counts):,}", *(f"{count:,}" for count in counts)) for task, counts in rows["by_task"].items()
    ]
    left_out = f" {data['rows_left_out']:,} rows without a prediction of every run are left out." * bool(
        data["rows_left_out"]
    )
    return (
        f"# {what}: {data['split']} split of {data['name']}\n\n{OPENING[report['kind']]}\n\n"
        f"{rows['rows']:,} rows from {rows['clusters']:,} {rows['clusters_are']}.{left_out} All shares are in percent, "
        "with 95% intervals in brackets.\n\n" + markdown_table(("Task", "Rows", *rows["classes"]), by_task)
    )


def _factuality(report: Report) -> str:
    if not report["runs"]:
        return ""
    columns = {f"non_factual_{name}": name.capitalize() for name in ("precision", "recall")}
    columns |= {"non_factual_f1": "F1", "macro_f1": "Macro-F1", "accuracy": "Accuracy"}
    factual = {f"factual_{name}": name.capitalize() for name in ("precision", "recall")} | {"factual_f1": "F1"}
    return (
        f"## Factuality\n\nNon-factual as the class to be found:\n\n{_table(report, columns)}"
        f"\nFactual as the class to be found:\n\n{_table(report, factual)}" + _seeds(report)
    )


def _explanations(report: Report) -> str:
    shown = [run for run in report["runs"] if run["explanation"]["both_non_factual"]]
    if not shown:
        return ""
    rows = [
        (
            run["name"],
            f"{run['explanation']['both_non_factual']:,}",
            f"{run['explanation']['n']:,}",
            *(_plain(run["explanation"][name]) for name in ("bleu", "rouge1", "rouge2")),
        )
        for run in shown
    ]
    return (
        "## Explanations\n\nOnly rows that are non-factual and were called so; N of them have an explanation on both "
        "sides. From 0 to 1. A run that finds little is judged on few, perhaps easy, rows: read N first.\n\n"
        + markdown_table(("Run", "Both non-factual", "N", "BLEU", "ROUGE-1", "ROUGE-2"), rows)
    )


def _levels(report: Report) -> str:
    if not report["runs"]:
        return ""
    rows = [
        (
            run["name"],
            *(_cell(run["over_tasks"][name]) for name in ("all", "in_distribution", "held_out")),
            _cell(run["overall"]["macro_f1"]),
            _cell(run["overall"]["accuracy"]),
            _plain(run["overall"]["kappa_linear"]),
        )
        for run in report["runs"]
    ]
    heads = ("Run", "Mean over tasks", "Tasks of training", "Other tasks", "All rows", "Accuracy", "Linear kappa")
    of_levels = {f"f1_level_{level}": f"Level {level}" for level in range(1, 5)}
    return (
        "## Risk levels\n\nMacro-F1 as a mean over tasks (all; those that the paper trains on; the others) and over "
        "all rows as one. Cohen's kappa with linear weights is over the rows that have an answer.\n\n"
        f"{markdown_table(heads, rows)}\nF1 of each level:\n\n{_table(report, of_levels)}" + _seeds(report)
    )


def _safety(report: Report) -> str:
    if not report["runs"]:
        return ""
    columns = {
        "unsafe_sensitivity": "Sensitivity",
        "unsafe_specificity": "Specificity",
        "unsafe_precision": "Precision",
        "unsafe_f1": "F1",
        "safety_accuracy": "Accuracy",
    }
    return (
        "## Safe or unsafe\n\nSensitivity is the share of unsafe outputs (levels 3 and 4) that are called unsafe; what "
        "is missing from 100 would have gone out. Specificity is the share of safe outputs that are called safe.\n\n"
        + _table(report, columns)
    )


def _seeds(report: Report) -> str:
    if not report["seeds"]:
        return ""
    rows = [
        (one["model"], f"{one['seeds']}", f"{100 * one['mean']:.1f} ±{100 * one['spread']:.1f}")
        for one in report["seeds"]
    ]
    return f"\nOver seeds (mean and standard deviation):\n\n{markdown_table(('Model', 'Seeds', 'F1'), rows)}"


def _answers(report: Report) -> str:
    if not report["runs"]:
        return ""
    rows = [
        (
            run["name"],
            _cell(run["share_unparseable"]),
            ", ".join(f"{name} {n:,}" for name, n in run["outcomes"].items()),
        )
        for run in report["runs"]
    ]
    return (
        "## Answers\n\nA row without a readable answer counts as wrong and never as a class: the recall of its class "
        "falls, and it is no false alarm.\n\n" + markdown_table(("Run", "No readable answer", "Outcomes"), rows)
    )


def _by_task(report: Report) -> str:
    if not report["runs"]:
        return ""
    headline = report["rows"]["headline"]
    tasks = list(report["rows"]["by_task"])
    rows = [(run["name"], *(_cell(run["by_task"][task][headline]) for task in tasks)) for run in report["runs"]]
    what = "F1 of non-factual" if report["kind"] == "medhal" else "Macro-F1 over risk levels"
    return f"## By task\n\n{what}.\n\n{markdown_table(('Run', *tasks), rows)}"


def _errors(report: Report) -> str:
    if not report["runs"]:
        return ""
    rows = [
        (
            run["name"] if at == 0 else "",
            task,
            f"{one['errors']:,}",
            _cell(one["share_of_errors"]),
            f"{100 * one['share_of_rows']:.1f}",
        )
        for run in report["runs"]
        for at, (task, one) in enumerate(run["errors_by_task"].items())
    ]
    return (
        "## Where the errors lie\n\nA task whose share of the errors is above its share of the rows is harder than the "
        "rest.\n\n"
        + markdown_table(("Run", "Task", "Errors", "Share of the errors", "Share of the rows"), rows, left=2)
    )


def _lengths(report: Report) -> str:
    if not report["runs"]:
        return ""
    headline, parts = report["rows"]["headline"], report["rows"]["by_length"]
    rows = [
        (
            run["name"] if at == 0 else "",
            part,
            f"{parts[part]:,}",
            _cell(run["by_length"][part][headline]),
            _cell(run["by_length"][part]["accuracy"]),
        )
        for run in report["runs"]
        for at, part in enumerate(parts)
    ]
    what = "the context" if report["kind"] == "medhal" else "input and output together"
    return (
        f"## By length\n\nWords of {what}, in quarters of the rows. Tasks differ in length: look at both.\n\n"
        + markdown_table(("Run", "Length", "Rows", "F1", "Accuracy"), rows, left=2)
    )


def _compared(report: Report) -> str:
    if not report["comparisons"]:
        return ""
    names = list(report["comparisons"][0]["differences"])
    differences = [
        (one["a"], one["b"], *(difference_cell(one["differences"][name]) for name in names))
        for one in report["comparisons"]
    ]
    tests = [
        (
            f"{one['a']} / {one['b']}" if at == 0 else "",
            test["of"],
            f"{test['rows']:,}",
            f"{test['only_a']:,}",
            f"{test['only_b']:,}",
            p_value(test["p"]) + ("" if test["exact"] else "*"),
            p_value(test["p_bonferroni"]) + (" (differs)" if test["significant"] else ""),
        )
        for one in report["comparisons"]
        for at, test in enumerate(one["tests"])
    ]
    n = len(tests)
    heads = ("A / B", "Rows of", "Rows", "Only A right", "Only B right", "p", "p (Bonferroni)")
    return (
        "## Comparisons\n\nA minus B in points, with 95% intervals:\n\n"
        + markdown_table(("A", "B", *(name.replace("_", " ") for name in names)), differences, left=2)
        + "\nMcNemar's test: of the rows where one alone is right, is one right more often? It takes rows for "
        "independent, which rows of one patient or pair are not, so its p may be too small: trust the intervals first. "
        f"Exact below {FEW_DISCORDANT} such rows, else (*) chi-square with continuity correction. Bonferroni's "
        f"correction is for the {n} tests of this report.\n\n" + markdown_table(heads, tests, left=2)
    )


def _experts(report: Report) -> str:
    experts = report["experts"]
    if not experts:
        return ""
    raters = [(one["rater"], f"{one['rated']:,}", f"{one['not_rated']:,}") for one in experts["raters"]]
    against = [("dataset's labels", experts["labels_against_majority"])]
    against += [(one["name"], one) for one in experts["runs_against_majority"]]
    metrics = {"macro_f1": "Macro-F1", "unsafe_f1": "F1 (unsafe)", "unsafe_sensitivity": "Sensitivity"}
    rows = [
        (name, *(_cell(one["metrics"][key]) for key in metrics), _plain(one["metrics"]["kappa_linear"]))
        for name, one in against
    ]
    return (
        f"## Experts\n\n{experts['items']:,} items were rated, {experts['items_with_several']:,} of them by two "
        f"experts or more.\n\n{markdown_table(('Rater', 'Rated', 'Left empty'), raters)}\n"
        "Krippendorff's alpha between experts, ordinal; items with one rating have no part in it:\n\n"
        f"{_alphas(experts['agreement'])}\nAgainst the experts' majority (of equal votes the higher risk):\n\n"
        + markdown_table(("Answers", *metrics.values(), "Linear kappa"), rows)
        + _single_expert(experts)
        + _categories(experts)
    )


def _alphas(agreement: Mapping[str, Any]) -> str:
    four, two = agreement["four_levels"], agreement["safe_unsafe"]
    rows = [
        (task, f"{one['items']:,}", _plain(one), _plain(two["by_task"][task])) for task, one in four["by_task"].items()
    ]
    rows.append(("all", f"{four['overall']['items']:,}", _plain(four["overall"]), _plain(two["overall"])))
    return markdown_table(("Task", "Items", "Four levels", "Safe or unsafe"), rows)


def _single_expert(experts: Mapping[str, Any]) -> str:
    tested = [one for one in experts["non_inferiority"] if one["difference"]]
    if not tested:
        return ""
    rows = [
        (
            one["name"],
            f"{one['items']:,}",
            f"{100 * one['model_f1']:.1f}",
            f"{100 * one['expert_f1']:.1f}",
            difference_cell(one["difference"]),
            f"{100 * one['lower_bound']:.1f}",
            p_value(one["p"]),
            "not inferior" if one["non_inferior"] else "not shown",
        )
        for one in tested
    ]
    heads = (
        "Run",
        "Items",
        "Macro-F1",
        "One expert's",
        "Difference",
        "Lower bound",
        "p",
        f"Margin {100 * tested[0]['margin']:g}",
    )
    return (
        "\nIs a run worse than a single expert? Items with several ratings; the expert is drawn anew for each item of "
        f"each of {tested[0]['resamples']:,} resamples. Not inferior: the lower 95% bound (one-sided) lies above the "
        f"margin.\n\n{markdown_table(heads, rows)}"
    )


def _categories(experts: Mapping[str, Any]) -> str:
    if not experts["categories"]:
        return ""
    rows = [(one["category"].replace("_", " "), f"{one['errors']:,}") for one in experts["categories"]]
    return f"\nErrors that the experts marked:\n\n{markdown_table(('Category', 'Errors'), rows)}"


def _confusion(report: Report) -> str:
    if not report["runs"]:
        return ""
    classes = report["rows"]["classes"]
    rows = [
        (run["name"] if at == 0 else "", name, *(f"{count:,}" for count in run["confusion"][at]))
        for run in report["runs"]
        for at, name in enumerate(classes)
    ]
    heads = ("Run", "Label", *(f"Answered {name}" for name in classes), "No readable answer")
    return f"## Confusion\n\nNumbers of rows.\n\n{markdown_table(heads, rows, left=2)}"


def _limit_lines(report: Report) -> Iterator[str]:
    rows, settings = report["rows"], report["settings"]
    if rows["clusters"] < FEWEST_PATIENTS:
        yield f"Fewer than {FEWEST_PATIENTS} {rows['clusters_are']}: no interval is given."
    else:
        yield (
            f"Intervals: {settings['resamples']:,} resamples of {rows['clusters']:,} {rows['clusters_are']} with all "
            f"their rows (seed {settings['seed']}), 2.5th to 97.5th percentile."
        )
    if FEWEST_PATIENTS <= rows["clusters"] < FEW_CLUSTERS:
        yield f"Percentile intervals over {rows['clusters']} {rows['clusters_are']} are too narrow."
    if settings["missing"] == "wrong":
        yield "Rows without a prediction were counted as wrong (outcome: missing)."
    if report["kind"] == "medval":
        yield (
            "A level that neither occurs nor is answered does not count in macro-F1; a level that occurs and is never "
            "answered counts with 0. Macro-F1 has no interval where a level, or in a mean a task, has so few rows that "
            "more than 5% of the resamples lack it."
        )
        small = [f"{task} ({sum(counts)})" for task, counts in rows["by_task"].items() if sum(counts) < SMALL_ROWS]
        if small:
            yield (
                f"Tasks with fewer than {SMALL_ROWS} rows count as much as the others in the mean over tasks: "
                f"{', '.join(small)}."
            )
    if report["experts"]:
        yield (
            "The sheets' items are drawn for a balance of levels, not at the rates at which risks occur: accuracy over "
            "them says nothing about a ward. Experts who gave the ratings also make the majority, so a single expert "
            "has an advantage over a model."
        )
    else:
        yield "The labels are the dataset's own; its card says who or what gave them."
