"""From answers to labels: one rater's is the label, several must share one, and how far they agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.contracts.labels import LabelValue, parse_label
from ground.settings import StewardSettings
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import Event
from stewardship.sheets.batch import SheetBatch, read_batches
from stewardship.sheets.figures import confusion, drawn_of, error_rates, reliability
from stewardship.sheets.ratings import current_ratings, new_events, settle
from stewardship.sheets.reading import Rating
from stewardship.sheets.spotchecks import add_spot_checks, spot_check_summary
from tests.stewardship.sheets.world import QUADRANTS, scores, statements, written

SETTINGS = StewardSettings()


def labels(**answer: str) -> dict[str, LabelValue]:
    return {rater: parse_label(text, physician=True) for rater, text in answer.items()}


@pytest.mark.parametrize(
    ("answers", "label"),
    [
        ({"ann": "10.5", "bob": "10.5"}, "10.5"),
        ({"ann": "10.501", "bob": "10.499"}, "10.501"),
        ({"ann": "10.5", "bob": "N/A"}, None),
        ({"ann": "N/A", "bob": "N/A"}, "N/A"),
        # Within 5%, and continuous: the one nearest to the others.
        ({"ann": "31.5", "bob": "31.55"}, "31.5"),
        ({"ann": "30", "bob": "31", "cleo": "31.4"}, "31"),
        ({"ann": "100", "bob": "104", "cleo": "200"}, "100"),
        ({"ann": "100", "bob": "106"}, None),
        # One point of a score is another label.
        ({"ann": "3", "bob": "4"}, None),
        ({"ann": "3", "bob": "4", "cleo": "3"}, "3"),
        ({"ann": "3", "bob": "4", "cleo": "5"}, None),
        ({"ann": "03/21/2006", "bob": "03/22/2006"}, None),
        ({"ann": "3", "bob": "3", "cleo": "N/A", "dan": "N/A"}, None),
    ],
)
def test_more_than_half_of_the_raters_make_a_label(answers: dict[str, str], label: str | None) -> None:
    result = settle(labels(**answers))
    assert (result.label.text() if result.label else None) == label
    assert str(len(answers)) in result.why


def rating(batch: SheetBatch, uid: str, rater: str, text: str, comment: str = "") -> Rating:
    item = next(entry for entry in batch.items if (entry.uid, entry.rater) == (uid, rater))
    names = QUADRANTS if item.expects == "category" else ()
    value = parse_label(text, physician=True, categories=names)
    return Rating(uid, rater, batch.name, item.item, value, text, comment, f"{rater}.csv", 2)


def take(benchmark: Benchmark, *ratings: Rating, settle_now: bool = False) -> list[Event]:
    history = benchmark.history
    events = new_events(ratings, read_batches(benchmark.folder), history, settle_now=settle_now)
    if events:
        history.append(events)
    return events


def test_the_answer_of_an_only_rater_is_the_label_with_comment_and_place(tmp_path: Path) -> None:
    bench = scores(tmp_path)
    batch = written(bench, [("row-1", "ann"), ("row-5", "bob")]).batch
    (event,) = take(bench, rating(batch, "row-1", "ann", "7", "counted twice"))
    assert (event.role, event.value, event.status, event.by, event.why) == (
        "physician",
        "7",
        "labelled",
        "ann",
        "counted twice",
    )
    assert event.evidence["sheet"] == "sheets-1" and event.evidence["drawn"] == "sampled" and event.evidence["blind"]
    assert bench.history.labels("physician") == {"row-1": LabelValue.of(7)}
    # The same again adds nothing, a corrected one does, and an earlier batch can be taken back.
    assert take(bench, rating(batch, "row-1", "ann", "7", "counted twice")) == []
    take(bench, rating(batch, "row-1", "ann", "8"))
    assert bench.history.labels("physician") == {"row-1": LabelValue.of(8)}
    history = bench.history
    history.revert(history.batches()[-1].name, by="test", why="a slip")
    assert bench.history.labels("physician") == {"row-1": LabelValue.of(7)}
    assert current_ratings(bench.history) == {"row-1": {"ann": LabelValue.of(7)}}


def test_a_row_of_two_raters_has_no_label_until_both_answered_and_agree(tmp_path: Path) -> None:
    bench = scores(tmp_path)
    rows = ("row-1", "row-5", "row-9")
    batch = written(bench, [(uid, rater) for uid in rows for rater in ("ann", "bob")]).batch
    take(bench, *(rating(batch, uid, "ann", "7") for uid in rows))
    assert bench.history.labels("physician") == {}
    assert {event.status for event in bench.history.latest("physician").values()} == {"awaiting"}
    take(bench, rating(batch, "row-1", "bob", "7"), rating(batch, "row-5", "bob", "3"))
    latest = bench.history.latest("physician")
    assert {uid: (event.status, event.value) for uid, event in latest.items()} == {
        "row-1": ("adjudicated", "7"),
        "row-5": ("to_adjudicate", None),
        "row-9": ("awaiting", None),
    }
    assert latest["row-1"].evidence["raters"] == ["ann", "bob"]
    assert take(bench, rating(batch, "row-5", "bob", "3")) == []
    take(bench, settle_now=True)
    assert bench.history.labels("physician") == {"row-1": LabelValue.of(7), "row-9": LabelValue.of(7)}
    # A sheet that is read again does not undo it; what the other rater says after all does.
    assert take(bench, *(rating(batch, uid, "ann", "7") for uid in rows)) == []
    take(bench, rating(batch, "row-9", "bob", "2"))
    assert bench.history.latest("physician")["row-9"].status == "to_adjudicate"


def test_a_third_expert_decides_and_a_rater_who_changes_his_mind_does_not_undo_it(tmp_path: Path) -> None:
    bench = scores(tmp_path)
    batch = written(bench, [("row-1", "ann"), ("row-1", "bob")]).batch
    take(bench, rating(batch, "row-1", "ann", "7"), rating(batch, "row-1", "bob", "3"))
    deciding = written(bench, [("row-1", "cleo")], name="adjudicate-1", kind="adjudication", drawn="open").batch
    (event,) = take(bench, rating(deciding, "row-1", "cleo", "5", "neither"))
    assert (event.status, event.by, event.why) == ("adjudicated", "cleo", "neither")
    assert bench.history.labels("physician") == {"row-1": LabelValue.of(5)}
    take(bench, rating(batch, "row-1", "bob", "7"))
    assert bench.history.latest("physician")["row-1"].value == "5"
    assert set(current_ratings(bench.history)["row-1"]) == {"ann", "bob", "cleo"}


def quadrants(**by: str) -> dict[str, dict[str, LabelValue]]:
    """Ratings from strings of digits: the quadrant of each row, 0 for N/A, a blank for none."""
    results: dict[str, dict[str, LabelValue]] = {}
    for rater, answer in by.items():
        for at, digit in enumerate(answer):
            if digit != " ":
                text = "N/A" if digit == "0" else f"Q{digit}"
                results.setdefault(f"s{at}", {})[rater] = parse_label(text, categories=QUADRANTS)
    return results


def test_agreement_of_the_papers_size_comes_out_as_printed() -> None:
    """MediEval, appendix C: 194 of 200 balanced rows agree (97%), the others between Q2 and Q3; kappa about 0.96."""
    first = "1" * 50 + "2" * 50 + "3" * 50 + "4" * 50
    second = "1" * 50 + "3" * 3 + "2" * 47 + "2" * 3 + "3" * 47 + "4" * 50
    result = reliability(quadrants(ann=first, bob=second), {}, SETTINGS)
    (pair,) = result.pairs
    assert (pair.n, pair.agree, pair.same, result.unanimous) == (200, 194, 194, 194)
    assert pair.share.value == 0.97 and pair.kappa == pytest.approx(0.96)
    assert (pair.share.low, pair.share.high) == pytest.approx((0.936106, 0.986180), abs=1e-6)
    assert pair.by_label == {"Q1": {"Q1": 50}, "Q2": {"Q2": 47, "Q3": 3}, "Q3": {"Q2": 3, "Q3": 47}, "Q4": {"Q4": 50}}
    (nominal,) = (alpha for alpha in result.alphas if alpha.level == "nominal")
    # 1 - observed / expected disagreement = 1 - 0.03 / (0.75 * 400 / 399).
    assert nominal.value == pytest.approx(1 - 0.03 / (0.75 * 400 / 399), abs=1e-9)


def test_an_abstention_is_a_label_of_its_own_and_an_empty_cell_is_none() -> None:
    result = reliability(quadrants(ann="1200", bob="1020", cleo="   0"), {}, SETTINGS)
    pairs = {(pair.first, pair.second): pair for pair in result.pairs}
    assert {names: (pair.n, pair.agree) for names, pair in pairs.items()} == {
        ("ann", "bob"): (4, 2),
        ("ann", "cleo"): (1, 1),
        ("bob", "cleo"): (1, 1),
    }
    # All labels of the one row are the same: kappa is 0/0, not 1.
    assert pairs["ann", "cleo"].kappa is None
    alphas = {alpha.level: alpha for alpha in result.alphas}
    assert set(alphas) == {"nominal", "computable"}
    assert (alphas["computable"].rows, alphas["computable"].answers) == (4, 9)


def test_numbers_agree_by_the_rule_for_physicians_and_by_interval_alpha_without_abstentions() -> None:
    answers = {
        "ordinal": labels(ann="3", bob="4"),
        "apart": labels(ann="3", bob="5"),
        "continuous": labels(ann="100.5", bob="104"),
        "far": labels(ann="100", bob="106"),
        "na": labels(ann="N/A", bob="3"),
        "alone": labels(ann="3"),
    }
    result = reliability(answers, {"apart": [LabelValue.of(30)]}, SETTINGS)
    assert (result.rows, result.unanimous, result.pairs[0].agree, result.pairs[0].same) == (5, 2, 2, 0)
    alphas = {alpha.level: alpha for alpha in result.alphas}
    assert (alphas["interval"].rows, alphas["interval"].answers) == (4, 8)
    assert alphas["interval"].value == pytest.approx(0.997, abs=1e-3)
    # The other labels of a row decide with the raters' whether it is a score: with a 30 beside it, 3 is not 4.
    assert reliability({"one": labels(ann="3", bob="4")}, {"one": [LabelValue.of(30)]}, SETTINGS).unanimous == 0


def test_no_agreement_is_reported_where_nobody_shares_a_row() -> None:
    result = reliability({"s1": labels(ann="3"), "s2": labels(bob="3")}, {}, SETTINGS)
    assert (result.rows, result.pairs) == (0, ()) and {alpha.value for alpha in result.alphas} == {None}


def test_error_rates_are_counted_by_draw_label_and_stratum_with_wilson_intervals(tmp_path: Path) -> None:
    bench = statements(tmp_path)
    uids = [f"s{number:03d}" for number in range(8)]
    sampled = written(bench, [(uid, "ann") for uid in uids], name="sample-1", kind="sample", drawn="balanced").batch
    blind = written(bench, [("s010", "ann")], drawn="any").batch
    # Row s001 is Q2 and s002 is Q3 as published; the reviewer says the other way round.
    says = dict(zip(uids, ("Q1", "Q3", "Q2", "Q4", "Q1", "Q2", "Q3", "N/A"), strict=True))
    take(bench, *(rating(sampled, uid, "ann", text) for uid, text in says.items()), rating(blind, "s010", "ann", "Q3"))
    history = bench.history
    original = history.labels("original")
    physician = history.labels("physician")
    drawn = drawn_of(history, read_batches(bench.folder))
    assert drawn["s010"] == "any" and {drawn[uid] for uid in uids} == {"balanced"}
    groups = {"label": {uid: label.text() for uid, label in original.items()}}
    rates = error_rates(physician, {"original": original}, drawn, groups, SETTINGS)
    counts = {(rate.drawn, rate.by, rate.group): (rate.errors, rate.n) for rate in rates}
    assert counts == {
        ("any", "all", "all"): (0, 1),
        ("any", "label", "Q3"): (0, 1),
        ("balanced", "all", "all"): (3, 8),
        ("balanced", "label", "Q1"): (0, 2),
        ("balanced", "label", "Q2"): (1, 2),
        ("balanced", "label", "Q3"): (1, 2),
        ("balanced", "label", "Q4"): (1, 2),
    }
    whole = next(rate for rate in rates if rate.drawn == "balanced" and rate.by == "all")
    assert whole.share == 0.375 and (whole.low, whole.high) == pytest.approx((0.13684, 0.69426), abs=1e-5)
    assert confusion(physician, original, drawn)["balanced"]["Q2"] == {"Q2": 1, "Q3": 1}


def test_spot_checks_are_kept_apart_from_the_labels(tmp_path: Path) -> None:
    bench = scores(tmp_path)
    assert spot_check_summary(bench.folder) is None
    batch = SheetBatch(name="spot-check-1", kind="spot_check", drawn="audit", blind=False, seed=1, items=())
    answers = [
        Rating(f"row-{at}", "ann", batch.name, f"i{at}", LabelValue.of(verdict), verdict, "", "ann.csv", at)
        for at, verdict in enumerate(["agree"] * 6 + ["unclear"])
    ]
    assert add_spot_checks(bench.folder, answers) == 7 and add_spot_checks(bench.folder, answers) == 0
    summary = spot_check_summary(bench.folder)
    assert summary is not None and summary["verdicts"] == {"agree": 6, "disagree": 0, "unclear": 1}
    assert summary["agree"]["value"] == pytest.approx(6 / 7) and summary["rows"] == 7
    assert bench.history.latest("physician") == {}


def test_small_numbers_are_not_rounded_to_one_another() -> None:
    assert settle(labels(ann="0.07418", bob="0.07")).label is None
    assert settle(labels(ann="0.07418", bob="0.0742")).label == LabelValue.of(0.07418)
