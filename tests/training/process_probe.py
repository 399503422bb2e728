"""Run by torchrun: trains a classifier, in as many processes as there are; the folders are the arguments."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.training.test_classifier import descent
from tests.training.worlds import small_dataset
from training.classifier import train_classifier

if __name__ == "__main__":
    base, out, engine = sys.argv[1:]
    # 24 rows of training in steps of 20 and 4: the last step's rows of one admission make one packed row.
    dataset = small_dataset(Path(base), admissions=3)
    train_classifier(dataset, base, Path(out), descent(), engine="plain" if engine == "plain" else "shared")
