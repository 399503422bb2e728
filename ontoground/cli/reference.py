"""Write the reference pages ``docs/cli.md`` and ``docs/settings.md`` from the code, so that they cannot drift.

Run ``python -m ontoground.cli.reference`` after a change of an option or a setting; a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.main import get_command

from ground import ROOT
from ground.settings import Settings
from ground.storage.files import write_text
from ontoground.cli import app

__all__ = ["DOCS", "VERBS", "cli_page", "settings_page"]

DOCS = ROOT / "docs"
WIDTH = 80
SETTING_COLUMNS = ("| key | default | meaning |", "| --- | --- | --- |")


def _verbs() -> tuple[tuple[str, ...], ...]:
    """Return every verb that the command line has, in the order in which its help lists them."""

    def below(command: Any, name: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        names = command.list_commands(None) if hasattr(command, "list_commands") else []
        for one in names:
            yield from below(command.commands[one], (*name, one))
        if not names:
            yield name

    return tuple(below(get_command(app), ()))


VERBS = _verbs()

CLI_INTRODUCTION = """# Command line

<!-- Written by `python -m ontoground.cli.reference` from the verbs themselves. -->

Every verb takes `--workspace DIR` (or `ONTOGROUND_WORKSPACE`; default `./work`, for the demo `./work/demo`), `--json`
and `--help`. Results go to standard output, progress and messages to standard error; a progress bar is shown on a
terminal only.

## Exit codes

| code | meaning |
| --- | --- |
| 0 | done |
| 1 | done, but a check found disagreements (`validate`, `demo`, `steward`) |
| 2 | wrong usage: an unknown verb, option, setting or query |
| 3 | bad input or missing data |
| 4 | refused by the privacy gate |
| 70 | an error of ontoground itself; it names its place and no data. `ONTOGROUND_DEBUG=1` shows the traceback |
| 130 | interrupted by Ctrl-C or SIGTERM: finished stages are kept, the same command goes on. Another ends at once |

## JSON

With `--json` a verb prints exactly one JSON object, which its schema in [schemas/](schemas/) describes; a failure
prints the object of [schemas/error.json](schemas/error.json) and ends with its exit code.

## Concepts by name

Where a verb takes a CUI it takes an exact name too (letter case and punctuation aside), as in
`ontoground graph show lisinopril`. A name that several concepts bear is refused with their list.

## Stages

A stage runs where it is missing or stale: other files were loaded, a setting that it reads changed, a stage before it
is stale, or ontoground itself changed. `build medieval` runs what it needs first; `--force` runs a stage again although
it is current. `status` shows the state of all.

## SQL

`ontoground sql` opens the warehouse read-only, allows one statement that reads, and shuts off other files and the
network. Beside the warehouse's tables there are the views `medieval` (every column of the built dataset) and
`medieval_statements`.

## Verbs
"""

SETTINGS_INTRODUCTION = """# Settings

<!-- Written by `python -m ontoground.cli.reference` from the settings themselves. -->

Settings are read from `ontoground.toml` in the workspace; `--set SECTION.KEY=VALUE` overrides one for one command. An
unknown key is an error that names the nearest known one. Nothing in `[run]` changes what is written.

```toml
[build]
seed = 7
truth_tiers = ["stated", "equivalent"]
```
"""

TRAINING_INTRODUCTION = """# Settings of training and evaluation

They are not in `ontoground.toml`: each `ontoground train` verb takes `--config FILE` and `--set KEY=VALUE`, for its own
keys. A dot is a table: `lora.r` is `r` below `[lora]`. What a file leaves out keeps the default of its column, which is
the paper's where the paper gives one. `ontoground train classifier` on an encoder has keys of its own (below).

```toml
epochs = 2
[optimizer]
learning_rate = 1e-4
```
"""


def cli_page() -> str:
    """Return the Markdown of ``docs/cli.md``: the introduction and the help of every verb."""
    verbs = [f"### ontoground {' '.join(verb)}\n\n```text\n{_help(verb)}\n```\n" for verb in VERBS]
    return "\n".join([CLI_INTRODUCTION, *verbs])


def _help(verb: tuple[str, ...]) -> str:
    command = get_command(app)
    context = command.make_context("ontoground", [], resilient_parsing=True, terminal_width=WIDTH)
    for name in verb:
        found = context.command.get_command(context, name)  # type: ignore[attr-defined]
        context = found.make_context(name, [], parent=context, resilient_parsing=True)
    return "\n".join(line.rstrip() for line in context.command.get_help(context).strip().splitlines())


def settings_page() -> str:
    """Return the Markdown of ``docs/settings.md``: each section's keys, defaults and meanings."""
    parts = [SETTINGS_INTRODUCTION]
    for name, field in Settings.model_fields.items():
        model = field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            parts.append(_section(f"[{name}]", model))
    return "\n".join([*parts, *_training_sections()])


def _training_sections() -> list[str]:
    from ground.lm.settings import LmSettings
    from training.classifier.zeroshot import ZeroshotSettings
    from training.encoder.settings import EncoderSettings
    from training.grpo.settings import GrpoSettings
    from training.runs.settings import ClassifierSettings, CorfuSettings, MedhalSettings, MedvalSettings
    from training.sft.generate import GenerationSettings
    from training.sft.zeroshot import AskedSettings

    kinds: dict[str, type[BaseModel]] = {
        "classifier": ClassifierSettings,
        "corfu": CorfuSettings,
        "medhal": MedhalSettings,
        "medval": MedvalSettings,
        "grpo": GrpoSettings,
    }
    return [
        TRAINING_INTRODUCTION,
        _compared(kinds),
        _section("`train classifier` on an encoder", EncoderSettings),
        _section("`evaluate`: [language_model]", LmSettings),
        _section("`evaluate quadrants`: [zeroshot]", ZeroshotSettings),
        _section("`evaluate medhal` and `medval`: [asked]", AskedSettings),
        _section("`evaluate medhal` and `medval`: answers of a fine-tuned run", GenerationSettings),
    ]


def _section(title: str, model: type[BaseModel]) -> str:
    rows = [_setting_row(key, one) for key, one in model.model_fields.items()]
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


def _setting_row(key: str, field: FieldInfo) -> str:
    default = "required" if field.is_required() else _toml(field.default)
    return f"| `{field.alias or key}` | `{default}` | {field.description} |"


def _toml(value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    write_text(DOCS / "cli.md", cli_page())
    write_text(DOCS / "settings.md", settings_page())
