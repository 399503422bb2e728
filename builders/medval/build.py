"""Build MedVAL: inputs of every task through Algorithm S1, in bounded batches, into a dataset folder."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.cards import croissant_of, licence_of_sources
from builders.medval.algorithm import Triple, make_triples, triple_id
from builders.medval.card import DESCRIPTION, card_of
from builders.medval.counts import BuildReport, Counts, count_triples
from builders.medval.feeds import Engine, Feed, Plan
from builders.medval.items import Generator, Item, Peers, Validator
from builders.medval.rows import CHAT_SCHEMA, TRIPLE_SCHEMA, chat_table, data_rows, triple_table
from builders.shards import SPLITS, GroupWriter, ShardWriter, Split
from builders.texts.origin import DEFAULT_ENDS, OTHER_SPLIT, Seeds, Tally
from builders.texts.shortcuts import LabelledText, Shortcut, shortcuts_of
from ground.contracts.rows_text import MEDVAL_SCHEMA, RISK_LEVELS, MedvalTask, RiskLevel
from ground.errors import InputError
from ground.flow.executor import Executor, Serial
from ground.flow.executors import Processes
from ground.flow.manifest import LicenceTier, manifest_of, to_json
from ground.settings import MedvalSettings
from ground.stable import stable_hash
from ground.storage.files import atomic_directory, sha256_of, write_text

__all__ = ["DATASET", "Method", "build_medval", "peers_of"]

DATASET = "medval"
BATCH = 256
ROW_GROUP = 2_000
SLIGHT: RiskLevel = 2
PEERS = 500
"""References that edits take words from, of each task and source."""
OpenEngine = Callable[[Peers], tuple[Generator, Validator]]
"""Opens an engine that may take words from some references; for several processes it must be picklable, as a
``functools.partial`` of a module's function is."""


@dataclass(frozen=True)
class Method:
    """How the rows are made.

    Attributes:
        engine: ``rules`` or ``lm``.
        open_engine: opens the generator, which writes clean and perturbed outputs, and the validator that judges them.
        tier: of the dataset: that of the most closely held of its inputs and of what the engine puts into outputs.
        patient_seed: of the split of patients, the same as MediEval's.
        split_ends: of a thousand patients or documents (`BuildSettings.split_ends`).
        given_splits: of patients, that hold instead (`Seeds.given`).
        inputs: files that the engine reads beside the texts, for the manifest.
        models: what decides a language model's answers, by role; empty under the rules.
        usage: what the language models were asked, told after the last batch.
        workers: processes; more than one needs an ``open_engine`` that can be pickled. It changes no byte.
    """

    engine: Engine
    open_engine: OpenEngine
    tier: LicenceTier
    patient_seed: int
    split_ends: tuple[int, int] = DEFAULT_ENDS
    given_splits: Mapping[int, Split] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, Any]] = ()
    models: Mapping[str, Any] = field(default_factory=dict)
    usage: Callable[[], Mapping[str, Any]] = dict
    workers: int = 1


def build_medval(
    plan: Plan,
    folder: Path,
    settings: MedvalSettings,
    method: Method,
    advance: Callable[[str, int], None] = lambda _task, _inputs: None,
    batch: int = BATCH,
) -> BuildReport:
    """Write a dataset folder, whole or not at all; the same inputs and settings give the same bytes.

    Args:
        plan: the inputs.
        folder: the dataset's; one that is there is replaced.
        settings: what decides the rows.
        method: how they are made.
        advance: is told the task and the number of inputs that went through since the last call.
        batch: inputs that are worked on and held at once; it changes no byte.

    Raises:
        InputError: no triple was kept, or a source is not of its layout.
    """
    tallies = [Tally() for _ in plan.feeds]
    with atomic_directory(folder) as work:
        splits = _write_rows(work, plan, settings, method, _batches(plan.feeds, tallies, settings, batch), advance)
        counts = count_triples(work / "triples.parquet")
        dropped = _dropped(plan.feeds, tallies, counts)
        _require_rows(counts, dropped)
        shortcuts = shortcuts_of(_labelled_outputs(work / "data"))
        report = _report(folder, plan, settings, method, counts, splits, dropped, shortcuts)
        _write_papers(work, plan, settings, method, counts, report)
    return report


