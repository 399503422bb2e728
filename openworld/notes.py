"""Discharge summaries of the world's patients, in MIMIC's layout, with the truth about every mention."""

from __future__ import annotations

from openworld.note_course import CoursePart
from openworld.note_history import HistoryPart
from openworld.note_lists import ListsPart
from openworld.note_writer import Note
from openworld.patients import Admission, Patient
from openworld.volume import STORY, Volume
from openworld.world import Knowledge

__all__ = ["Note", "write_note"]


class _Writer(HistoryPart, CoursePart, ListsPart):
    """Writes one note."""

    def write(self) -> Note:
        """Write the note."""
        for part in (self.top, self.story, self.history, self.findings, self.course, self.medications, self.end):
            part()
        text = self.text.text()
        named = {mention.concept for mention in self.text.mentions}
        silent = [order.drug for order in self.admission.orders if order.drug not in named]
        silent += [problem.name for problem in self.admission.problems if problem.name not in named]
        return Note(text, self.text.mentions, self.links, silent)


def write_note(known: Knowledge, patient: Patient, admission: Admission, volume: Volume = STORY) -> Note:
    """Write the discharge summary of an admission; it follows from (seed, patient, admission) alone."""
    return _Writer(known, patient, admission, volume).write()
