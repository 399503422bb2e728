"""``ontoground train classifier|corfu|medhal|medval|grpo``."""

from ontoground.cli.train import classifier, corfu, grpo, texts

__all__ = ["classifier", "corfu", "grpo", "texts"]
