"""Runs as the verbs see them: their folders, their settings from a file and from flags, and what must be installed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ground.errors import UsageError

if TYPE_CHECKING:
    from ground.settings import Section

__all__ = [
    "SettingsModel",
    "merged",
    "model_overrides",
    "parsed_override",
    "require_packages",
    "run_folder",
    "run_settings",
    "short_name",
]

SettingsModel = TypeVar("SettingsModel", bound="Section")


def require_packages(*packages: str, extra: str = "training") -> None:
    """Refuse where an optional package is not installed, and say how it is."""
    if missing := [package for package in packages if find_spec(package) is None]:
        raise UsageError(
            "packages of this verb are not installed",
            found=f"no {', '.join(missing)}",
            expected=f"the extra `{extra}`",
            do=f"pip install 'ontoground[{extra}]' (in a checkout: make setup EXTRAS=dev,{extra})",
        )


def short_name(model: str) -> str:
    """Return a model's name for a folder: without its organisation or path."""
    name = Path(model).resolve().name if Path(model).is_dir() else model.rstrip("/").rpartition("/")[2]
    return re.sub(r"[^\w.-]+", "-", name) or "model"


def run_folder(workspace: Path, *parts: str) -> Path:
    """Return the default folder of a run, such as ``runs/classifier-Qwen3-8B-seed42``."""
    return workspace / "runs" / "-".join(part for part in parts if part)


def run_settings(model: type[SettingsModel], config: Path | None, overrides: Iterable[str] = ()) -> SettingsModel:
    """Return settings: the defaults, a TOML file over them, and ``KEY=VALUE`` flags over that.

    A table is merged key by key: a file that sets ``lora.r`` alone keeps the other defaults of this kind of run.

    Raises:
        UsageError: a file that is not there or no TOML, an unknown key (the nearest known one is named), a wrong value.
    """
    from ground.settings import parse_settings, read_toml

    required = any(field.is_required() for field in model.model_fields.values())
    values = {} if required else model().model_dump(by_alias=True)
    if config is not None:
        values = merged(values, read_toml(config))
        parse_settings(model, values, config)
    for override in overrides:
        values = merged(values, parsed_override(override))
    return parse_settings(model, values, "--set" if overrides else config or "settings")


def model_overrides(endpoint: str | None, model: str | None) -> list[str]:
    """Return what ``--endpoint`` and ``--endpoint-model`` set, as overrides of ``[language_model]``."""
    given = {"endpoint": endpoint, "model": model}
    return [f"language_model.{key}={json.dumps(value)}" for key, value in given.items() if value is not None]


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with those ``above`` in place of those ``below``; tables are merged key by key."""
    values = dict(below)
    for key, value in above.items():
        old = values.get(key)
        values[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return values


def parsed_override(
    override: str, expected: str = "KEY=VALUE, as seed=7", *, most: int | None = None
) -> dict[str, Any]:
    """Read ``lora.r=8`` as tables in tables; a bare word stands for itself, so that the shell needs no second quotes.

    With ``most`` the name has so many parts: dots behind the last belong to the key.
    """
    key, equals, text = override.partition("=")
    names = key.strip().split(".", most - 1 if most else -1)
    if not (equals and all(names)) or (most and len(names) < most):
        raise UsageError("--set does not name a setting", found=override, expected=expected)
    value: Any
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    for name in reversed(names):
        value = {name: value}
    return dict(value)
