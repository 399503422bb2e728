"""How verbs name the language models that they ask: by flags, by a file, by overrides ``TABLE.KEY=VALUE``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import UsageError
from ontoground.cli.runs import model_overrides, require_packages, run_settings

if TYPE_CHECKING:
    from ground.lm.client import LanguageModel
    from ground.lm.settings import LmSettings

__all__ = ["OF_MODEL", "ModelOptions", "described_model", "language_model_settings", "split_overrides"]

OF_MODEL = ("language_model",)
"""Tables of overrides that are the language model's, not those of ``ontoground.toml``."""


@dataclass(frozen=True)
class ModelOptions:
    """What was said of the language models."""

    endpoint: str | None = None
    endpoint_model: str | None = None
    config: Path | None = None
    overrides: tuple[str, ...] = ()

    @property
    def given(self) -> bool:
        """Whether anything of it was said."""
        return self != ModelOptions()

    def settings(self, *more: str, do: str | None = None, **tables: Any) -> Any:
        """Return the settings of these tables, each a type and its default as pydantic takes them.

        Args:
            more: overrides that options of their own give.
            do: what else the user may do than name a model.
            tables: by name.

        Raises:
            UsageError: no language model is named, or a setting is unknown or wrong.
        """
        from pydantic import create_model

        from ground.settings import Section

        require_packages("openai", extra="lm")
        if self.endpoint_model is None and self.config is None and not self.overrides:
            expected = "--endpoint URL --endpoint-model NAME, or --config FILE with a table [language_model]"
            raise UsageError("no language model is named", expected=expected, do=do)
        overrides = [*self.overrides, *more, *model_overrides(self.endpoint, self.endpoint_model)]
        return run_settings(create_model("Asked", __base__=Section, **tables), self.config, overrides)


def split_overrides(
    overrides: Sequence[str] | None, tables: Sequence[str] = OF_MODEL
) -> tuple[list[str], tuple[str, ...]]:
    """Return overrides of ``ontoground.toml`` and those of the language models (``TABLE.KEY=VALUE``)."""
    given = list(overrides or ())
    of_model = tuple(override for override in given if override.partition(".")[0].strip() in tables)
    return [override for override in given if override not in of_model], of_model


def language_model_settings(options: ModelOptions, roles: Sequence[str] = OF_MODEL) -> dict[str, LmSettings]:
    """Return the settings of the language models by role; the first role must be named, the others may be.

    Raises:
        UsageError: none is named, or a setting is unknown or wrong.
    """
    from ground.lm.settings import LmSettings

    tables: dict[str, Any] = dict.fromkeys(roles, (LmSettings | None, None)) | {roles[0]: (LmSettings, ...)}
    asked = options.settings(**tables)
    return {role: settings for role in roles if (settings := getattr(asked, role)) is not None}


def described_model(model: LanguageModel) -> dict[str, Any]:
    """Return what decides the answers, and why a host may have credentialed text where one may; no address."""
    allowed = model.settings.model_dump(mode="json", include={"allow_remote_credentialed", "allow_remote_reason"})
    return {**model.describe(), **{name: value for name, value in allowed.items() if value}}
