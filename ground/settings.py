"""Settings: one TOML file, frozen and typed; an unknown key is an error that names the nearest known key."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from ground.errors import UsageError

__all__ = [
    "CONTEXT_SECTIONS",
    "BuildSettings",
    "LoadSettings",
    "MedhalSettings",
    "MedvalSettings",
    "NoteSettings",
    "RemoteSettings",
    "RunSettings",
    "Section",
    "Settings",
    "SourceSplits",
    "StewardSettings",
    "parse_settings",
    "read_settings",
    "read_toml",
    "settings_from",
]

# What a pattern means, in words.
EXPECTED: dict[tuple[str, ...], str] = {
    ("split_column",): "split, fact_split, or the fold that is tested: fold_0, fold_1, ...",
    ("run", "memory_limit"): "a number and a unit (KB, MB, GB, TB, KiB, MiB, GiB or TiB), such as 4GB",
}

IN_WORDS = {
    **dict.fromkeys(("tuple_type", "list_type", "set_type", "frozen_set_type"), 'a list, as ["one", "another"]'),
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false"),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "a number"),
    "string_type": "a text",
    "model_type": "a table of settings",
    "missing": "a value",
    "literal_error": "{expected}",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "a number of {ge} or more",
    "less_than": "a number below {lt}",
    "less_than_equal": "a number of {le} or less",
}
"""What is expected, by the validator's kind of error; what is not listed is a message of our own."""

