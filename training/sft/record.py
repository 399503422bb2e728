"""Versions of the software that a trained model depends on."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from ontoground import __version__

__all__ = ["software"]

PACKAGES = ("accelerate", "bitsandbytes", "peft", "tokenizers", "torch", "transformers", "trl")


def software() -> dict[str, str]:
    """Return the versions of ontoground, Python and the libraries that are installed."""
    found = {"ontoground": __version__, "python": python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
