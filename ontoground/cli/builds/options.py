"""What the builders of text datasets share: their options, a bar for each source, and parts of what a person reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from typer import Option

from ground.errors import UsageError
from ontoground.cli.app import group_of
from ontoground.cli.options import Endpoint, EndpointModel, Force, InWorkspace, ModelConfig
from ontoground.cli.render import Blocks, number, table, unfolded
from ontoground.cli.text_options import OF_MODEL, ModelOptions, split_overrides

if TYPE_CHECKING:
    from builders.texts.sources import NamedTexts
    from ground.flow.manifest import LicenceTier

__all__ = ["FromTexts", "bars", "closest", "dropped_blocks", "group", "requests_in_words", "shortcut_blocks"]

group = group_of("build", ("medieval", "medhal", "medval"))


@dataclass(frozen=True, kw_only=True)
class FromTexts(InWorkspace):
    """Options of the verbs that build from texts; ``dataset`` is its table of settings, ``roles`` are models."""

    dataset: ClassVar[Literal["medhal", "medval"]]
    roles: ClassVar[tuple[str, ...]] = OF_MODEL

    texts: Annotated[
        list[str] | None,
        Option(
            metavar="DIR",
            help="Folder of the texts, with one folder a source (medqa, ...); or NAME=DIR:LAYOUT: a folder of yours in"
            " the layout of a source (may be repeated)",
        ),
    ] = None
    engine: Annotated[Literal["rules", "lm"], Option(help="Who writes and judges: rules, or a language model")] = (
        "rules"
    )
    splits: Annotated[
        Literal["train", "validation", "test", "all"] | None,
        Option(help="Splits of the sources to use; default: as in the settings", show_default=False),
    ] = None
    endpoint: Endpoint = None
    endpoint_model: EndpointModel = None
    config: ModelConfig = None
    overrides: Annotated[
        list[str] | None,
        Option(
            "--set", metavar="KEY=VALUE", help="Override a setting, as medhal.seed=7 or language_model.concurrency=4"
        ),
    ] = None
    force: Force = False

    @property
    def flags(self) -> list[str]:
        """What ``--set`` says of the dataset, and ``--splits``."""
        own, _ = split_overrides(self.overrides, self.roles)
        return own if self.splits is None else [*own, f"{self.dataset}.splits={self.splits}"]

    def check_rules(self) -> None:
        """Refuse a language model that is named for the engine rules."""
        if self.engine == "rules" and self.model.given:
            raise UsageError("the engine rules uses no language model", do="add --engine lm, or leave the models out")

    @property
    def named_texts(self) -> NamedTexts:
        """The folders of the texts."""
        from builders.texts.sources import named_texts

        return named_texts(self.texts or (), self.dataset)

    @property
    def model(self) -> ModelOptions:
        """The options that name language models."""
        _, overrides = split_overrides(self.overrides, self.roles)
        return ModelOptions(self.endpoint, self.endpoint_model, self.config, overrides)


def closest(*tiers: LicenceTier) -> LicenceTier:
    """Return the tier of what is made of these."""
    return "credentialed" if "credentialed" in tiers else "open"


@contextmanager
def bars(counted: str) -> Iterator[Callable[[str, int], None]]:
    """Yield a function that advances a progress bar: one bar for each source or task, one at a time."""
    from ground.progress import progress

    with ExitStack() as stack:
        open_bars: dict[str, Callable[[int], None]] = {}

        def advance(name: str, n: int) -> None:
            if name not in open_bars:
                stack.close()
                open_bars[name] = stack.enter_context(progress(f"{name}: {counted}", None))
            open_bars[name](n)

        yield advance


TELLS = {"told": "WARNING: yes", "held": "no", "too few": "too few rows to say"}


def shortcut_blocks(shortcuts: list[dict[str, Any]]) -> Blocks:
    """Yield a line for each group: whether a row's text alone predicts its label, with a warning where it does."""
    for group in dict.fromkeys(shortcut["group"] for shortcut in shortcuts):
        of_group = [shortcut for shortcut in shortcuts if shortcut["group"] == group]
        areas = ", ".join(
            f"{shortcut['reader']} {shortcut['auc']:.2f} ({shortcut['low']:.2f} to {shortcut['high']:.2f})"
            for shortcut in of_group
        )
        verdicts = {shortcut["verdict"] for shortcut in of_group}
        answer = next(words for verdict, words in TELLS.items() if verdict in verdicts)
        yield unfolded(f"does the text alone tell the label? {group}: {answer}; AUC (chance is 0.5) by {areas}")


def dropped_blocks(dropped: dict[str, int], most: int) -> Blocks:
    """Yield the most frequent reasons for leaving rows out, and how to take other splits."""
    from builders.texts.origin import OTHER_SPLIT

    if dropped:
        reasons = sorted(dropped.items(), key=lambda reason: (-reason[1], reason[0]))
        yield table(("left out, most frequent", "n"), reasons[:most])
        if others := sum(n for reason, n in reasons if reason.endswith(OTHER_SPLIT)):
            yield f"{number(others)} items stand in other splits of their sources; --splits all takes them too"


def requests_in_words(used: dict[str, Any]) -> str:
    """Return how many requests a language model was sent, in words."""
    return (
        f"{used['model']}: {number(used['requests'])} requests, {number(used['cached'])} from the cache,"
        f" {number(sum(used['failures'].values()))} without an answer"
    )