Tier = Literal["stated", "equivalent", "inherited", "plausible"]
SourceSplits = Literal["train", "validation", "test", "all"]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""What all generators of random numbers take."""


CONTEXT_SECTIONS = (
    "chief_complaint",
    "major_surgical_or_invasive_procedure",
    "history_of_present_illness",
    "past_medical_history",
    "brief_hospital_course",
    "medications_on_admission",
    "discharge_medications",
    "discharge_diagnosis",
)
"""Sections that make the context: diagnoses, procedures, treatments, history, hospital course, medications (MediEval,
section 3.1 step 1)."""

HOME_SECTIONS = (
    "chief_complaint",
    "history_of_present_illness",
    "past_medical_history",
    "social_history",
    "medications_on_admission",
)
"""Sections whose drugs are those of home: what the note says of the time before the stay."""

CERTAINTIES = {"certain": ["certain", "corroborated"], "any": ["certain", "corroborated", "unsure"]}
"""Which mentions attest, by the setting ``build.certainty`` (docs/definitions.md#certainty)."""


class Section(BaseModel):
    """A table of settings: frozen, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RunSettings(Section):
    """How the machine is used. Nothing here changes what is written."""

    threads: int | None = Field(default=None, ge=1, le=4096, description="number of DuckDB's threads; unset: all cores")
    workers: int = Field(
        default=1,
        ge=1,
        le=4096,
        description="workers of the stages that work in shards: processes that read notes and write files; threads, "
        "as far as there are cores, that look at groups and validate. Each holds two shards; `memory_limit` is for all "
        "threads together",
    )
    executor: Literal["serial", "processes", "ray"] = Field(
        default="processes",
        description="where shards are worked on: in the program itself (as with one worker), in processes of this "
        "machine, or on Ray (extra `ray`)",
    )
    address: str = Field(
        default="",
        description="Ray's address, HOST:PORT or auto (the one that runs here); Ray is started on this machine where "
        "empty",
    )
    allow_remote_credentialed: tuple[str, ...] = Field(
        default=(),
        description="names, addresses or networks of a Ray cluster that may read credentialed data",
    )
    allow_remote_reason: str = Field(default="", description="the reason: the agreement or local rule that allows it")
    memory_limit: str = Field(
        default="4GB",
        pattern=r"^\d+(\.\d+)?\s*([KMGT]i?B|[kmgt]i?b)$",
        description="DuckDB's memory limit, such as 4GB",
    )
    shard_notes: int = Field(default=2000, ge=1, description="notes in one shard")


class LoadSettings(Section):
    """What is loaded and how strictly."""

    languages: tuple[str, ...] = Field(default=("ENG",), description="languages (LAT) of MRCONSO to keep")
    attributes: tuple[str, ...] = Field(
        default=("NDC", "FROMRSAB", "TORSAB", "CCI"),
        description="attributes (ATN) of MRSAT and RXNSAT to keep; by default those that stages read; empty means all",
    )
    suppress: tuple[str, ...] = Field(default=("O", "E", "Y"), description="SUPPRESS values whose names are not used")
    max_reject_share: float = Field(
        default=0.01, ge=0, le=1, description="share of malformed rows above which a load fails"
    )
    subset: str = Field(
        default="",
        description="why the release is only a part of one, such as `MeSH alone`; without it a UMLS or RxNorm release "
        "of which a part is missing is refused",
    )
    open_sources: dict[Literal["table", "omop", "meds", "ontology", "rxnorm"], str] = Field(
        default={},
        description='sources that anybody may share, each with its licence, such as `ontology = "CC0"`; every other '
        "but the embedded open world is credentialed; takes effect when the source is loaded",
    )
    icu: bool = Field(default=True, description="load icu/ if it is there")
    skip_tables: tuple[str, ...] = Field(
        default=("mrhier", "mrdef"),
        description="optional tables that are left out though they are there, such as chartevents; no stage reads "
        "MRHIER or MRDEF",
    )


class RemoteSettings(Section):
    """Which object storage (`s3://...`, any fsspec URL) credentialed data may be read from and written to."""

    allow_credentialed: tuple[str, ...] = Field(
        default=(),
        description="stores that may hold credentialed data, each with everything below it, such as s3://bucket/folder",
    )
    allow_reason: str = Field(
        default="", description="the reason, such as the agreement that covers them; publishing prints it"
    )


class NoteSettings(Section):
    """How notes are read."""

    abbreviation_detector: Literal["own", "scispacy"] = Field(
        default="own", description="what finds abbreviations defined in a note; scispacy needs the extra `linking`"
    )
    fuzzy: bool = Field(default=True, description="repair one-letter misspellings of long, unambiguous words")
    certainty: Literal["learned", "rules"] = Field(
        default="learned",
        description="what decides whether a mention is certain: a model learned from notes with gold, or rules alone",
    )


class BuildSettings(Section):
    """How quadrant statements are made."""

    seed: Seed = Field(default=42, description="seed of every choice")
    validation_share: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="share of patients in the validation split, for all datasets; up to three decimals",
    )
    test_share: float = Field(
        default=0.1, ge=0, le=1, description="share of patients in the test split; up to three decimals"
    )
    patient_splits: Literal["shares", "source"] = Field(
        default="shares",
        description="where the split of a patient is from, for all datasets: the shares, or the source of the records "
        "(the subject splits of MEDS; a patient whom it gives none goes by the shares)",
    )
    admissions: int | None = Field(
        default=None,
        ge=1,
        description="number of admissions, each of another patient, drawn by hash (paper: 2,015); unset: all",
    )
    folds: int = Field(
        default=5, ge=2, le=100, description="number of folds of the patients (column `fold`), for testing in turn"
    )
    max_hops: int = Field(default=3, ge=1, le=3, description="longest path")
    truth_tiers: tuple[Tier, ...] = Field(
        default=("stated", "equivalent", "inherited"), description="tiers of path that make a statement true"
    )
    predicates: tuple[str, ...] = Field(default=(), description="predicates of statements; empty means all")
    sections: tuple[str, ...] = Field(default=(), description="sections of the context; empty means the paper's choice")
    certainty: Literal["certain", "any"] = Field(
        default="certain",
        description="which mentions attest: certain and corroborated ones, or any",
    )
    given: bool = Field(
        default=True, description="a drug that was given during the stay and has ended attests its concept"
    )
    stopped: bool = Field(
        default=False,
        description="a home drug that the note stops or holds, and that was not given in the stay, attests its concept",
    )
    radiology: bool = Field(
        default=False,
        description="a name in a radiology report of the admission also prevents calling its concept unsupported",
    )
    max_lift: float = Field(
        default=2.0, gt=0, description="a pair with a higher lift in the records is not called false"
    )
    known_edges: int = Field(
        default=2, ge=1, description="smallest number of edges of a predicate with which the graph counts as knowing it"
    )
    max_area_share: float = Field(
        default=0.12, gt=0, le=1, description="an ancestor of a larger share of concepts is not an area"
    )
    min_distractor_distance: int = Field(default=4, ge=2, description="smallest is_a distance of a Q4 distractor")
    ancestor_steps: int = Field(default=1, ge=0, description="is_a steps from a mention up to an end of a fact")
    family_size: int = Field(default=200, ge=2, description="a parent with more children does not make close relatives")
    extended_share: float = Field(
        default=0.6, ge=0, le=1, description="share of groups worded with 'which is a type of'"
    )
    balance_rounds: int = Field(default=12, ge=0, description="rounds for fitting the weights of replacements")
    balance_trials: int = Field(default=5, ge=1, description="trials to bring the statement-only baseline to chance")
    max_groups_per_admission: int = Field(default=18, ge=1, description="largest number of groups of one admission")
    max_predicate_share: float = Field(default=0.45, gt=0, le=1, description="largest share of groups of one predicate")
    max_pair_share: float = Field(
        default=0.03, gt=0, le=1, description="largest share of one (head, tail) in a quadrant, rounded up to groups"
    )

    @model_validator(mode="after")
    def _leave_some_to_train(self) -> Self:
        if self.split_ends[0] < 1:
            raise ValueError("a validation_share and a test_share that leave some patients to train on")
        return self

    @property
    def split_ends(self) -> tuple[int, int]:
        """Of a thousand patients, where training ends and where validation does; the rest is tested."""
        tested = round(1000 * self.test_share)
        return 1000 - tested - round(1000 * self.validation_share), 1000 - tested

    @property
    def context_sections(self) -> tuple[str, ...]:
        """Sections that make the context."""
        return self.sections or CONTEXT_SECTIONS

    def attesting(self) -> dict[str, list[str]]:
        """Return which sections, assertions and certainties a mention must have to attest, as variables for SQL.

        ``home_sections`` are those whose drugs do not attest once the note stops them.
        """
        return {
            "sections": list(self.context_sections),
            "assertions": ["present", "given"] if self.given else ["present"],
            "certainties": CERTAINTIES[self.certainty],
            "home_sections": [] if self.stopped else list(HOME_SECTIONS),
        }


class MedhalSettings(Section):
    """How MedHal rows are made."""

    seed: Seed = Field(default=42, description="seed of every choice")
    splits: SourceSplits = Field(
        default="train", description="splits of the sources to use; the paper uses their training splits only"
    )
    min_sentence_chars: int = Field(
        default=100, ge=1, description="smallest number of characters of a summary's sentence that may be edited"
    )
    pairs_per_summary: int = Field(
        default=1, ge=1, description="number of edited sentences of a summary, one for each pair"
    )
    max_chars: int = Field(
        default=30_000,
        ge=1,
        description="a row with fewer characters of context and statement belongs to the length-filtered version",
    )
    judge: bool = Field(default=True, description="keep only pairs whose labels a judge confirms")
    framed: bool = Field(
        default=True, description="take statements that quote a question and name its answer, besides whole sentences"
    )


class MedvalSettings(Section):
    """How MedVAL triples are made."""

    seed: Seed = Field(default=42, description="seed of every choice")
    splits: SourceSplits = Field(default="all", description="splits of the sources to use")
    tau: float = Field(
        default=0.9, ge=0, le=1, description="with language models: consistency M_MedVAL from which on a triple is kept"
    )
    max_inputs_per_task: int | None = Field(
        default=None, ge=1, description="largest number of inputs of a task, by lowest hash; the paper trains on 500"
    )
    redraw: bool = Field(
        default=True,
        description="take the other safe level (1, 2), or the other unsafe one (3, 4), where the engine has no edit of "
        "the level drawn",
    )


Quorum = Literal["audit_quorum", "quorum", "near_quorum"]


class StewardSettings(Section):
    """How labels are audited, recomputed, triaged and adjudicated."""

    seed: Seed = Field(default=42, description="seed of every choice and every resample")
    runs: int = Field(default=5, ge=1, description="independent runs of the auditor and of the recomputation")
    audit_quorum: int = Field(
        default=4,
        ge=1,
        description="Suspicious verdicts for a Likely Error (for another number of recorded runs: 4/5 of them)",
    )
    quorum: int = Field(
        default=4,
        ge=1,
        description="number of equal answers for a recomputed label (for another number of recorded runs: 4/5 of them)",
    )
    near_quorum: int = Field(
        default=3,
        ge=1,
        description="number of equal answers if another answer is close (for another number of recorded runs: 3/5)",
    )
    near_rel_err: float = Field(
        default=0.05, ge=0, description="largest relative error of a number that is close (assumed)"
    )
    near_days: int = Field(default=1, ge=0, description="largest difference in days of a date that is close (assumed)")
    decimals: int = Field(
        default=2,
        ge=0,
        description="numbers are rounded to this many decimals before they are compared; two digits are always kept",
    )
    flag_rel_err: float = Field(
        default=0.05, ge=0, description="relative error above which two labels differ; dates: days"
    )
    agree_rel: float = Field(
        default=0.05, ge=0, description="allowed difference for agreement, as a share of the physician's value"
    )
    ordinal_tolerance: float = Field(
        default=1,
        ge=0,
        description="allowed difference on an ordinal score, in points; none if labels are codes of categories",
    )
    ordinal_limit: float = Field(
        default=20, gt=0, description="a whole number with a larger absolute value counts as continuous"
    )
    resamples: int = Field(default=10_000, ge=1, description="resamples of a bootstrap")
    turns: int = Field(
        default=8, ge=1, description="largest number of turns of a run with tools, including the last answer"
    )
    sandbox_seconds: int = Field(
        default=5, ge=1, description="time limit for one call of the Python sandbox, in seconds"
    )
    sandbox_mb: int = Field(default=512, ge=64, description="memory limit for one call of the Python sandbox, in MB")
    sandbox_image: str = Field(
        default="",
        description="container image with Python 3.11 in which docker or podman runs the Python sandbox; without one "
        "it needs root, who can start a process without rights",
    )
    review_rows: int = Field(default=50, ge=1, description="number of rows for physicians to review")
    finalise: Literal["physician", "released"] = Field(
        default="physician",
        description="physician: the physician's label if there is one; released: only if it disagrees",
    )

    def quorum_of(self, name: Quorum, runs: int) -> int:
        """Return a quorum of rows that have so many runs: as it is set, else the default's share of them, rounded up.

        4 of 5 are 8 of 10 and 3 of 3. A share is of two runs at least: one answer agrees with nothing.
        """
        usual = type(self).model_fields
        if name in self.model_fields_set or runs == usual["runs"].default:
            return int(getattr(self, name))
        share: int = -(-usual[name].default * runs // usual["runs"].default)
        return max(2, share)


class Settings(Section):
    """All settings, as ``ontoground.toml`` holds them."""

    run: RunSettings = RunSettings()
    load: LoadSettings = LoadSettings()
    remote: RemoteSettings = RemoteSettings()
    notes: NoteSettings = NoteSettings()
    build: BuildSettings = BuildSettings()
    medhal: MedhalSettings = MedhalSettings()
    medval: MedvalSettings = MedvalSettings()
    steward: StewardSettings = StewardSettings()


def _known_keys(root: type[BaseModel], section: tuple[str, ...]) -> list[str]:
    model: type[BaseModel] = root
    for name in section:
        annotation = model.model_fields[name].annotation if name in model.model_fields else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return []
        model = annotation
    return sorted(field.alias or name for name, field in model.model_fields.items())


SettingsModel = TypeVar("SettingsModel", bound=Section)


def parse_settings(
    model: type[SettingsModel], values: dict[str, Any], source: Path | str = "settings"
) -> SettingsModel:
    """Check values against a settings type and freeze them.

    Raises:
        UsageError: an unknown key (the message names the nearest known one) or a value of a wrong type or range.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = tuple(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = _known_keys(model, place[:-1])
            near = get_close_matches(place[-1], known, n=1, cutoff=0.0)
            raise UsageError(
                f"unknown setting {'.'.join(place)}",
                file=source,
                expected=f"did you mean {near[0]}? known: {', '.join(known)}" if near else None,
            ) from error
        if isinstance(first["input"], dict) and first["type"] == "value_error":
            section = f" of {'.'.join(place)}" if place else ""
            raise UsageError(
                f"settings{section} do not fit together", file=source, expected=_in_words(first)
            ) from error
        raise UsageError(
            f"setting {'.'.join(place)} has a wrong value",
            file=source,
            found=repr(first["input"]),
            expected=EXPECTED.get(place) or _in_words(first),
        ) from error


def _in_words(error: ErrorDetails) -> str:
    if (known := IN_WORDS.get(error["type"])) is None:
        return error["msg"].removeprefix("Value error, ")
    return known.format_map(error.get("ctx", {}))


def settings_from(values: dict[str, Any], source: Path | str = "settings") -> Settings:
    """Check the values of ``ontoground.toml`` and freeze them; errors as in `parse_settings`."""
    return parse_settings(Settings, values, source)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        UsageError: the file is not there, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError("the settings file is not there", file=path) from error
    except OSError as error:
        raise UsageError("the settings file cannot be read", file=path, found=error.strerror) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError("the settings file is not TOML", file=path, found=str(error)) from error


def read_settings(path: Path) -> Settings:
    """Read a settings file; one that is not there means the defaults.

    Raises:
        UsageError: it is no file, the file is not TOML, or a setting is wrong.
    """
    if path.exists() and not path.is_file():
        # A pipe would be waited for, and a device may have no end.
        raise UsageError("the settings file cannot be read", file=path, found="a folder, a pipe or a device")
    return settings_from(read_toml(path), path) if path.exists() or path.is_symlink() else Settings()
