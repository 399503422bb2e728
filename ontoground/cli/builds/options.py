"""What the builders of text datasets share: their options, a bar for each source, and parts of what a person reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from ontoground.cli.app import group_of
from ontoground.cli.options import Force, InWorkspace
from ontoground.cli.render import number, table
from ontoground.cli.text_options import OF_MODEL, ModelOptions, split_overrides

if TYPE_CHECKING:
    from rich.console import Console

    from builders.texts.sources import NamedTexts
    from ground.flow.manifest import LicenceTier

__all__ = ["FromTexts", "bars", "closest", "group", "paint_dropped", "paint_shortcuts", "requests_in_words"]

group = group_of("build", ("medieval", "medhal", "medval"))


@dataclass(frozen=True, kw_only=True)
class FromTexts(InWorkspace):
    """Options of the verbs that build from texts; ``dataset`` is its table of settings, ``roles`` are models."""

    dataset: ClassVar[Literal["medhal", "medval"]]
    roles: ClassVar[tuple[str, ...]] = OF_MODEL

    texts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the texts, with one folder a source (medqa, ...); or NAME=DIR:LAYOUT: a folder of yours in"
            " the layout of a source (may be repeated)",
        ),
    ] = None
    engine: Annotated[
        Literal["rules", "lm"], typer.Option(help="Who writes and judges: rules, or a language model")
    ] = "rules"
    splits: Annotated[
        Literal["train", "validation", "test", "all"] | None,
        typer.Option(help="Splits of the sources to use; default: as in the settings", show_default=False),
    ] = None
    endpoint: Annotated[str | None, typer.Option(metavar="URL", help="OpenAI-compatible server of the engine lm")] = (
        None
    )
    endpoint_model: Annotated[str | None, typer.Option(metavar="NAME", help="The server's name of its model")] = None
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="TOML file with [language_model] settings")
    ] = None
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Override a setting, as medhal.seed=7 or language_model.concurrency=4"
        ),
    ] = None
    force: Force = False

    @property
    def flags(self) -> list[str]:
        """What ``--set`` says of the dataset, and ``--splits``."""
        own, _ = split_overrides(self.overrides, self.roles)
        return own if self.splits is None else [*own, f"{self.dataset}.splits={self.splits}"]

    @property
    def named_texts(self) -> NamedTexts:
        """Where texts lie."""
        from builders.texts.sources import named_texts

        return named_texts(self.texts or (), self.dataset)

    @property
    def model(self) -> ModelOptions:
        """What is said of language models."""
        _, overrides = split_overrides(self.overrides, self.roles)
        return ModelOptions(self.endpoint, self.endpoint_model, self.config, overrides)


def closest(*tiers: LicenceTier) -> LicenceTier:
    """Return the tier of what is made of these."""
    return "credentialed" if "credentialed" in tiers else "open"


@contextmanager
def bars(counted: str) -> Iterator[Callable[[str, int], None]]:
    """Yield what moves a bar on: one bar a source or a task, one at a time."""
    from ground.progress import progress

    with ExitStack() as stack:
        shown: dict[str, Callable[[int], None]] = {}

        def advance(name: str, n: int) -> None:
            if name not in shown:
                stack.close()
                shown[name] = stack.enter_context(progress(f"{name}: {counted}", None))
            shown[name](n)

        yield advance


def paint_shortcuts(out: Console, shortcuts: list[dict[str, Any]]) -> None:
    """Print what a row's text alone tells of its label, a line for each group, and a warning where it does."""
    for group in dict.fromkeys(one["group"] for one in shortcuts):
        found = [one for one in shortcuts if one["group"] == group]
        areas = ", ".join(f"{one['reader']} {one['auc']:.2f} ({one['low']:.2f} to {one['high']:.2f})" for one in found)
        verdicts = {one["verdict"] for one in found}
        verdict = "WARNING, told" if "told" in verdicts else verdicts.pop()
        out.print(f"from the text alone, {group}: {areas}; {verdict}", soft_wrap=True)


def paint_dropped(out: Console, dropped: dict[str, int], shown: int) -> None:
    """Print the commonest reasons for which something was left out, and how other splits are taken."""
    from builders.texts.origin import OTHER_SPLIT

    if dropped:
        reasons = sorted(dropped.items(), key=lambda one: (-one[1], one[0]))
        out.print()
        out.print(table(("left out, most frequent", "n"), reasons[:shown]))
        if others := sum(n for reason, n in reasons if reason.endswith(OTHER_SPLIT)):
            out.print(f"{number(others)} items stand in other splits of their sources; --splits all takes them too")


def requests_in_words(used: dict[str, Any]) -> str:
    """Return what a language model was asked."""

    return (
        f"{used['model']}: {number(used['requests'])} requests, {number(used['cached'])} from the cache,"
        f" {number(sum(used['failures'].values()))} without an answer"
    )
