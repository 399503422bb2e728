"""The late engine: contexts and statements are encoded apart, and meet in the middle of the encoder.

A decoder can share a context exactly (causal attention: what follows does not change it). An encoder cannot: its
attention goes both ways, so a cross-encoder reads a context anew with every statement. This is another design, not a
faster form of that one: the frozen lower layers read each context window and each statement once in the whole run;
every token of a statement is matched with all tokens of all windows (`training.encoder.matching`, windows pooled by
maximum); what it found is added to its state; and the upper layers, which are trained, read the statement with these
answers. What only shows when context tokens look at the statement is out of its reach.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional

from training.encoder.layers import LayeredEncoder, pad
from training.encoder.matching import Matches, best_matches, n_features
from training.encoder.quadrants import QuadrantHead, QuadrantLogits
from training.encoder.texts import EncodedRows

__all__ = ["FrozenReader", "LateModel"]

GIB = 1 << 30
AT_ONCE = 128
# Similarities of unrelated tokens lie around 0.3 to 0.7, logarithms of distances around -1: bring both near 0.
FEATURE_SHIFT = 0.5


class LateModel(nn.Module):
    """A statement's frozen states with the context's answers, read by the trained upper layers."""

    def __init__(self, encoder: LayeredEncoder, match_layers: Sequence[int], dropout: float) -> None:
        super().__init__()
        width = encoder.width
        self.encoder = encoder
        self.match_layers = tuple(match_layers)
        self.similarity = nn.Sequential(
            nn.Linear(n_features(len(self.match_layers)), width), nn.GELU(), nn.Linear(width, width)
        )
        self.answer = nn.Linear(width * len(self.match_layers), width)
        self.head = QuadrantHead(3 * width, width, dropout)
        # At the start the upper layers see what they saw in pretraining.
        nn.init.normal_(self.answer.weight, std=0.02)
        nn.init.zeros_(self.answer.bias)

    def forward(
        self, states: torch.Tensor, there: torch.Tensor, features: torch.Tensor, answers: torch.Tensor
    ) -> QuadrantLogits:
        """Judge statements.

        *Shapes:* ``states`` (n, t, width); ``there`` (n, t); ``features`` (n, t, n_features); ``answers``
        (n, t, n_layers * width), the matched context tokens' states.
        """
        found = self.similarity(features + FEATURE_SHIFT) + self.answer(answers)
        read = self.encoder.upper(states + found, there, start=self.encoder.frozen_layers)
        tokens = there[..., None]
        mean = (read * tokens).sum(dim=1) / tokens.sum(dim=1)
        largest = read.masked_fill(~tokens, torch.finfo(read.dtype).min).amax(dim=1)
        judged: QuadrantLogits = self.head(torch.cat([read[:, 0], mean, largest], dim=1))
        return judged

    def new_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that pretraining does not know."""
        return [p for part in (self.similarity, self.answer, self.head) for p in part.parameters()]


class FrozenReader:
    """Frozen states of texts and matches of rows, each computed once and kept while memory allows.

    A context is encoded with its own windows only, a statement beside statements of its own length only: what a text
    is read as does not depend on what else is asked.
    """

    def __init__(
        self, model: LateModel, rows: EncodedRows, pad_id: int, device: torch.device, cache_gib: float
    ) -> None:
        self._model = model
        self._rows = rows
        self._pad_id = pad_id
        self._device = device
        self._left = cache_gib * GIB
        self._contexts: dict[int, list[torch.Tensor]] = {}
        self._statements: dict[tuple[int, ...], list[torch.Tensor]] = {}
        self._matches: dict[int, Matches] = {}
        # Large groups of one length are read at once where they can be kept.
        states = model.encoder.width * torch.float32.itemsize * (len(model.match_layers) + 1)
        if sum(map(len, set(rows.statements))) * states <= self._left:
            self._read_statements(rows.statements)

    def _keeps(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Say whether memory is left for these, and take it."""
        size = sum(tensor.nbytes for tensor in tensors)
        if size > self._left:
            return False
        self._left -= size
        return True

    def context(self, admission: int) -> list[torch.Tensor]:
        """Return unit vectors of the tokens of all windows, marks left out, per layer. *Shape:* (n, width) each."""
        kept = self._contexts.get(admission)
        if kept is None:
            ids, there = pad(self._rows.windows[admission], self._pad_id, self._device)
            inner = there.clone()
            inner[:, 0] = False
            inner[torch.arange(len(ids)), there.sum(dim=1) - 1] = False
            # A context without a word is matched as its first mark.
            inner[0, 0] |= not inner.any()
            states = self._model.encoder.lower(ids, there)
            kept = [functional.normalize(states[i][inner], dim=-1) for i in self._model.match_layers]
            if self._keeps(kept):
                self._contexts[admission] = kept
        return kept

    def _read_statements(self, wanted: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], list[torch.Tensor]]:
        """Return per statement the unit vectors of each match layer, and the highest frozen state last."""
        found = {ids: self._statements[ids] for ids in wanted if ids in self._statements}
        by_length: dict[int, list[tuple[int, ...]]] = {}
        for ids in sorted(set(wanted) - set(found)):
            by_length.setdefault(len(ids), []).append(ids)
        groups = [
            same[start : start + AT_ONCE] for same in by_length.values() for start in range(0, len(same), AT_ONCE)
        ]
        for group in groups:
            group_ids, there = pad(group, self._pad_id, self._device)
            states = self._model.encoder.lower(group_ids, there)
            units = [functional.normalize(states[i], dim=-1) for i in self._model.match_layers]
            for i, key in enumerate(group):
                found[key] = [state[i].clone() for state in (*units, states[-1])]
                if self._keeps(found[key]):
                    self._statements[key] = found[key]
        return found

    def batch(self, indices: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what `LateModel` reads of some rows; shapes as there."""
        statements = self._read_statements([self._rows.statements[i] for i in indices])
        states, features, answers = [], [], []
        for i in indices:
            *units, top = statements[self._rows.statements[i]]
            context = self.context(self._rows.admissions[i])
            matches = self._matches.get(i)
            if matches is None:
                matches = best_matches(units, context)
                if self._keeps([matches.features, matches.places]):
                    self._matches[i] = matches
            states.append(top)
            features.append(matches.features)
            found = [context[layer][matches.places[:, layer]] for layer in range(len(context))]
            answers.append(torch.cat(found, dim=1))
        lengths = torch.tensor([len(state) for state in states], device=self._device)
        there = torch.arange(int(lengths.max()), device=self._device) < lengths[:, None]
        padded = [nn.utils.rnn.pad_sequence(part, batch_first=True) for part in (states, features, answers)]
        return padded[0], there, padded[1], padded[2]
