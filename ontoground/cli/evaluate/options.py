"""What the verbs of ``ontoground evaluate`` share: options, predictions that are kept, where a report lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ground import __version__
from ground.stable import stable_hash
from ground.storage.files import private_directory, sha256_of, write_text
from ontoground.cli.app import group_of
from ontoground.cli.options import Endpoint, EndpointModel, InWorkspace
from ontoground.cli.render import Blocks, relative, unfolded
from ontoground.cli.runs import require_packages, run_folder, short_name
from ontoground.cli.text_options import ModelOptions

if TYPE_CHECKING:
    from ground.lm.settings import LmSettings
    from ground.settings import Section

__all__ = ["UNDEFINED", "Evaluated", "Split", "few", "group", "interval", "percent", "place_blocks"]

group = group_of("evaluate", ("quadrants", "medhal", "medval", "sheets"))

UNDEFINED = "–"

Split = Annotated[Literal["test", "validation"], Option(help="Which rows")]


@dataclass(frozen=True, kw_only=True)
class Evaluated(InWorkspace):
    """Options of the verbs that evaluate models."""

    models: Annotated[
        list[str] | None, Option("--model", metavar="RUN", help="Run folder, a folder of runs, or a model; repeatable")
    ] = None
    predictions: Annotated[
        list[Path] | None, Option(metavar="FILE", help="Predictions file (Parquet, CSV, JSONL); repeatable")
    ] = None
    split: Split = "test"
    missing: Annotated[
        Literal["refuse", "wrong", "leave_out"],
        Option(help="Rows without a prediction: refuse, count as wrong, or leave out for all runs"),
    ] = "refuse"
    endpoint: Endpoint = None
    endpoint_model: EndpointModel = None
    config: Annotated[
        Path | None, Option(metavar="FILE", help="TOML file with [language_model], and [zeroshot] or [asked]")
    ] = None
    overrides: Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="Override a setting of the language model or of the runs' answers"),
    ] = None
    out: Annotated[
        Path | None, Option(metavar="DIR", help="Folder of the report; default for one run: its report/")
    ] = None

    @property
    def asks(self) -> bool:
        """Whether a language model is asked."""
        return self.endpoint is not None or self.endpoint_model is not None or self.config is not None

    @property
    def of_runs(self) -> list[str]:
        """The overrides that are not the language model's."""
        return [] if self.asks else self.overrides or []

    def require(self, *packages: str) -> None:
        """Refuse where a package is not installed that is needed, or the one that asks language models."""
        require_packages(*packages)
        if self.asks:
            require_packages("openai", extra="lm")

    def language_model(self, table: str, own: type[Section], **given: object) -> tuple[LmSettings, Any]:
        """Return the language model that is asked, and the settings of the asking, from a table beside its own."""
        from ground.lm.settings import LmSettings

        asked = ModelOptions(self.endpoint, self.endpoint_model, self.config, tuple(self.overrides or ()))
        more = [f"{table}.{key}={value}" for key, value in given.items() if value is not None]
        tables: dict[str, Any] = {"language_model": (LmSettings, ...), table: (own, own())}
        settings = asked.settings(*more, **tables)
        return settings.language_model, getattr(settings, table)

    def kept(self, folder: Path, identity: dict[str, Any], write: Callable[[Path], object]) -> str:
        """Write predictions (``made``), or keep those that are there and of the same model and data (``reused``)."""
        file = folder / f"predictions-{self.split}.parquet"
        stated = file.with_suffix(".json")
        identity = identity | {"split": self.split, "ontoground": __version__}
        if stated.is_file() and file.is_file():
            before = json.loads(stated.read_text(encoding="utf-8"))
            if before == identity | {"predictions_sha256": sha256_of(file)}:
                return "reused"
        private_directory(folder)
        write(file)
        write_text(stated, json.dumps(identity | {"predictions_sha256": sha256_of(file)}, indent=2) + "\n")
        return "made"

    def predicted(self, folder: Path, model: str, method: str, state: str = "made", **more: object) -> dict[str, Any]:
        """Return the payload's entry about the predictions in a folder."""
        file = str(folder / f"predictions-{self.split}.parquet")
        return {"model": model, "method": method, "folder": str(folder), "file": file, "state": state, **more}

    def report_folder(
        self, dataset: Path, sources: Sequence[Mapping[str, Any]], *about: str, others: Sequence[Path] = ()
    ) -> Path:
        """Return where the report goes: into the one run that is evaluated, else into a folder of its own.

        That folder is named after what is evaluated, by the bytes of the files, so that no evaluation takes another's
        place; the same one again has the same folder.

        Args:
            dataset: its folder.
            sources: predictions that the verb made or kept, as `predicted` says.
            about: what else decides the report.
            others: what is read beside predictions, such as experts' sheets.
        """
        if self.out is not None:
            return self.out
        usual = "report" if self.split == "test" else f"report-{self.split}"
        rules = any(source["method"] == "rules" for source in sources)
        alone = len(self.models or ()) + self.asks == 1 and not self.predictions and not others and not rules
        files = sorted({*(Path(source["file"]) for source in sources), *(self.predictions or ()), *others})
        read = [sha256_of(file) if file.is_file() else "" for file in files]
        known = format(stable_hash(0, str(dataset.resolve()), self.missing, *about, *read) & 0xFFFFFFFF, "08x")
        if alone:
            # The runs of one folder (seeds, lambdas) have one report.
            run = Path(sources[0]["folder"]) if len(sources) == 1 else Path((self.models or [""])[0])
            foreign = any(source.get("trained_on_another_dataset") for source in sources)
            return run / (f"{usual}-{short_name(str(dataset))}-{known}" if foreign else usual)
        named = files[0].stem if len(files) == 1 else f"{len(files)}-files" if files else "baselines"
        return run_folder(self.workspace, "evaluation", short_name(str(dataset)), self.split, short_name(named), known)

    def payload(self, verb: str, report: Mapping[str, Any], sources: list[dict[str, Any]], out: Path) -> dict[str, Any]:
        """Return what the payloads of all these verbs have, of a report that lies in ``out``."""
        return {
            "verb": f"evaluate {verb}",
            "workspace": str(self.workspace),
            "split": self.split,
            "rows_left_out": report["dataset"]["rows_left_out"],
            "predictions": sources,
            "report": {
                "folder": str(out),
                "json": str(out / "report.json"),
                "markdown": str(out / "report.md"),
                "figures": [str(path) for path in sorted((out / "figures").glob("*.png"))],
            },
        }


def place_blocks(report: Mapping[str, Any]) -> Blocks:
    """Yield where a report lies."""
    yield unfolded(f"report    {relative(Path(report['markdown']))}")
    yield unfolded(f"numbers   {relative(Path(report['json']))}")
    yield unfolded(f"pictures  {relative(Path(report['folder']) / 'figures')}")


def few(n: int, what: str) -> str:
    """Return words that say that there are too few patients, or other clusters, for an interval; else nothing."""
    from ground.resampling import FEWEST_CLUSTERS

    return f" without an interval (fewer than {FEWEST_CLUSTERS} {what})" if n < FEWEST_CLUSTERS else ""


def percent(estimate: Mapping[str, Any]) -> str:
    """Write a share in percent, five characters wide so that points stand below each other."""
    return f"{UNDEFINED if estimate['value'] is None else format(100 * estimate['value'], '.1f'):>5}"


def interval(estimate: Mapping[str, Any], to: str = " to ") -> str:
    """Write a share in percent with its interval, where it has one."""
    if estimate["low"] is None or estimate["high"] is None:
        return percent(estimate)
    return f"{percent(estimate)} ({100 * estimate['low']:.1f}{to}{100 * estimate['high']:.1f})"
