"""Write what ``docs/cli.md``, ``settings.md`` and ``columns.md`` take from the code, so that it cannot drift.

Run ``python -m ontoground.cli.reference`` after a change of an option or a setting; a test compares. The pages' own
words stand in the pages, before the marks behind which the code speaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ground import ROOT
from ground.contracts.dictionary import described_tables
from ground.settings import Settings
from ground.storage.files import write_text
from ontoground.cli.app import whole

__all__ = ["DOCS", "VERBS", "cli_page", "columns_page", "settings_page"]

DOCS = ROOT / "docs"
WIDTH = 80
SETTING_COLUMNS = ("| key | default | meaning |", "| --- | --- | --- |")


MARK = "<!-- Written by `python -m ontoground.cli.reference` from the code, to the end or the next title. -->\n"


def _verbs_below(command: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the verbs of a command, in the order in which its help lists them."""
    if not hasattr(command, "list_commands"):
        yield name
        return
    for below in command.list_commands(None):
        yield from _verbs_below(command.commands[below], (*name, below))


VERBS = tuple(_verbs_below(whole()))


def cli_page() -> str:
    """Return the Markdown of ``docs/cli.md``: its own words, and the help of every verb."""
    own, _ = (DOCS / "cli.md").read_text(encoding="utf-8").split(MARK)
    verbs = [f"### ontoground {' '.join(verb)}\n\n```text\n{_help(verb)}\n```\n" for verb in VERBS]
    return "\n".join([own + MARK, *verbs])


def _help(verb: tuple[str, ...]) -> str:
    command = whole()
    context = command.make_context("ontoground", [], resilient_parsing=True, terminal_width=WIDTH)
    for name in verb:
        inner = context.command.get_command(context, name)  # type: ignore[attr-defined]
        context = inner.make_context(name, [], parent=context, resilient_parsing=True)
    return "\n".join(line.rstrip() for line in context.command.get_help(context).strip().splitlines())


def settings_page() -> str:
    """Return the Markdown of ``docs/settings.md``: its own words, and keys, defaults and meanings of each section."""
    from ground.lm.settings import LmSettings
    from training.asking.detectors import AskedSettings
    from training.asking.quadrants import ZeroshotSettings
    from training.runs.settings import (
        ClassifierSettings,
        CorfuSettings,
        EncoderSettings,
        GenerationSettings,
        GrpoSettings,
        MedhalSettings,
        MedvalSettings,
    )

    own, between, _ = (DOCS / "settings.md").read_text(encoding="utf-8").split(MARK)
    models = {f"[{name}]": field.annotation for name, field in Settings.model_fields.items()}
    return "\n".join(
        [
            own + MARK,
            *(_section(title, model) for title, model in models.items() if isinstance(model, type)),
            between[between.index("# Settings of training") :] + MARK,
            _compared(
                {
                    "classifier": ClassifierSettings,
                    "corfu": CorfuSettings,
                    "medhal": MedhalSettings,
                    "medval": MedvalSettings,
                    "grpo": GrpoSettings,
                }
            ),
            _section("`train classifier` on an encoder", EncoderSettings),
            _section("`evaluate`: [language_model]", LmSettings),
            _section("`evaluate quadrants`: [zeroshot]", ZeroshotSettings),
            _section("`evaluate medhal` and `medval`: [asked]", AskedSettings),
            _section("`evaluate medhal` and `medval`: answers of a fine-tuned run", GenerationSettings),
        ]
    )


def columns_page() -> str:
    """Return the Markdown of ``docs/columns.md``: what each column of each dataset and of ``ground`` means."""
    own, _ = (DOCS / "columns.md").read_text(encoding="utf-8").split(MARK)
    parts = []
    for table, columns in described_tables().items():
        rows = [f"| `{name}` | {meaning} |" for name, meaning in columns.items()]
        parts.append("\n".join([f"## {table}", "", "| column | meaning |", "| --- | --- |", *rows]) + "\n")
    return "\n".join([own + MARK, *parts])


def _section(title: str, model: type[BaseModel]) -> str:
    rows = [row for key, field in model.model_fields.items() for row in _setting_rows(key, field)]
    return "\n".join([f"## {title}", "", (model.__doc__ or "").strip(), "", *SETTING_COLUMNS, *rows]) + "\n"


def _compared(kinds: dict[str, type[BaseModel]]) -> str:
    """Return one table of what all kinds of run are set by: the same key has another default in another paper."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for kind, model in kinds.items():
        for key, field in _leaves(model()):
            rows.setdefault((key, str(field[0])), {})[kind] = f"`{_toml(field[1])}`"
    lines = [f"| key | {' | '.join(kinds)} | meaning |", "| --- " * (len(kinds) + 2) + "|"]
    for (key, meaning), defaults in sorted(rows.items(), key=lambda row: ("." in row[0][0], row[0][0])):
        cells = " | ".join(defaults.get(kind, "") for kind in kinds)
        lines.append(f"| `{key}` | {cells} | {meaning} |")
    return "\n".join(lines) + "\n"


def _leaves(settings: BaseModel, above: str = "") -> Iterator[tuple[str, tuple[str | None, object]]]:
    """Yield key, meaning and default of every setting; tables are walked into, with their owner's defaults."""
    for name, field in type(settings).model_fields.items():
        key, value = above + (field.alias or name), getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from _leaves(value, f"{key}.")
        else:
            yield key, (field.description, value)


def _setting_rows(key: str, field: FieldInfo) -> Iterator[str]:
    key = field.alias or key
    if isinstance(field.default, BaseModel):
        for name, (meaning, default) in _leaves(field.default, f"{key}."):
            yield f"| `{name}` | `{_toml(default)}` | {meaning} |"
    else:
        yield f"| `{key}` | `{'required' if field.is_required() else _toml(field.default)}` | {field.description} |"


def _toml(value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    write_text(DOCS / "cli.md", cli_page())
    write_text(DOCS / "settings.md", settings_page())
    write_text(DOCS / "columns.md", columns_page())
