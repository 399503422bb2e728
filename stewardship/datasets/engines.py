"""The auditor and the other road as engines of phases 1 and 2: one run a row each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

from ground import ROOT
from ground.contracts.labels import ABSTENTION
from ground.lm.cache import content_key
from ground.storage.files import sha256_of
from ground.storage.sqlfiles import sql_names, sql_text
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.adopt import dataset_of
from stewardship.datasets.auditor import audited
from stewardship.datasets.recompute import recomputed
from stewardship.runs.engines import Answer, Ask, Engine
from stewardship.second_road import readings
from stewardship.second_road.readings import DATA

__all__ = ["DatasetEngine"]

TABLES = ("assertion_cues.tsv", "reader_words.tsv")


class DatasetEngine(Engine):
    """Answers all rows of a benchmark of ours in one set-based pass; ``remark`` of a run says why."""

    shows = False
    alone = True
    """One run a row is all that it has to say: the same warehouse gives the same answer."""

    def __init__(self, name: Literal["evidence", "sql"], workspace: Path, benchmark: Benchmark) -> None:
        """Bind the auditor by evidence, or the recomputation by SQL, to the rows of a benchmark.

        Args:
            workspace: with the warehouse that the dataset was built from.

        Raises:
            InputError: the benchmark is none of our datasets, or the workspace has no warehouse.
        """
        self.name = name
        self._kind = dataset_of(benchmark)
        self._workspace = Workspace.existing(workspace)
        self._benchmark = benchmark

    def describe(self) -> dict[str, Any]:
        """Return what stands for the rules, the tables and the warehouse."""
        return {
            "engine": self.name,
            "dataset": self._kind,
            "rules": _digest(),
            "tiers": list(self._workspace.settings.build.truth_tiers),
            "warehouse": self._warehouse(),
        }

    def answers(self, asks: Iterator[Ask]) -> Iterator[Sequence[Answer]]:
        """Answer all that is asked at once."""
        asked = {ask.item.uid: ask for ask in asks}
        if not asked:
            return
        judge = audited if self.name == "evidence" else recomputed
        frame = judge(self._workspace.root, self._benchmark, uids=list(asked))
        yield [self._answer(asked[row["uid"]], row) for row in frame.iter_rows(named=True)]

    def _answer(self, ask: Ask, row: Mapping[str, Any]) -> Answer:
        answer = row["verdict"] if self.name == "evidence" else row["label"]
        words = row.get("remark") or row.get("why")
        if answer == ABSTENTION:
            # That this road cannot say does not make the label N/A: the row is deferred.
            return Answer(ask, self.name, reason=f"cannot say: {words}")
        return Answer(ask, self.name, answer, answer, failure_mode=row.get("failure_mode"), remark=words)

    def _warehouse(self) -> str:
        with closing(connect(self._workspace.warehouse, self._workspace.settings.run, read_only=True)) as connection:
            stages = connection.execute("select stage, fingerprint from ground.stage order by all").fetchall()
        return content_key({"stages": stages})


def _digest() -> str:
    scripts = {name: sql_text(name) for name in sql_names("stewardship")}
    folders = (Path(__file__).parent, Path(readings.__file__).parent)
    files = [*(file for folder in folders for file in folder.glob("*.py")), *(DATA / name for name in TABLES)]
    return content_key({**scripts, **{path.relative_to(ROOT).as_posix(): sha256_of(path) for path in files}})
