"""Pictures are drawn with what they must show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evaluation import figures
from evaluation.drawing import error_bars, titled
from evaluation.rates import metrics_of
from ground import pictures
from ground.contracts.rows import QUADRANTS


def estimate(
    value: float | None, low: float | None = None, high: float | None = None, spread: float | None = None
) -> dict[str, float | None]:
    return {"value": value, "low": low, "high": high, "spread": spread}


def shown(name: str, kind: str = "model", value: float | None = 0.5) -> dict[str, Any]:
    interval = estimate(value) if value is None else estimate(value, value - 0.1, value + 0.1)
    return {
        "name": name,
        "kind": kind,
        "metrics": dict.fromkeys((*metrics_of(np.ones((4, 5))), "ece"), interval),
        "confusion": np.full((4, 5), 2.0).tolist(),
        "calibration": [{"rows": 20, "mean_confidence": sure, "share_right": 0.6} for sure in (0.5, 0.75)],
    }


def picture(path: Path) -> Any:
    from matplotlib.image import imread

    return imread(path)


def colours(path: Path, colour: str) -> int:
    """Count the pixels of a colour."""
    wanted = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])
    pixels = np.rint(picture(path)[..., :3] * 255).astype(np.int64)
    return int((np.abs(pixels - wanted).max(axis=-1) <= 2).sum())


def test_every_model_has_its_colour_in_the_pictures(tmp_path: Path) -> None:
    models = [shown("a"), shown("b", value=0.3), shown("base", "baseline", 0.4)]
    for draw in (figures.f1_figure, figures.risk_figure):
        path = tmp_path / "p.png"
        draw(models, path)
        for colour in (pictures.COLOURS[0], pictures.COLOURS[1], pictures.GREY):
            assert colours(path, colour) > 30
        assert colours(path, pictures.COLOURS[2]) == 0


def test_a_title_names_intervals_where_one_is_drawn() -> None:
    some, none = (error_bars([row])[1] for row in (estimate(0.5, 0.4, 0.6), estimate(0.5)))
    assert titled("F1", none) == "F1"
    assert titled("F1", none, some) == "F1, 95% intervals"


def test_undefined_values_are_left_out_of_pictures(tmp_path: Path) -> None:
    figures.f1_figure([shown("a", value=None)], tmp_path / "none.png")
    figures.f1_figure([shown("a")], tmp_path / "some.png")
    assert 0 < colours(tmp_path / "none.png", pictures.COLOURS[0]) < colours(tmp_path / "some.png", pictures.COLOURS[0])
    figures.risk_figure([shown("a", value=None)], tmp_path / "risk.png")
    assert picture(tmp_path / "risk.png").std() > 0


def test_calibration_is_drawn_only_where_there_are_scores(tmp_path: Path) -> None:
    path = tmp_path / "c.png"
    figures.calibration_figure([shown("a") | {"calibration": []}], path)
    assert not path.exists()
    figures.calibration_figure([shown("a"), shown("b") | {"calibration": []}], path)
    assert colours(path, pictures.COLOURS[0]) > 10


def test_baselines_with_one_answer_take_no_panel(tmp_path: Path) -> None:
    constant = np.zeros((4, 5))
    constant[:, 0] = 3
    figures.confusion_figure([shown("a")], tmp_path / "one.png")
    figures.confusion_figure(
        [shown("a"), shown("m", "baseline") | {"confusion": constant.tolist()}], tmp_path / "two.png"
    )
    assert picture(tmp_path / "one.png").shape == picture(tmp_path / "two.png").shape
    figures.confusion_figure([shown("a"), shown("m", "baseline")], tmp_path / "three.png")
    assert picture(tmp_path / "three.png").shape[1] > picture(tmp_path / "one.png").shape[1]


def test_lambda_and_learning_curves_are_drawn(tmp_path: Path) -> None:
    metrics = shown("a")["metrics"]
    points = [{"series": series, "lambda": at, "metrics": metrics} for series in "ab" for at in (0, 0.5, 2.0)]
    figures.lambda_figure(points[:3], tmp_path / "panel.png")
    figures.lambda_figure(points, tmp_path / "lambda.png")
    assert picture(tmp_path / "lambda.png").shape[1] > 1.5 * picture(tmp_path / "panel.png").shape[1]
    assert all(colours(tmp_path / "lambda.png", colour) > 20 for colour in pictures.COLOURS[2:3])
    records = [{"step": step, "loss": 2 / (1 + step)} for step in range(60)]
    figures.learning_figure({"seed 1": records, "seed 2": records[:0]}, tmp_path / "learning.png")
    assert colours(tmp_path / "learning.png", pictures.COLOURS[0]) > 100


def test_quadrants_are_explained_in_the_picture() -> None:
    assert tuple(figures.MEANING) == QUADRANTS
