"""Render the whole world into a folder: umls/META, rxnorm/rrf, mimic, truth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from ground.errors import UsageError
from ground.storage.files import atomic_directory
from openworld.filler import NO_FILLER, FillerPlan
from openworld.release import write_meta
from openworld.rxnorm import write_rxnorm
from openworld.shards import write_hospital
from openworld.sizes import sizes
from openworld.variety import knowledge
from openworld.volume import REAL, STORY, Volume
from openworld.world import Fact, Knowledge

__all__ = ["World", "render", "render_scale"]


@dataclass(frozen=True, slots=True)
class World:
    """A rendered world: its folders and the rows of each file."""

    folder: Path
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def meta(self) -> Path:
        """Folder of the UMLS release."""
        return self.folder / "umls" / "META"

    @property
    def rxnorm(self) -> Path:
        """Folder of the RxNorm release."""
        return self.folder / "rxnorm" / "rrf"

    @property
    def mimic(self) -> Path:
        """Folder that holds hosp and note."""
        return self.folder / "mimic"

    @property
    def truth(self) -> Path:
        """Folder of what the world knows about itself: notes.jsonl.gz and facts.tsv."""
        return self.folder / "truth"


def _write_facts(path: Path, known: Knowledge) -> int:
    """Write every fact: head_cui, predicate, tail_cui, stated (1: it has an edge in MRREL), and both names."""

    def line(fact: Fact) -> str:
        head, tail = known.concepts[fact.head], known.concepts[fact.tail]
        return f"{head.cui}\t{fact.predicate}\t{tail.cui}\t{int(fact.stated)}\t{fact.head}\t{fact.tail}\n"

    header = "head_cui\tpredicate\ttail_cui\tstated\thead\ttail\n"
    path.write_text(header + "".join(line(fact) for fact in known.facts), encoding="utf-8", newline="\n")
    return len(known.facts)


def _write_readme(mimic: Path) -> None:
    """Say what the tables are: the release's name decides the licence of what is built from them."""
    text = "Invented patients in the layout of MIMIC-IV. Nobody's records; free to share.\nRelease: OPENWORLD\n"
    (mimic / "README.txt").write_text(text, encoding="utf-8", newline="\n")


def render(
    folder: Path,
    patients: int = 120,
    seed: int = 7,
    *,
    filler: FillerPlan = NO_FILLER,
    volume: Volume = STORY,
    workers: int = 1,
    concepts: int = 0,
) -> World:
    """Write a world; the same arguments give the same bytes, and patient k does not depend on how many there are.

    Args:
        folder: replaced as a whole when all is written.
        patients: number of patients; about one in seven has two admissions.
        seed: of patients and notes; the medical content does not depend on it.
        filler: concepts beside the world's own, for benchmarks.
        volume: how much is written about an admission.
        workers: processes that make patients; more of them change nothing but the time.
        concepts: that notes can speak of; 0 for the world's own, more adds invented kinds of them (`variety.py`).

    Raises:
        UsageError: a number is out of range.
    """
    if patients < 0:
        raise UsageError("the size of the world is out of range", found=f"patients {patients}", expected="0 or more")
    known = knowledge(concepts)
    with atomic_directory(folder) as temporary:
        world = World(temporary)
        world.truth.mkdir(parents=True)
        counts = write_meta(world.meta, known, replace(filler, seed=seed))
        counts |= write_rxnorm(world.rxnorm, known)
        counts |= write_hospital(world.mimic, world.truth, patients, seed, volume, workers, concepts)
        _write_readme(world.mimic)
        counts["truth/facts"] = _write_facts(world.truth / "facts.tsv", known)
    return World(folder, counts)


def render_scale(folder: Path, scale: float, seed: int = 7, workers: int = 1, concepts: int = 0) -> World:
    """Write a world of a size between 1/2000 and that of the real releases, with as much written as a hospital writes.

    Raises:
        UsageError: the scale is out of range.
    """
    patients, filler = sizes(scale)
    return render(folder, patients, seed, filler=filler, volume=REAL, workers=workers, concepts=concepts)
