"""Blood pressure, QT interval and coronary risk: calculators 5, 11, 46, 56 to 59."""

from __future__ import annotations

import math
from typing import NamedTuple

from stewardship.calculators.equations_body import SEXES
from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.units_v1 import round_v1

__all__ = [
    "framingham_risk",
    "mean_arterial_pressure",
    "qtc_bazett",
    "qtc_framingham",
    "qtc_fridericia",
    "qtc_hodges",
    "qtc_rautaharju",
    "read_mean_pressure",
]


def mean_arterial_pressure(systolic: float, diastolic: float) -> float:
    """Return the mean arterial pressure, in the unit of both pressures (mmHg)."""
    return (systolic + 2 * diastolic) / 3


def qtc_bazett(qt: float, heart_rate: float) -> float:
    """Return the corrected QT interval in ms (Bazett 1920).

    Args:
        qt: ms.
        heart_rate: beats per minute.
    """
    return qt / math.sqrt(60 / heart_rate)


def qtc_fridericia(qt: float, heart_rate: float) -> float:
    """Return the corrected QT interval in ms (Fridericia 1920).

    Args:
        qt: ms.
        heart_rate: beats per minute.
    """
    return qt / math.cbrt(60 / heart_rate)


def qtc_framingham(qt: float, heart_rate: float) -> float:
    """Return the corrected QT interval in ms (Sagie 1992).

    Args:
        qt: ms.
        heart_rate: beats per minute.
    """
    return qt + 154 * (1 - 60 / heart_rate)


def qtc_hodges(qt: float, heart_rate: float) -> float:
    """Return the corrected QT interval in ms (Hodges 1983).

    Args:
        qt: ms.
        heart_rate: beats per minute.
    """
    return qt + 1.75 * (heart_rate - 60)


def qtc_rautaharju(qt: float, heart_rate: float) -> float:
    """Return the corrected QT interval in ms (Rautaharju 2014).

    Args:
        qt: ms.
        heart_rate: beats per minute.
    """
    return qt * (120 + heart_rate) / 180


class Coefficients(NamedTuple):
    """Coefficients of the Framingham score of one sex."""

    age: float
    cholesterol: float
    hdl: float
    pressure: float
    treated: float
    smoker: float
    age_cholesterol: float
    age_smoker: float
    age_squared: float
    constant: float
    survival: float
    oldest_smoker: float


# Framingham Heart Study, hard coronary heart disease (10-year risk), 2002: the published coefficients.
MEN = Coefficients(
    52.00961,
    20.014077,
    -0.905964,
    1.305784,
    0.241549,
    12.096316,
    -4.605038,
    -2.84367,
    -2.93323,
    -172.300168,
    0.9402,
    70,
)
WOMEN = Coefficients(
    31.764001, 22.465206, -1.187731, 2.552905, 0.420251, 13.07543, -5.060998, -2.996945, 0, -146.5933061, 0.98767, 78
)


def framingham_score(
    age: float, sex: str, cholesterol: float, hdl: float, pressure: float, *, treated: bool, smoker: bool
) -> float:
    """Return the linear score of `framingham_risk`; arguments as there."""
    of = MEN if sex == "Male" else WOMEN
    ln_age, ln_cholesterol = math.log(age), math.log(cholesterol)
    return (
        of.age * ln_age
        + of.cholesterol * ln_cholesterol
        + of.hdl * math.log(hdl)
        + of.pressure * math.log(pressure)
        + of.treated * treated
        + of.smoker * smoker
        + of.age_cholesterol * ln_age * ln_cholesterol
        + of.age_smoker * math.log(min(age, of.oldest_smoker)) * smoker
        + of.age_squared * ln_age**2
        + of.constant
    )


def framingham_risk(score: float, sex: str) -> float:
    """Return the 10-year risk of myocardial infarction or coronary death, from 0 to 1 (ATP III, 2002).

    Args:
        score: `framingham_score` of age in years, total and HDL cholesterol in mg/dL, systolic pressure in mmHg.
        sex: ``Male`` or ``Female``.
    """
    return 1 - math.pow((MEN if sex == "Male" else WOMEN).survival, math.exp(score))


def read_mean_pressure(features: Features) -> float:
    """Return the mean arterial pressure of a row, mmHg.

    Raises:
        NotComputable: a pressure is missing or out of range, or the diastolic one is above the systolic one.
    """
    systolic = features.quantity("Systolic Blood Pressure", "mmHg")
    diastolic = features.quantity("Diastolic Blood Pressure", "mmHg")
    if not features.lenient and diastolic > systolic:
        raise NotComputable(f"diastolic pressure {diastolic:g} is above systolic pressure {systolic:g}")
    return mean_arterial_pressure(systolic, diastolic)


@calculator(5)
def _(features: Features, version: Version) -> float:
    return read_mean_pressure(features)


def _qt(features: Features, version: Version) -> tuple[float, float]:
    """Return the QT interval in ms and the heart rate in beats per minute."""
    qt, heart_rate = features.quantity("QT interval", "msec"), features.quantity("Heart Rate or Pulse", "bpm")
    if heart_rate <= 0:
        raise NotComputable("no heart beat: a QT interval cannot be corrected")
    return qt, heart_rate if version == "corrected" else 60 / round_v1(60 / heart_rate)


@calculator(11)
def _(features: Features, version: Version) -> float:
    return qtc_bazett(*_qt(features, version))


@calculator(56)
def _(features: Features, version: Version) -> float:
    return qtc_fridericia(*_qt(features, version))


@calculator(57)
def _(features: Features, version: Version) -> float:
    return qtc_framingham(*_qt(features, version))


@calculator(58)
def _(features: Features, version: Version) -> float:
    return qtc_hodges(*_qt(features, version))


@calculator(59)
def _(features: Features, version: Version) -> float:
    return qtc_rautaharju(*_qt(features, "corrected"))


@calculator(46)
def _(features: Features, version: Version) -> float:
    sex, age = features.choice("sex", SEXES), features.quantity("age", "years")
    # v1.0 put mmol/L into logarithms that are of mg/dL, rounded twice, and gave a fraction for a percentage.
    old = version == "v1.0"
    unit = "mmol/L" if old else "mg/dL"
    cholesterol = features.quantity("Total cholesterol", unit)
    hdl = features.quantity("high-density lipoprotein cholesterol", unit)
    pressure = features.quantity("Systolic Blood Pressure", "mmhg")
    absent = False if old else None
    treated = features.flag("Blood pressure being treated with medicines", absent=absent)
    smoker = features.flag("Smoker", absent=absent)
    if not old and age < 20:
        raise NotComputable(f"the score is for adults from 20 years on: {age:g} years")
    if not old and age >= 80:
        features.assume("age is 80 or over: the score was made on people of 20 to 79 years")
    score = framingham_score(age, sex, cholesterol, hdl, pressure, treated=treated, smoker=smoker)
    features.step(f"score: {score:.4g}")
    if old:
        return round(framingham_risk(round(score, 1), sex), 1)
    return 100 * framingham_risk(score, sex)
