"""The late engine: contexts and statements are encoded apart, and meet in the middle of the encoder.

A decoder can share a context exactly (causal attention: what follows does not change it). An encoder cannot: its
attention goes both ways, so a cross-encoder reads a context anew with every statement. This is another design, not a
faster form of that one: the frozen lower layers read each context window and each statement once in the whole run;
every token of a statement is matched with all tokens of all windows (`best_matches`, windows pooled by maximum); what
it found is added to its state; and the upper layers, which are trained, read the statement with these answers. What
only shows when context tokens look at the statement is out of its reach.

Matches are those of late interaction by maximum similarity as in ColBERT (Khattab and Zaharia 2020, section 3.3), per
layer, and for the runs of neighbouring tokens that Conv-KNRM (Dai et al. 2018) found to matter: a name of three words
is there when three neighbours match three neighbours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from ground.errors import UsageError
from training.encoder.parts import sharing
from training.encoder.quadrant_head import QuadrantHead, QuadrantLogits
from training.encoder.windows import EncodedRows
from training.packing.plan import first_fit

__all__ = ["RUNS", "FrozenReader", "LateModel", "LayeredEncoder", "best_matches", "n_features", "pad"]

PROBE = 12
TOLERANCE = 1e-4
GIB = 1 << 30
AT_ONCE = 128
PLACES = 64
"""Tokens of a row that short statements share: padding is a third of the work where each has a row of its own."""
# Similarities of unrelated tokens lie around 0.3 to 0.7, logarithms of distances around -1: bring both near 0.
FEATURE_SHIFT = 0.5
RUNS = (1, 2, 3)
"""Lengths of runs of neighbouring tokens that are matched."""
FARTHEST = 1e-3
Tensors = Sequence[torch.Tensor]


def pad(rows: Sequence[Sequence[int]], pad_id: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids and what is a token. *Shapes:* (n, longest) of int64 and of bool."""
    longest = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[pad_id] * (longest - len(row))] for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids, torch.arange(longest, device=device) < lengths[:, None]


