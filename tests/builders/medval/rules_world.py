"""What the tests of MedVAL's rules share: items that are written here, and the engine over the open world."""

from __future__ import annotations

from builders.medval.items import Edit, Item, Judgement, Output
from builders.medval.judge.validator import RulesValidator
from builders.medval.rules.engine import open_rules
from builders.medval.rules.generator import RulesGenerator
from builders.texts.origin import Origin, Refusal
from ground.contracts.rows_text import MedvalTask, RiskLevel
from ground.storage.workspace import Workspace

__all__ = ["COURSE", "ITEMS", "LISTS", "PEERS", "TEXT", "Engine", "item"]


def item(task: MedvalTask, given: str, reference: str | None, name: str = "1") -> Item:
    """Return an item that is written by hand."""
    return Item(Origin("written", name, name, "train"), task, given, reference)


class Engine:
    """Generator and validator over one workspace, with short ways to ask them."""

    def __init__(self, workspace: Workspace) -> None:
        self.peers = {(one.task, "written"): [other for other in PEERS if other.task == one.task] for one in PEERS}
        generator, validator = open_rules(workspace, self.peers)
        assert isinstance(generator, RulesGenerator)
        assert isinstance(validator, RulesValidator)
        self.generator, self.validator = generator, validator

    def edits(self, rule: str, one: Item) -> list[Edit]:
        """Return what a rule would change in the reference of an item."""
        return self.generator.candidates(self.generator.scene(one, one.reference or ""), rule)

    def changed(self, rule: str, one: Item) -> list[tuple[str, str]]:
        """Return before and after of what a rule would change."""
        return [(edit.before, edit.after) for edit in self.edits(rule, one)]

    def judge(self, one: Item, output: str) -> Judgement:
        """Return the judgement of one output."""
        judged = self.validator.judge([one], [output])[0]
        assert isinstance(judged, Judgement)
        return judged

    def perturb(self, one: Item, level: RiskLevel) -> Output | Refusal:
        """Return the perturbed output of one item."""
        return self.generator.perturb([one], [Output(one.reference or "")], [level])[0]


TEXT = (
    "The patient is a 57-year-old man who presents with back pain for 2 weeks. He denies fever. He has hypertension. "
    "The left knee is normal. Blood pressure is 132/80. Continue lisinopril 20 mg once a day. "
    "Continue warfarin 5 mg daily. Start omeprazole 40 mg a day."
)
COURSE = (
    "Mr. ___ was admitted with pneumonia and acute kidney injury.\n\n# Pneumonia: treated with azithromycin.\n"
    "# Acute kidney injury: creatinine improved with fluids. Home lisinopril was resumed.\n"
    "# Constipation: home senna continued.\n# Atrial fibrillation: rate controlled on metoprolol. Warfarin continued.\n"
)
LISTS = (
    "Discharge diagnoses: Pneumonia; Acute kidney injury; Constipation; Atrial fibrillation.\n"
    "Discharge medications: Lisinopril; Senna; Metoprolol; Warfarin."
)
QUESTION = "MESSAGE: I have gout in my toe. What are the treatments for gout? Can I take ibuprofen for the pain?"

ITEMS = (
    item("dialogue2note", TEXT, TEXT, "text"),
    item("course2diagnosis", COURSE, LISTS, "course"),
    item("query2question", QUESTION, "What are the treatments for gout?", "gout"),
    item(
        "query2question", "I have shingles. How long does it last?", "What is the prognosis for shingles?", "shingles"
    ),
)
"""Clean items: nothing in their references goes beyond their inputs."""

_PEERS: tuple[tuple[MedvalTask, str], ...] = (
    ("course2diagnosis", "Discharge diagnoses: Gout; Migraine.\nDischarge medications: Digoxin."),
    ("course2diagnosis", "Discharge medications: Omeprazole 500 mg bid; Furosemide 5 mg daily."),
    ("query2question", "What are the causes of migraine and depression?"),
)
PEERS = (*ITEMS[1:], *(item(task, text, text, "peer") for task, text in _PEERS))
"""References that edits of written items take their words from."""
