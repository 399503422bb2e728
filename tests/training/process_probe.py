"""Run by torchrun: trains a classifier with each engine, in as many processes as there are."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.training.classifier.test_train import descent
from tests.training.worlds import small_dataset
from training.classifier.train import train_classifier

if __name__ == "__main__":
    base, out = sys.argv[1:]
    # 24 rows of training in steps of 20 and 4: the last step is one packed row.
    dataset = small_dataset(Path(base), admissions=3)
    train_classifier(dataset, base, Path(out) / "shared", descent())
    train_classifier(dataset, base, Path(out) / "plain", descent(), engine="plain")
