"""Releases: frozen, made again byte by byte, and with the version that what changed calls for."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from ground.contracts.grading import Reference, grade_v1
from ground.contracts.labels import LabelValue
from ground.errors import InputError, UsageError
from stewardship.adjudication.standing import standing
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import read_label_table
from stewardship.grading.grades import label_set
from stewardship.history.log import Event
from stewardship.sheets.ratings import OPEN, RATED
from stewardship.versions.diffs import compare
from stewardship.versions.recipes import Recipe, label_rows, role_rows, table_rows
from stewardship.versions.releases import Release, Version, check_history, check_labels, check_previous, versions_of
from stewardship.versions.releasing import draft_release, make_release
from tests.stewardship.labelled import adopted, finalised


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return adopted(tmp_path)


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def say(benchmark: Benchmark, uid: str, value: str) -> None:
    answer = Event(uid=uid, role="recomputed", value=value, status="high_confidence", by="me")
    benchmark.history.append([answer])


def test_versions_count_up_by_what_changed(benchmark: Benchmark) -> None:
    results = [make_release(benchmark, Recipe("original", limits="v1"))]
    results.append(make_release(benchmark, Recipe("original")))
    results.append(make_release(benchmark, Recipe("recomputed")))
    finalised(benchmark)
    results.append(make_release(benchmark, Recipe()))
    results.append(make_release(benchmark, Recipe(rest="left_out")))
    assert [(str(item.version), item.grade) for item in results] == [
        ("1.0.0", None),
        ("1.0.1", "patch"),
        ("1.1.0", "minor"),
        ("1.2.0", "minor"),
        ("2.0.0", "major"),
    ]
    assert versions_of(benchmark) == [item.version for item in results]


def test_versions_are_in_order_of_their_numbers(benchmark: Benchmark) -> None:
    for turn in range(11):
        say(benchmark, "4", str(30 + turn))
        result = make_release(benchmark, Recipe("recomputed"))
    assert str(result.version) == "1.10.0"
    assert Release.open(benchmark).version == Version(1, 10, 0)


@pytest.mark.parametrize("version", ["1.0.1", "1.0.0", "1.2.0", "3.0.0", "0.9.0"])
def test_a_version_that_does_not_fit_is_refused(benchmark: Benchmark, version: str) -> None:
    make_release(benchmark, Recipe("original"))
    with pytest.raises(UsageError) as result:
        make_release(benchmark, Recipe("recomputed"), Version.parse(version))
    assert "1.1.0" in (result.value.expected or "")
    assert versions_of(benchmark) == [Version(1, 0, 0)]


def test_a_graver_version_than_what_changed_can_be_declared(benchmark: Benchmark) -> None:
    with pytest.raises(UsageError, match=r"first release is 1\.0\.0"):
        make_release(benchmark, Recipe("original"), Version(2, 0, 0))
    make_release(benchmark, Recipe("original"))
    assert make_release(benchmark, Recipe("recomputed"), Version(2, 0, 0)).grade == "minor"
    with pytest.raises(UsageError, match="nothing changed"):
        make_release(benchmark, Recipe("recomputed"), Version(2, 0, 1))


@pytest.mark.parametrize("text", ["1", "1.0", "1.0.0.0", "01.0.0", "1.0.x", "", "-1.0.0"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not the version"):
        Version.parse(text)


def test_the_same_labels_again_are_the_same_release(benchmark: Benchmark) -> None:
    first = make_release(benchmark, Recipe("recomputed"), licence="CC BY-SA 4.0")
    assert first.folder is not None
    before = files_of(first.folder)
    again = make_release(benchmark, Recipe("recomputed"))
    assert (again.version, again.new) == (first.version, False)
    assert make_release(benchmark, Recipe("recomputed"), Version(1, 0, 0)).new is False
    assert make_release(benchmark, Recipe("recomputed"), licence="CC BY-SA 4.0").new is False
    for other in ({"licence": "MIT"}, {"caveats": ["Only for research."]}):
        with pytest.raises(UsageError, match="keeps its licence and its caveats"):
            make_release(benchmark, Recipe("recomputed"), **other)
    assert files_of(first.folder) == before


def test_a_release_made_on_another_day_has_the_same_bytes(tmp_path: Path) -> None:
    results = []
    for place in ("a", "b"):
        benchmark = adopted(tmp_path / place)
        say(benchmark, "4", "30")
        make_release(benchmark, Recipe("original"))
        folder = make_release(benchmark, Recipe("recomputed")).folder
        assert folder is not None
        # Times are in the history, and nowhere in what was released.
        assert benchmark.history.events[0].at[:4].encode() not in (folder / "manifest.json").read_bytes()
        results.append(files_of(folder))
    assert results[0] == results[1]


def test_a_dry_run_writes_nothing(benchmark: Benchmark) -> None:
    result = draft_release(benchmark, Recipe("original"))
    assert (str(result.version), result.new, result.folder) == ("1.0.0", True, None)
    assert not (benchmark.folder / "releases").exists()


def test_rows_without_a_label_keep_the_original_or_are_left_out(benchmark: Benchmark) -> None:
    kept = label_rows(benchmark, Recipe("recomputed"))
    assert kept.filter(uid="3").select("label", "source").row(0) == ("18", "original")
    assert kept.height == 9
    assert label_rows(benchmark, Recipe("recomputed", "left_out"))["uid"].to_list() == list("12456789")


def test_limits_go_by_the_rule(benchmark: Benchmark) -> None:
    def limits(rule: str) -> dict[str, tuple[str, str, str]]:
        frame = label_rows(benchmark, Recipe("recomputed", limits=rule))  # type: ignore[arg-type]
        return {uid: tuple(more) for uid, *more in frame.select("uid", "label", "lower", "upper").rows()}

    assert limits("v1")["2"] == ("12", "12", "12")
    assert limits("corrected")["2"] == ("12", "11.399999999999999", "12.600000000000001")
    assert limits("v1")["5"] == limits("corrected")["5"] == ("N/A", "N/A", "N/A")
    assert limits("corrected")["6"] == ("03/15/2006", "03/15/2006", "03/15/2006")
    assert limits("v1")["7"] == ("('14 weeks', '1 days')",) * 3, "as the question of v1.0 asks for it"
    assert limits("corrected")["7"] == ("99", "94.05", "103.95")


def test_no_note_is_released(benchmark: Benchmark) -> None:
    finalised(benchmark)
    folder = make_release(benchmark, Recipe()).folder
    assert folder is not None
    for name, content in files_of(folder).items():
        assert b"SECRET" not in content, name
    assert "SECRET" not in str(pl.read_parquet(folder / "labels.parquet").to_dicts())


def test_the_table_of_labels_has_the_benchmarks_own_columns(benchmark: Benchmark) -> None:
    folder = make_release(benchmark, Recipe("recomputed")).folder
    assert folder is not None
    header, first, *_ = (folder / "labels.csv").read_text().splitlines()
    assert header == (
        "Unique ID,Calculator ID,Calculator Name,Category,Output Type,Ground Truth Answer,Lower Limit,Upper Limit"
    )
    assert first == "1,21,Glasgow Coma Score (GCS),any,integer,13,12.35,13.65"
    columns = {"uid": "Unique ID", "label": "Ground Truth Answer", "lower": "Lower Limit", "upper": "Upper Limit"}
    again = read_label_table(folder / "labels.csv", columns=columns)
    assert again.frame["label"].to_list()[4] == "N/A"


def test_a_row_whose_raters_disagree_is_not_called_reviewed(benchmark: Benchmark) -> None:
    answers = [("12", RATED, "ann"), ("13", RATED, "bob"), (None, OPEN, "raters")]
    benchmark.history.append(
        [Event(uid="2", role="physician", value=value, status=status, by=by) for value, status, by in answers]
    )
    finalised(benchmark)
    folder = make_release(benchmark, Recipe()).folder
    assert folder is not None
    card = (folder / "README.md").read_text()
    assert "Reviewers labelled 2 of 9 rows (" in card and "Labelled by a reviewer: 2 rows" in card


def test_the_manifest_says_what_it_was_made_from(benchmark: Benchmark) -> None:
    result = make_release(benchmark, Recipe("recomputed"), licence="CC BY-SA 4.0", caveats=["invented"])
    release = Release.open(benchmark)
    manifest = release.manifest
    assert manifest["recipe"] == {"labels": "recomputed", "rest": "original", "limits": "corrected"}
    assert [item["file"] for item in manifest["inputs"]] == ["labels.csv", "sheet.csv"]
    assert manifest["history"] == {"events": len(benchmark.history.events), "sha256": benchmark.history.digest()}
    assert manifest["rows"]["by_kind"] == {"date": 1, "na": 1, "number": 7}
    assert manifest["rows"]["by_source"] == {"original": 1, "recomputed": 8}
    assert manifest["caveats"][-1] == "invented"
    assert release.labels.equals(result.frame)
    card = (release.folder / "README.md").read_text()
    assert "1 of 9 rows have no recomputed label" in card
    assert "CC BY-SA 4.0" in card
    say(benchmark, "4", "30")
    make_release(benchmark, Recipe("recomputed"))
    later = Release.open(benchmark)
    assert later.manifest["licence"] == "CC BY-SA 4.0", "the licence stays"
    assert later.manifest["previous"] == {"version": "1.0.0", "sha256": release.sha256}
    assert "another number, 1 of them by more than 5%" in (later.folder / "README.md").read_text()


@pytest.mark.parametrize("name", ["labels.parquet", "labels.csv", "manifest.json", "README.md"])
def test_a_frozen_file_that_was_altered_is_found(benchmark: Benchmark, name: str) -> None:
    folder = make_release(benchmark, Recipe("original")).folder
    assert folder is not None
    file = folder / name
    assert file.stat().st_mode & 0o222 == 0
    file.chmod(0o644)
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(InputError, match="altered") as result:
        Release.open(benchmark)
    assert result.value.file == str(file)
    with pytest.raises(InputError, match="altered"):
        make_release(benchmark, Recipe("recomputed"))
    file.unlink()
    with pytest.raises(InputError, match="altered"):
        Release.open(benchmark)


def test_another_history_than_the_one_it_was_made_of_is_found(tmp_path: Path, benchmark: Benchmark) -> None:
    make_release(benchmark, Recipe("original"))
    release = Release.open(benchmark)
    say(benchmark, "4", "30")
    check_history(benchmark, release)
    other = adopted(tmp_path / "other")
    for name in ("history.jsonl", "history.seal"):
        (benchmark.folder / name).write_bytes((other.folder / name).read_bytes())
    check_history(Benchmark.open(tmp_path), release)
    changed = json.loads(json.dumps(release.manifest))
    changed["history"]["sha256"] = hashlib.sha256(b"").hexdigest()
    with pytest.raises(InputError, match="not the one that release"):
        check_history(Benchmark.open(tmp_path), Release(release.folder, release.version, changed, release.labels))


def test_a_release_is_made_again_from_the_history_as_it_was(benchmark: Benchmark) -> None:
    make_release(benchmark, Recipe("recomputed"))
    release = Release.open(benchmark)
    say(benchmark, "4", "30")
    check_labels(benchmark, release)
    assert not label_rows(benchmark, Recipe("recomputed")).equals(release.labels)
    other = release.labels.with_columns(label=pl.lit("1"))
    with pytest.raises(InputError, match="not those that the history gives"):
        check_labels(benchmark, Release(release.folder, release.version, release.manifest, other))


def test_a_release_that_was_exchanged_or_removed_is_missed_by_the_next_one(benchmark: Benchmark) -> None:
    make_release(benchmark, Recipe("original"))
    make_release(benchmark, Recipe("recomputed"))
    second = Release.open(benchmark)
    check_previous(benchmark, second)
    first = benchmark.folder / "releases" / "1.0.0"
    sums = first / "SHA256SUMS"
    sums.chmod(0o644)
    sums.write_text("".join(reversed(sums.read_text().splitlines(keepends=True))))
    Release.open(benchmark, "1.0.0")
    with pytest.raises(InputError, match=r"release 1\.0\.0 is not the one"):
        check_previous(benchmark, second)
    shutil.rmtree(first)
    with pytest.raises(InputError) as result:
        check_previous(benchmark, second)
    assert result.value.found == "no release"
    with pytest.raises(InputError, match=r"release 1\.0\.0 is not the one"):
        make_release(benchmark, Recipe("original"))


def test_nothing_is_released_on_top_of_another_history(tmp_path: Path, benchmark: Benchmark) -> None:
    say(benchmark, "4", "30")
    make_release(benchmark, Recipe("original"))
    other = adopted(tmp_path / "other")
    for name in ("history.jsonl", "history.seal"):
        (benchmark.folder / name).write_bytes((other.folder / name).read_bytes())
    with pytest.raises(InputError, match="not the one that release"):
        make_release(Benchmark.open(tmp_path), Recipe("recomputed"))


def test_a_frozen_version_is_never_made_of_other_labels(benchmark: Benchmark) -> None:
    make_release(benchmark, Recipe("original"))
    with pytest.raises(UsageError, match="frozen") as result:
        make_release(benchmark, Recipe("recomputed"), Version(1, 0, 0))
    assert result.value.expected == "1.1.0"


def test_final_labels_that_are_older_than_what_they_rest_on_are_refused(benchmark: Benchmark) -> None:
    with pytest.raises(InputError, match="no row has a label of role final"):
        make_release(benchmark, Recipe())
    finalised(benchmark)
    make_release(benchmark, Recipe())
    say(benchmark, "4", "30")
    with pytest.raises(UsageError, match="older than their evidence") as result:
        make_release(benchmark, Recipe())
    assert result.value.found == "1 rows: 4"
    with pytest.raises(UsageError, match="older than their evidence"):
        label_set(benchmark, "final")
    assert standing(benchmark).outdated == ("4",)
    finalised(benchmark)
    assert str(make_release(benchmark, Recipe()).version) == "1.1.0"


def test_a_row_reviewed_after_it_was_finalised_is_noticed(benchmark: Benchmark) -> None:
    finalised(benchmark)
    benchmark.history.append([Event(uid="2", role="physician", value="12", status="labelled", by="rater 1")])
    with pytest.raises(UsageError, match="older than their evidence"):
        label_rows(benchmark, Recipe())


def test_a_label_that_cannot_be_read_is_refused(benchmark: Benchmark) -> None:
    say(benchmark, "4", "somewhat")
    with pytest.raises(InputError, match="cannot be read") as result:
        label_rows(benchmark, Recipe("recomputed"))
    assert result.value.found == "1 rows: 4"


def test_references_grade_answers(benchmark: Benchmark) -> None:
    make_release(benchmark, Recipe("recomputed"))
    references = Release.open(benchmark, "1.0.0").references()
    assert references["5"].value == LabelValue.of(None)
    assert references["1"] == Reference.of(LabelValue.of(13.0), "corrected", "integer")
    with pytest.raises(InputError, match="no such release"):
        Release.open(benchmark, "1.2.3")


def test_a_release_of_the_original_labels_grades_weeks_and_days_as_v1_does(benchmark: Benchmark) -> None:
    make_release(benchmark, Recipe("recomputed", limits="v1"))
    reference = Release.open(benchmark).references()["7"]
    assert grade_v1("(14 weeks, 1 days)", reference)
    assert not grade_v1("99", reference)


@pytest.mark.real
def test_the_corrected_labels_and_the_original_ones_are_made_again(real_data: Path, tmp_path: Path) -> None:
    source = real_data / "stewardship" / "source"
    names = ("original_test_labels.csv.gz", "y_final_MD_evals_incorporated.xlsx")
    benchmark = Benchmark.adopt(
        tmp_path, "medcalc", [read_label_table(source / name) for name in names], open_because="invented"
    )
    corrected = label_rows(benchmark, Recipe("final", "left_out", "corrected"))
    assert corrected.height == 887
    assert compare(corrected, table_rows(source / "medcalc_v1_corrected.csv.gz")).frame.height == 0
    original = label_rows(benchmark, Recipe("original", "original", "v1"))
    assert original.height == 1047
    assert compare(original, table_rows(source / names[0])).frame.height == 0
    predictions = pl.read_csv(
        real_data / "stewardship" / "checks" / "shown" / "predictions_gpt4omini_1047.csv", infer_schema=False
    )
    make_release(benchmark, Recipe("original", limits="v1"))
    references = Release.open(benchmark).references()
    assert sum(grade_v1(answer, references[uid]) for uid, answer in predictions.iter_rows()) == 216, "as case S7 says"
    first = make_release(benchmark, Recipe("original"))
    final = make_release(benchmark, Recipe())
    assert (str(first.version), str(final.version)) == ("1.0.1", "1.1.0")
    assert final.diff is not None
    assert final.diff.counts() == {"number to number": 508, "number to N/A": 69, "date to date": 34}
    y_new_to_final = compare(role_rows(benchmark, "recomputed"), role_rows(benchmark, "final"))
    assert y_new_to_final.counts() == {"number to number": 11, "number to N/A": 4, "N/A to number": 1}
    disagree = {"3", "145", "309", "328", "334", "341", "342", "417", "520", "569", "918", "992", "1007"}
    assert set(y_new_to_final.frame["uid"]) == disagree | {"56", "349", "428"}
    triage = compare(role_rows(benchmark, "original"), role_rows(benchmark, "recomputed"))
    flags = triage.frame.group_by("flag").len()
    assert dict(flags.drop_nulls().iter_rows()) == {"differs": 220, "abstained": 66, "unflagged": 330}