def _write_rows(
    folder: Path,
    plan: Plan,
    settings: MedvalSettings,
    method: Method,
    batches: Iterator[list[Item]],
    advance: Callable[[str, int], None],
) -> dict[str, int]:
    """Write rows, conversations and triples, and return the rows of each split."""
    licences = {(feed.task, feed.source.source): feed.licence for feed in plan.feeds}
    seeds = Seeds(settings.seed, method.patient_seed, method.split_ends, method.given_splits)
    engine = partial(method.open_engine, peers_of(plan.feeds, settings))
    workers: Executor = Serial() if method.workers == 1 else Processes(method.workers)
    with (
        ShardWriter(folder / "data", MEDVAL_SCHEMA) as data,
        ShardWriter(folder / "chat", CHAT_SCHEMA) as chat,
        GroupWriter(folder / "triples.parquet", TRIPLE_SCHEMA, ROW_GROUP) as audit,
    ):
        for triples in workers.in_order(engine, partial(_triples, settings), batches):
            item = triples[0].item
            rows = list(data_rows(triples, licences[item.task, item.origin.source], method.engine, seeds))
            data.write(pa.Table.from_pylist(rows, schema=MEDVAL_SCHEMA))
            chat.write(chat_table(rows))
            audit.write(triple_table(triples, seeds))
            advance(item.task, len(triples))
    return {split: data.rows[split] for split in SPLITS}


def _triples(settings: MedvalSettings, engine: tuple[Generator, Validator], items: Sequence[Item]) -> list[Triple]:
    return make_triples(items, *engine, settings)


def _batches(
    feeds: Sequence[Feed], tallies: Sequence[Tally], settings: MedvalSettings, size: int
) -> Iterator[list[Item]]:
    """Yield the inputs that are used, a batch of one feed: of the wanted splits, each text once, so many a task."""
    highest = _highest_hashes(feeds, settings)
    seen = _Seen()
    for feed, tally in zip(feeds, tallies, strict=True):
        items = _within(_wanted(feed, tally, settings, seen), highest.get(feed.task), tally, settings.seed)
        while group := list(islice(items, size)):
            yield group


def peers_of(feeds: Sequence[Feed], settings: MedvalSettings) -> Peers:
    """Return the items of the lowest hashes of each task and source, at most `PEERS`, in the order of their hashes."""
    wanted = ((feed, _wanted(feed, Tally(), settings, _Seen())) for feed in feeds)
    order = partial(_order, settings.seed)
    return {(feed.task, feed.source.source): heapq.nsmallest(PEERS, items, key=order) for feed, items in wanted}


def _within(items: Iterator[Item], highest: int | None, tally: Tally, seed: int) -> Iterator[Item]:
    for item in items:
        if highest is None or _order(seed, item) <= highest:
            yield item
        else:
            tally.drop(item.origin.source, "beyond_max_inputs")


def _wanted(feed: Feed, tally: Tally, settings: MedvalSettings, seen: _Seen) -> Iterator[Item]:
    for item in feed.items(tally):
        reason = OTHER_SPLIT if settings.splits not in ("all", item.origin.split) else seen.again(item)
        if reason is None:
            yield item
        else:
            tally.drop(item.origin.source, reason)


class _Seen:
    """Names and texts of the inputs that are used, as hashes."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._texts: set[bytes] = set()

    def again(self, item: Item) -> str | None:
        """Remember an input; return why it cannot be used where its name or its text was there before."""
        name, words = triple_id(item), " ".join(item.input.lower().split())
        text = hashlib.blake2b(f"{item.task}\n{words}".encode(), digest_size=16).digest()
        # A text that comes twice could fall into two splits; two rows of one id could not be told apart.
        if text in self._texts:
            return "same_input"
        if name in self._names:
            return "repeated_id"
        self._names.add(name)
        self._texts.add(text)
        return None


def _order(seed: int, item: Item) -> int:
    return stable_hash(seed, "medval input", item.origin.source, item.task, item.origin.inner_id)


def _highest_hashes(feeds: Sequence[Feed], settings: MedvalSettings) -> dict[MedvalTask, int]:
    """Return the highest hash that each task's inputs may have, so that the limit holds; nothing without a limit."""
    limit = settings.max_inputs_per_task
    if limit is None:
        return {}
    highest, seen = {}, _Seen()
    for task in dict.fromkeys(feed.task for feed in feeds):
        wanted = (_wanted(feed, Tally(), settings, seen) for feed in feeds if feed.task == task)
        hashes = (_order(settings.seed, item) for items in wanted for item in items)
        if lowest := heapq.nsmallest(limit, hashes):
            highest[task] = lowest[-1]
    return highest


