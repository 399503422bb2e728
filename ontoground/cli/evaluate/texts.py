"""``ontoground evaluate medhal|medval``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ground.contracts.splits import Version
from ground.errors import UsageError
from ground.storage.files import sha256_of
from ontoground.cli.evaluate.options import UNDEFINED, Evaluated, few, group, interval, percent, place_blocks
from ontoground.cli.evaluate.rules import judged_split
from ontoground.cli.options import DatasetFolder, Result, verb
from ontoground.cli.render import Blocks, note, number, table
from ontoground.cli.runs import run_folder, run_settings, short_name

if TYPE_CHECKING:
    from evaluation.datasets import TextDataset
    from evaluation.foreign import ForeignTexts
    from ground.flow.manifest import LicenceTier

__all__ = ["medhal", "medval"]

Kind = Literal["medhal", "medval"]

PACKAGES = ("jinja2", "matplotlib", "rouge_score", "sacrebleu", "statsmodels", "torch", "transformers")
RUN_KEYS = ("name", "model", "seed", "kind", "rows", "outcomes", "share_unparseable", "overall", "confusion")
# Heads of the first table, which has values alone.
VALUES: Mapping[str, Mapping[str, str]] = {
    "medhal": {
        "non_factual_precision": "Prec.",
        "non_factual_recall": "Rec.",
        "non_factual_f1": "F1",
        "factual_precision": "P fact.",
        "factual_recall": "R fact.",
        "factual_f1": "F1 fact.",
        "accuracy": "Acc.",
    },
    "medval": {
        "unsafe_sensitivity": "Sens.",
        "unsafe_specificity": "Spec.",
        "unsafe_f1": "F1 unsafe",
        "safety_accuracy": "Acc.",
        **{f"f1_level_{level}": f"F1 {level}" for level in range(1, 5)},
    },
}
# Heads of the second: the headline with its interval, and what goes with it.
HEADLINE = {
    "medhal": ("F1 (95%)", "unreadable", "BLEU", "R1", "R2", "N"),
    "medval": ("macro-F1 over tasks (95%)", "all rows", "kappa", "unreadable"),
}
WORDS = {
    "medhal": "non-factual is what is to be found (P, R, F1 fact.: factual)",
    "medval": "unsafe is level 3 or 4; F1 1 to 4: of each level",
}


@dataclass(frozen=True, kw_only=True)
class Text(Evaluated):
    """Options of both verbs."""

    reference: DatasetFolder = None
    shots: Annotated[int | None, Option(min=0, max=1, metavar="0|1", help="Worked examples before each question")] = (
        None
    )
    texts: Annotated[
        str | None,
        Option(
            metavar="PATH[:LAYOUT[:open]]",
            help="Texts of other people in place of a dataset: pairs, medval_bench, medec, medec_corrected, nli, "
            "summary, verifact_bhc; open: any endpoint may read them; examples are of --reference",
        ),
    ] = None
    version: Annotated[
        Version,
        Option("--dataset-version", help="Rows of this version of MedHal (its Table 4)"),
    ] = "full"
    ensemble: Annotated[
        bool, Option("--ensemble", help="Add the majority of all runs; a tie goes to the more serious class")
    ] = False


@verb(
    group,
    "Detectors of non-factual statements against a dataset.",
    "ontoground evaluate medhal --model work/runs/RUN",
    "ontoground evaluate medhal --predictions a.csv --predictions b.csv",
    "ontoground evaluate medhal --endpoint http://127.0.0.1:8000/v1 \\",
    "    --endpoint-model Qwen3-8B --shots 1",
    "ontoground evaluate medhal --model work/runs/RUN --texts mli_test.jsonl:nli",
)
def medhal(options: Text) -> Result:
    """Evaluate detectors: precision, recall, F1, explanations, errors by task and length, comparisons, pictures.

    Labels are true (factual) and false; empty is an answer that could not be read, which counts as wrong.
    """
    return _evaluated("medhal", options)


@verb(
    group,
    "Validators of risk levels against a dataset and experts.",
    "ontoground evaluate medval --model work/runs/RUN",
    "ontoground evaluate medval --predictions a.csv --predictions b.csv \\",
    "    --ensemble --experts anna.xlsx --experts ben.xlsx",
    "ontoground evaluate medval --endpoint http://127.0.0.1:8000/v1 \\",
    "    --endpoint-model Qwen3-8B --shots 1",
    "ontoground evaluate medval --model work/runs/RUN --texts FILE:medval_bench",
)
def medval(
    options: Text,
    rules: Annotated[
        bool, Option("--rules", help="Ask the rules judge, which checks near-verbatim text; it needs the graph")
    ] = False,
    scores: Annotated[
        list[str] | None,
        Option(metavar="NAME=FILE", help="Another metric (id, score), to be correlated with the levels; repeatable"),
    ] = None,
    overlap: Annotated[
        bool, Option("--overlap", help="Correlate ROUGE and BLEU with the levels, too: of outputs and experts' own")
    ] = False,
    error_from: Annotated[
        int, Option(min=2, max=4, metavar="LEVEL", help="Level that means an error, where texts have no levels")
    ] = 3,
    experts: Annotated[
        list[Path] | None, Option(metavar="SHEET", help="Filled sheet of one expert (.xlsx, .csv); repeatable")
    ] = None,
    sheet_key: Annotated[
        Path | None, Option(metavar="FILE", help="Key of the sheets; default: the file beside them")
    ] = None,
) -> Result:
    """Evaluate validators: F1 by level and task, kappa, safe against unsafe, experts' agreement, non-inferiority.

    Labels are risk levels 1 to 4; empty is an answer that could not be read, which counts as wrong.
    """
    correlated = {"scores": dict(map(_named, scores or ())), "with_overlap": overlap}
    return _evaluated("medval", options, experts or (), sheet_key, rules=rules, error_from=error_from, **correlated)


def _evaluated(
    kind: Kind,
    options: Text,
    experts: Sequence[Path] = (),
    sheet_key: Path | None = None,
    *,
    rules: bool = False,
    error_from: int = 3,
    **correlated: Any,
) -> Result:
    options.require(*PACKAGES)
    from evaluation.datasets import TextDataset
    from evaluation.foreign import as_factuality
    from evaluation.report import evaluate_text
    from evaluation.sheets import read_sheets

    own = options.reference or options.workspace / "datasets" / kind
    foreign = _foreign(options, options.texts) if options.texts else None
    dataset = TextDataset.open(foreign.folder if foreign else own, kind, options.version)
    # Answers about other rows than those of the run's own dataset lie in a folder of their own.
    of = dataset.folder.name if foreign else f"{kind}-{options.version}" if options.version != "full" else None
    if sheet_key is not None and not experts:
        raise UsageError("--sheet-key without a sheet", expected="--experts SHEET too")
    graded = read_sheets(experts, sheet_key) if experts else None
    for line in graded.notes if graded else ():
        note(line)
    # Asked first: a refusal of the privacy gate comes before hours of work.
    answers = [_asked(options, dataset, own if foreign else None)] if options.asks else []
    answers += [judged_split(options, dataset, foreign=foreign is not None)] if rules else []
    answers += [_generated(options, dataset, model, of) for model in options.models or ()]
    about = (str(error_from),) if foreign else (options.version,) if of else ()
    scored = tuple(correlated.get("scores", {}).values())
    out = options.report_folder(dataset.folder, answers, *about, others=(*experts, *scored))
    files = [*(Path(prediction["file"]) for prediction in answers), *(options.predictions or ())]
    judged = foreign.kind(kind) if foreign else kind
    if graded and judged != kind:
        raise UsageError("--experts gives levels of risk, and these texts have none", do="leave --experts out")
    ratings = graded.ratings if graded else foreign.ratings if foreign and judged == "medval" else None
    if judged != kind:
        dataset = TextDataset.open(dataset.folder, judged)
        safe = dataset.folder.with_name(f"{dataset.folder.name}-safe")
        files = [as_factuality(file, safe / format(at), error_from) for at, file in enumerate(files)]
    report = evaluate_text(
        judged,
        dataset,
        files,
        out,
        split=options.split,
        missing=options.missing,
        with_ensemble=options.ensemble,
        ratings=ratings,
        **correlated,
    )
    rows = report["rows"]
    payload = options.payload(kind, report, answers, out) | {
        "reference": str(dataset.folder),
        **{name: rows[name] for name in ("rows", "clusters", "clusters_are", "classes")},
        "runs": [_run(prediction, rows["headline"]) for prediction in report["runs"]],
    }
    if kind == "medval":
        notes = graded.notes if graded else ()
        payload["experts"] = _experts(report["experts"], notes) if report["experts"] else None
    return Result(payload, partial(_blocks, kind=judged))


def _named(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise UsageError("--scores cannot be read", found=text, expected="NAME=FILE")
    return name, Path(file)


def _foreign(options: Text, named: str) -> ForeignTexts:
    """Read ``PATH[:LAYOUT[:open]]``."""
    from evaluation.foreign import LAYOUTS, write_texts
    from ground.storage.foreign import path_and_word

    path, is_open = path_and_word(named, ("open",))
    path, layout = path_and_word(path, LAYOUTS)
    tier: LicenceTier = "open" if is_open else "credentialed"
    layout, name = layout or "pairs", short_name(Path(path).name.partition(".")[0])
    texts = write_texts(Path(path), layout, run_folder(options.workspace, "texts", name, layout), tier)
    if texts.dropped:
        note("dropped: " + ", ".join(f"{reason} {n:,}" for reason, n in sorted(texts.dropped.items())))
    return texts


def _asked(options: Text, dataset: TextDataset, examples: Path | None) -> dict[str, Any]:
    """Ask about a split; ``examples`` is where worked ones are, if not in the dataset."""
    from evaluation.datasets import TextDataset
    from training.asking.detectors import AskedSettings, ask_dataset, method_of

    model, settings = options.language_model("asked", AskedSettings, split=options.split, shots=options.shots)
    method = method_of(settings)
    of = dataset.folder.name if examples else dataset.kind
    part = options.version if options.version != "full" else ""
    folder = run_folder(options.workspace, method.replace(" ", "-"), of, part, short_name(model.model))
    shown = TextDataset.open(examples, dataset.kind) if examples and settings.shots else None
    report = ask_dataset(dataset, model, settings, options.workspace, folder, examples_from=shown)
    note(f"{model.model}: {report.rows:,} rows asked, {100 * report.share_unparseable:.1f}% without a readable answer")
    return options.predicted(folder, model.model, method)


def _generated(options: Text, dataset: TextDataset, model: str, of: str | None) -> dict[str, Any]:
    """Answer the split with a fine-tuned run, or keep the answers that are there and still its own."""
    from training.runs.folder import RECORD, model_identity
    from training.runs.settings import GenerationSettings
    from training.sft.generate import generate

    record, name = Path(model) / RECORD, short_name(model)
    own = record.is_file() and of is None
    folder = record.parent if own else run_folder(options.workspace, "generate", of or dataset.kind, name)
    settings = run_settings(GenerationSettings, None, options.of_runs)
    identity = {
        "model": sha256_of(record) if record.is_file() else model_identity(model),
        "dataset": dataset.identity,
        "settings": settings.model_dump(mode="json"),
    }
    rows: dict[str, Any] = {"split": options.split, "version": dataset.version}
    answer = partial(generate, dataset.kind, dataset.folder, model, settings=settings, **rows)
    state = options.kept(folder, identity, answer)
    note(f"{name}: predictions {state}")
    return options.predicted(folder, name, "generation", state)


def _run(run: Mapping[str, Any], headline: str) -> dict[str, Any]:
    own = "explanation" if "explanation" in run else "over_tasks"
    by_task = {task: scores[headline] for task, scores in run["by_task"].items()}
    return {**{name: run[name] for name in RUN_KEYS}, own: run[own], "f1_by_task": by_task}


def _experts(experts: Mapping[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    names = ("items", "items_with_several", "raters", "non_inferiority")
    agreement = {name: alpha["overall"] for name, alpha in experts["agreement"].items()}
    return {**{name: experts[name] for name in names}, "krippendorff_alpha": agreement, "notes": list(notes)}


def _blocks(payload: dict[str, Any], kind: Kind) -> Blocks:
    clusters = f"{number(payload['clusters'])} {payload['clusters_are']}"
    alone = few(payload["clusters"], payload["clusters_are"])
    yield f"{number(payload['rows'])} rows of {clusters} ({payload['split']}), in percent{alone}; {WORDS[kind]}"
    if runs := payload["runs"]:
        rows = [(run["name"], *(percent(run["overall"][name]) for name in VALUES[kind])) for run in runs]
        yield table(("run", *VALUES[kind].values()), rows)
        rows = [(run["name"], *(_detector if kind == "medhal" else _validator)(run)) for run in runs]
        yield table(("run", *HEADLINE[kind]), rows)
    if payload.get("experts"):
        yield from _expert_blocks(payload["experts"])
    yield from place_blocks(payload["report"])


def _detector(run: Mapping[str, Any]) -> tuple[Any, ...]:
    explanation = run["explanation"]
    scores = (_coefficient(explanation[name]) for name in ("bleu", "rouge1", "rouge2"))
    return interval(run["overall"]["non_factual_f1"]), percent(run["share_unparseable"]), *scores, explanation["n"]


def _validator(run: Mapping[str, Any]) -> tuple[Any, ...]:
    f1, kappa = percent(run["overall"]["macro_f1"]), _coefficient(run["overall"]["kappa_linear"])
    return interval(run["over_tasks"]["all"]), f1, kappa, percent(run["share_unparseable"])


def _coefficient(estimate: Mapping[str, Any]) -> str:
    return UNDEFINED if estimate["value"] is None else f"{estimate['value']:.2f}"


def _expert_blocks(experts: Mapping[str, Any]) -> Blocks:
    four, two = (_coefficient(experts["krippendorff_alpha"][name]) for name in ("four_levels", "safe_unsafe"))
    raters = len(experts["raters"])
    yield (
        f"experts: {raters} rater{'' if raters == 1 else 's'}, {number(experts['items'])} items, of which "
        f"{number(experts['items_with_several'])} with several ratings"
    )
    yield f"Krippendorff's alpha: {four} over four levels, {two} for safe or unsafe"
    if tested := [run for run in experts["non_inferiority"] if run["difference"]]:
        rows = []
        for run in tested:
            verdict = "not inferior" if run["non_inferior"] else "not shown"
            rows.append((run["name"], interval(run["difference"]), f"{100 * run['lower_bound']:.1f}", verdict))
        heads = ("run", "difference (95%)", "lower bound", f"margin {100 * tested[0]['margin']:g}")
        yield table(heads, rows, title="macro-F1 minus a single expert's, in points")
