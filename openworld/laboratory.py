"""Blocks of laboratory values as MIMIC's notes list them: many characters, no name of a concept."""

from __future__ import annotations

from collections.abc import Iterator

from openworld.dice import Dice

__all__ = ["laboratory_lines"]

PANELS: tuple[tuple[tuple[str, float, float, int], ...], ...] = (
    (
        *(("WBC", 3.2, 15.8, 1), ("RBC", 2.4, 5.4, 2), ("Hgb", 7.0, 16.0, 1), ("Hct", 22.0, 47.0, 1)),
        *(("MCV", 78, 104, 0), ("MCH", 25.0, 34.0, 1), ("MCHC", 30.0, 36.0, 1), ("RDW", 12.0, 18.0, 1)),
        *(("RDWSD", 38.0, 60.0, 1), ("Plt Ct", 80, 420, 0)),
    ),
    (
        *(("Neuts", 48.0, 88.0, 1), ("Lymphs", 6.0, 40.0, 1), ("Monos", 3.0, 12.0, 1), ("Eos", 0.0, 6.0, 1)),
        *(("Baso", 0.0, 1.2, 1), ("AbsNeut", 1.8, 12.0, 2), ("AbsLymp", 0.5, 3.6, 2), ("AbsMono", 0.2, 1.2, 2)),
        *(("AbsEos", 0.0, 0.5, 2), ("AbsBaso", 0.0, 0.1, 2)),
    ),
    (
        *(("UreaN", 6, 48, 0), ("Creat", 0.5, 3.2, 1), ("Na", 128, 146, 0), ("Cl", 92, 110, 0), ("HCO3", 18, 31, 0)),
        *(("AnGap", 8, 20, 0), ("Phos", 2.0, 5.4, 1), ("ALT", 8, 120, 0), ("AST", 10, 140, 0)),
    ),
    (("AlkPhos", 38, 210, 0), ("TotBili", 0.2, 2.4, 1), ("LD(LDH)", 120, 420, 0), ("Lactate", 0.7, 4.2, 1)),
)
HIGHEST_BYTE = 255
WIDTH = 76


def laboratory_lines(dice: Dice, blocks: int) -> Iterator[str]:
    """Yield the lines of so many blocks, one block a draw; a star marks the outer tenths of a range, as in MIMIC."""
    per_block = 2 + sum(map(len, PANELS))
    drawn = dice.stable_bytes(blocks * per_block, "laboratory")
    for start in range(0, len(drawn), per_block):
        hour, minute, *values = drawn[start : start + per_block]
        yield from _block(f"___ {hour % 12 + 1:02d}:{minute % 60:02d}{'AP'[hour % 2]}M BLOOD", values)


def _block(opening: str, values: list[int]) -> Iterator[str]:
    place = 0
    for panel in PANELS:
        line = opening
        for name, low, high, digits in panel:
            share = values[place] / HIGHEST_BYTE
            place += 1
            mark = "*" if not 0.1 < share < 0.9 else ""
            value = f"{name}-{low + share * (high - low):.{digits}f}{mark}"
            if len(line) + len(value) >= WIDTH:
                yield line
                line = value
            else:
                line += f" {value}"
        yield line