def _labelled_outputs(folder: Path) -> Iterator[LabelledText]:
    """Yield what tells safe outputs (level 1) from unsafe ones (3 and 4), by task and source."""
    for file in sorted(folder.glob("*.parquet")):
        columns = ["task", "source", "triple_id", "output", "risk_level"]
        for row in pq.read_table(file, columns=columns).to_pylist():
            if row["risk_level"] != SLIGHT:
                group = f"{row['task']}, {row['source']}"
                yield LabelledText(group, row["triple_id"], row["output"], row["risk_level"] > SLIGHT)


def _dropped(feeds: Sequence[Feed], tallies: Sequence[Tally], counts: Counts) -> dict[str, int]:
    reasons: dict[str, int] = {}
    for feed, tally in zip(feeds, tallies, strict=True):
        for (source, reason), n in tally.dropped.items():
            reasons[f"{feed.task}, {source}: {reason}"] = n
    for task, source, reason, n in counts.refusals.iter_rows():
        reasons[f"{task}, {source}: {reason}"] = n
    return dict(sorted(reasons.items()))


def _require_rows(counts: Counts, dropped: Mapping[str, int]) -> None:
    if counts.kept:
        return
    most = sorted(dropped.items(), key=lambda pair: (-pair[1], pair[0]))[:3]
    raise InputError(
        "no triple was kept",
        found="; ".join(f"{reason} ({n})" for reason, n in most) or "no input in the sources",
        expected="inputs whose two outputs the validator judges as the generator meant them",
        do="use every split (--splits all) or other tasks; with --engine lm a lower --tau",
    )


def _report(
    folder: Path,
    plan: Plan,
    settings: MedvalSettings,
    method: Method,
    counts: Counts,
    splits: Mapping[str, int],
    dropped: Mapping[str, int],
    shortcuts: Sequence[Shortcut],
) -> BuildReport:
    return BuildReport(
        folder=str(folder),
        engine=method.engine,
        tau=None if method.engine == "rules" else settings.tau,
        rows=sum(splits.values()),
        splits=splits,
        inputs=counts.inputs,
        judged=counts.judged,
        kept=counts.kept,
        mean_consistency=_rounded(counts.mean_consistency()),
        tasks=[_task_counts(task, counts) for task in dict.fromkeys(feed.task for feed in plan.feeds)],
        left_out_tasks=[{"task": task, "reason": reason} for task, reason in plan.left_out],
        shortcuts=[shortcut.as_dict() for shortcut in shortcuts],
        dropped=dropped,
        language_models=method.usage(),
    )


def _task_counts(task: MedvalTask, counts: Counts) -> dict[str, Any]:
    rows = counts.by_level.filter(counts.by_level["task"] == task)
    inputs, judged, kept = (int(rows[name].sum()) for name in ("inputs", "judged", "kept"))
    by_level = {str(level): int(rows.filter(rows["level"] == level)["kept"].sum()) for level in RISK_LEVELS}
    return {
        "task": task,
        "inputs": inputs,
        "judged": judged,
        "kept": kept,
        "kept_share": _rounded(kept / judged if judged else None),
        "mean_consistency": _rounded(counts.mean_of(rows)),
        "kept_by_level": by_level,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _write_papers(
    folder: Path, plan: Plan, settings: MedvalSettings, method: Method, counts: Counts, report: BuildReport
) -> None:
    """Write card, croissant.json and manifest beside the data."""
    write_text(folder / "README.md", card_of(plan, settings, method.engine, method.tier, counts, report))
    licence = licence_of_sources(method.tier, {feed.source.name: feed.licence for feed in plan.feeds})
    files = {file.relative_to(folder).as_posix(): sha256_of(file) for file in sorted(folder.rglob("*.parquet"))}
    listed = [*method.inputs, *(entry for feed in plan.feeds for entry in feed.inputs)]
    manifest = manifest_of(
        DATASET,
        inputs=list({to_json(entry): entry for entry in listed}.values()),
        settings={
            **settings.model_dump(mode="json"),
            "tau": report.tau,
            "engine": method.engine,
            "tasks": list(dict.fromkeys(feed.task for feed in plan.feeds)),
            "sources": list(dict.fromkeys(feed.source.source for feed in plan.feeds)),
            "seed_of_patients": method.patient_seed,
            "split_ends": list(method.split_ends),
        },
        seed=settings.seed,
        kept={"rows": report.rows, "triples": counts.inputs, "files": files},
        dropped=report.dropped,
        tier=method.tier,
    )
    manifest["shortcuts"] = report.shortcuts
    described = croissant_of(manifest, DESCRIPTION, {"data": MEDVAL_SCHEMA}, licence)
    write_text(folder / "croissant.json", to_json(described))
    manifest["language_model"] = dict(method.models) or None
    write_text(folder / "manifest.json", to_json(manifest))