class LayeredEncoder(nn.Module):
    """A backbone that is laid out as BERT is: ``embeddings``, then ``encoder.layer``, each (states, mask) -> states.

    State 0 is what the embeddings give; state i is what layer i gives.
    """

    def __init__(self, backbone: Any, frozen_layers: int) -> None:
        """Freeze the embeddings and the lowest layers.

        Raises:
            UsageError: the backbone is laid out otherwise, or has no layer left to train.
        """
        super().__init__()
        config = backbone.config
        if not hasattr(backbone, "embeddings") or not hasattr(getattr(backbone, "encoder", None), "layer"):
            raise _other_layout(config)
        self.config = config
        self.embeddings = backbone.embeddings
        self.layers = backbone.encoder.layer
        self.frozen_layers = frozen_layers
        if frozen_layers >= len(self.layers):
            raise UsageError(
                "no layer would be trained",
                found=f"frozen_layers = {frozen_layers}, the model has {len(self.layers)} layers",
                expected=f"frozen_layers below {len(self.layers)}",
            )
        self._check_against(backbone)
        self.embeddings.requires_grad_(False)
        self.layers[:frozen_layers].requires_grad_(False)

    @torch.no_grad()
    def _check_against(self, backbone: Any) -> None:
        """Refuse a backbone that does more than run its layers in order."""
        backbone.eval()
        first = 1 + (self.config.pad_token_id or 0)
        ids = torch.arange(PROBE) % (self.config.vocab_size - first) + first
        ids, there = pad([ids.tolist(), ids[: PROBE // 2].tolist()], self.config.pad_token_id or 0, torch.device("cpu"))
        try:
            whole = backbone(input_ids=ids, attention_mask=there.long()).last_hidden_state[there]
            ours = self.upper(self.lower(ids, there)[-1], there, start=self.frozen_layers)[there]
        except (TypeError, ValueError, RuntimeError, AttributeError) as error:
            raise _other_layout(self.config) from error
        if not torch.allclose(whole, ours, atol=TOLERANCE):
            raise _other_layout(self.config)

    def _mask(self, states: torch.Tensor, there: torch.Tensor) -> Any:
        from transformers.masking_utils import create_bidirectional_mask

        return create_bidirectional_mask(config=self.config, inputs_embeds=states, attention_mask=there.long())

    @torch.no_grad()
    def lower(self, ids: torch.Tensor, there: torch.Tensor) -> list[torch.Tensor]:
        """Return the states 0 to ``frozen_layers``, without dropout whatever the mode.

        *Shapes:* ``ids``, ``there`` (n, t); each state (n, t, width).
        """
        states = [self.embeddings.eval()(input_ids=ids)]
        mask = self._mask(states[0], there)
        for layer in self.layers[: self.frozen_layers]:
            states.append(layer.eval()(states[-1], mask))
        return states

    def upper(self, states: torch.Tensor, owner: torch.Tensor, start: int) -> torch.Tensor:
        """Run the layers from ``start`` up; tokens of a row see those of the same owner.

        *Shapes:* (n, t, width), (n, t) of integers to (n, t, width).
        """
        other = owner[:, None, :, None] != owner[:, None, None, :]
        # Added to scores, which every kind of attention takes; what fills a row up sees the like, not nothing.
        mask = torch.zeros_like(other, dtype=states.dtype).masked_fill(other, torch.finfo(states.dtype).min)
        for layer in self.layers[start:]:
            states = layer(states, mask)
        return states


def _other_layout(config: Any) -> UsageError:
    return UsageError(
        "the late engine cannot run this model layer by layer",
        found=str(config.model_type),
        expected="an encoder with the layout of BERT (bert, roberta, xlm-roberta, camembert, ...)",
        do="engine = cross takes any encoder with a classification head",
    )


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
    summed = padded[:t, :n] + padded[1 : 1 + t, 1 : 1 + n]
    for i in range(2, run):
        summed += padded[i : i + t, i : i + n]
    starting = summed.amax(dim=1) / run
    # A token is in the runs that start at it and at the tokens before it.
    before = functional.pad(starting, (run - 1, 0))
    return torch.stack([before[i : i + t] for i in range(run)]).amax(dim=0)


def best_matches(statement: Tensors, context: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
    """Match every token of a statement with every token of a context, layer by layer.

    Args:
        statement: unit vectors for each layer. *Shape:* (t, width) each.
        context: unit vectors of the tokens of all windows, one window after the other, for the same layers. A run may
            cross from a window's end to the next one's start, which repeats some tokens. *Shape:* (n, width) each.

    Returns:
        Similarity and the logarithm of the distance, for each layer and run, *shape* (t, n_features); and for each
        layer the context token that matches best alone, *shape* (t, n_layers).
    """
    features, places = [], []
    for left, right in zip(statement, context, strict=True):
        single = left @ right.T
        places.append(single.argmax(dim=1))
        best = torch.stack([_run_similarity(single, run) for run in RUNS], dim=1)
        features += [best, (1 - best).clamp(min=FARTHEST).log()]
    return torch.cat(features, dim=1), torch.stack(places, dim=1)


class LateModel(nn.Module):
    """A statement's frozen states with the context's answers, read by the trained upper layers."""

    def __init__(self, encoder: LayeredEncoder, match_layers: Sequence[int], dropout: float) -> None:
        super().__init__()
        width = int(encoder.config.hidden_size)
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
        self, states: torch.Tensor, owner: torch.Tensor, features: torch.Tensor, answers: torch.Tensor
    ) -> QuadrantLogits:
        """Judge statements, several to a row.

        *Shapes:* ``states`` (rows, t, width); ``owner`` (rows, t), the number of each token's statement from 1, 0 where
        there is none; ``features`` (rows, t, n_features); ``answers`` (rows, t, n_layers * width), the matched context
        tokens' states.
        """
        shift = self.similarity(features + FEATURE_SHIFT) + self.answer(answers)
        packed = self.encoder.upper(states + shift, owner, start=self.encoder.frozen_layers)
        filling, *lengths = owner.flatten().bincount().tolist()
        by_statement = packed.flatten(0, 1)[owner.flatten().argsort(stable=True)[filling:]]
        read = nn.utils.rnn.pad_sequence(by_statement.split(lengths), batch_first=True)
        there = torch.arange(read.shape[1], device=read.device) < owner.new_tensor(lengths)[:, None]
        tokens = there[..., None]
        mean = (read * tokens).sum(dim=1) / tokens.sum(dim=1)
        largest = read.masked_fill(~tokens, torch.finfo(read.dtype).min).amax(dim=1)
        judged: QuadrantLogits = self.head(torch.cat([read[:, 0], mean, largest], dim=1))
        return judged


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
        self._kept: dict[Any, Tensors] = {}
        # Large groups of one length are read at once, and no context twice, where they can be kept.
        states = int(model.encoder.config.hidden_size) * torch.float32.itemsize
        if sum(map(len, set(rows.statements))) * states * (len(model.match_layers) + 1) <= self._left:
            self._share(self._read_group, self._groups(rows.statements))
        if (
            sum(len(window) for of in rows.windows.values() for window in of) * states * len(model.match_layers)
            <= self._left
        ):
            self._share(self.context, list(rows.windows))

    def _share(self, read: Callable[[Any], Any], texts: Sequence[Any]) -> None:
        """Read texts in as many threads as torch has."""
        with sharing(self._device, len(texts)) as in_threads:
            deque(in_threads(read, texts), maxlen=0)

    def _keep(self, key: Any, tensors: Tensors) -> Tensors:
        """Return the tensors, and keep them if memory is left."""
        size = sum(tensor.nbytes for tensor in tensors)
        if size <= self._left:
            self._left -= size
            self._kept[key] = tensors
        return tensors

    def _lower(self, texts: Sequence[Sequence[int]]) -> tuple[list[torch.Tensor], list[torch.Tensor], torch.Tensor]:
        """Return texts' unit vectors of each match layer, all frozen states, and what is a token."""
        ids, there = pad(texts, self._pad_id, self._device)
        states = self._model.encoder.lower(ids, there)
        return [functional.normalize(states[i], dim=-1) for i in self._model.match_layers], states, there

    def context(self, admission: int) -> Sequence[torch.Tensor]:
        """Return unit vectors of the tokens of all windows, marks left out, per layer. *Shape:* (n, width) each."""
        if (kept := self._kept.get(admission)) is not None:
            return kept
        units, _, there = self._lower(self._rows.windows[admission])
        inner = there.clone()
        inner[:, 0] = False
        inner[torch.arange(len(inner)), there.sum(dim=1) - 1] = False
        # A context without a word is matched as its first mark.
        inner[0, 0] |= not inner.any()
        return self._keep(admission, [unit[inner] for unit in units])

    def _groups(self, wanted: Iterable[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
        """Return statements that are not kept in groups of one length."""
        by_length: dict[int, list[tuple[int, ...]]] = {}
        for ids in sorted(set(wanted) - self._kept.keys()):
            by_length.setdefault(len(ids), []).append(ids)
        return [same[start : start + AT_ONCE] for same in by_length.values() for start in range(0, len(same), AT_ONCE)]

    def _read_group(self, group: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Tensors]:
        """Return per statement the unit vectors of each match layer, and the highest frozen state last."""
        units, states, _ = self._lower(group)
        return {
            ids: self._keep(ids, [state[i].clone() for state in (*units, states[-1])]) for i, ids in enumerate(group)
        }

    def _read_statements(self, wanted: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Tensors]:
        """Return what `_read_group` does of statements that are kept or read now."""
        read = {ids: self._kept[ids] for ids in wanted if ids in self._kept}
        for group in self._groups(ids for ids in wanted if ids not in read):
            read |= self._read_group(group)
        return read

    def batch(self, indices: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what `LateModel` reads of some rows; shapes as there."""
        statements = self._read_statements([self._rows.statements[i] for i in indices])
        contexts = [self.context(self._rows.admissions[i]) for i in indices]
        parts: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
        for i, context in zip(indices, contexts, strict=True):
            *units, top = statements[self._rows.statements[i]]
            best, places = self._kept.get(("row", i)) or self._keep(("row", i), best_matches(units, context))
            answer = torch.cat([layer[places[:, at]] for at, layer in enumerate(context)], dim=1)
            parts.append((top, best, answer))
        lengths = [len(top) for top, *_ in parts]
        rows = first_fit(lengths, max(PLACES, *lengths))
        owners = [torch.tensor([i + 1 for i in row for _ in range(lengths[i])], device=self._device) for row in rows]
        states, features, answers = ([torch.cat([parts[i][at] for i in row]) for row in rows] for at in range(3))
        padded = [nn.utils.rnn.pad_sequence(each, batch_first=True) for each in (states, owners, features, answers)]
        return padded[0], padded[1], padded[2], padded[3]
