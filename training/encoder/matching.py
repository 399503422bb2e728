"""What a context answers to each token of a statement: the best match over all tokens of all windows.

Late interaction by maximum similarity as in ColBERT (Khattab and Zaharia 2020, section 3.3), per layer, and for
the runs of neighbouring tokens that Conv-KNRM (Dai et al. 2018) found to matter: a name of three words is there when
three neighbours match three neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional

__all__ = ["RUNS", "Matches", "best_matches", "n_features"]

RUNS = (1, 2, 3)
"""Lengths of runs of neighbouring tokens that are matched."""
FARTHEST = 1e-3


@dataclass(frozen=True)
class Matches:
    """The best matches of one statement in one context.

    Attributes:
        features: similarity and the logarithm of the distance, for each layer and run. *Shape:* (t, n_features).
        places: for each layer the context token that matches best alone. *Shape:* (t, n_layers).
    """

    features: torch.Tensor
    places: torch.Tensor


def n_features(n_layers: int) -> int:
    """Return how many numbers describe the match of one token."""
    return 2 * n_layers * len(RUNS)


def _run_similarity(single: torch.Tensor, run: int) -> torch.Tensor:
    """Return for each token the best mean similarity of a run of neighbours that holds it.

    A run is a diagonal of the matrix; where the statement or the context ends, what lacks counts as no similarity.

    *Shapes:* (t, n) to (t,).
    """
    if run == 1:
        return single.amax(dim=1)
    t, n = single.shape
    padded = functional.pad(single, (0, run - 1, 0, run - 1))
    starting = torch.stack([padded[i : i + t, i : i + n] for i in range(run)]).mean(dim=0).amax(dim=1)
    # A token is in the runs that start at it and at the tokens before it.
    before = functional.pad(starting, (run - 1, 0))
    return torch.stack([before[i : i + t] for i in range(run)]).amax(dim=0)


def best_matches(statement: list[torch.Tensor], context: list[torch.Tensor]) -> Matches:
    """Match every token of a statement with every token of a context, layer by layer.

    Args:
        statement: unit vectors for each layer. *Shape:* (t, width) each.
        context: unit vectors of the tokens of all windows, one window after the other, for the same layers. A run may
            cross from a window's end to the next one's start, which repeats some tokens. *Shape:* (n, width) each.
    """
    features, places = [], []
    for left, right in zip(statement, context, strict=True):
        single = left @ right.T
        places.append(single.argmax(dim=1))
        best = torch.stack([_run_similarity(single, run) for run in RUNS], dim=1)
        features += [best, (1 - best).clamp(min=FARTHEST).log()]
    return Matches(torch.cat(features, dim=1), torch.stack(places, dim=1))
