"""``ontoground train classifier|corfu|medhal|medval|ablation|grpo``."""

from ontoground.cli.train import ablation, classifier, corfu, grpo, texts

__all__ = ["ablation", "classifier", "corfu", "grpo", "texts"]
