"""Blood pressure, QT interval and coronary risk: calculators 5, 11, 46, 56 to 59."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable

from stewardship.calculators.equations_body import SEXES
from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.units_v1 import round_v1

__all__ = ["QT_CORRECTIONS", "framingham_risk", "framingham_score", "read_mean_pressure"]


QT_CORRECTIONS: dict[int, Callable[[float, float], float]] = {
    11: lambda qt, rate: qt / math.sqrt(60 / rate),  # Bazett 1920
    56: lambda qt, rate: qt / math.cbrt(60 / rate),  # Fridericia 1920
    57: lambda qt, rate: qt + 154 * (1 - 60 / rate),  # Sagie 1992 (Framingham)
    58: lambda qt, rate: qt + 1.75 * (rate - 60),  # Hodges 1983
    59: lambda qt, rate: qt * (120 + rate) / 180,  # Rautaharju 2014
}
"""Corrected QT interval in ms, from ms and beats per minute, by number of the calculator."""

# Framingham Heart Study, hard coronary heart disease (10-year risk), 2002: the published coefficients of ln age,
# ln cholesterol, ln HDL, ln pressure, treated, smoker, ln age x ln cholesterol, ln age x smoker, ln age squared.
FRAMINGHAM = {
    "Male": (52.00961, 20.014077, -0.905964, 1.305784, 0.241549, 12.096316, -4.605038, -2.84367, -2.93323),
    "Female": (31.764001, 22.465206, -1.187731, 2.552905, 0.420251, 13.07543, -5.060998, -2.996945, 0),
}
# The constant, survival at the means, and the age from which smoking adds no more.
BASELINE = {"Male": (-172.300168, 0.9402, 70), "Female": (-146.5933061, 0.98767, 78)}


def framingham_score(
    age: float, sex: str, cholesterol: float, hdl: float, pressure: float, *, treated: bool, smoker: bool
) -> float:
    """Return the linear score of `framingham_risk`; arguments as there."""
    constant, _, oldest_smoker = BASELINE[sex]
    ln_age, ln_cholesterol = math.log(age), math.log(cholesterol)
    smoking = math.log(min(age, oldest_smoker)) * smoker
    lipids, pressures = (ln_cholesterol, math.log(hdl)), (math.log(pressure), treated)
    terms = (ln_age, *lipids, *pressures, smoker, ln_age * ln_cholesterol, smoking, ln_age**2)
    score: float = sum(map(operator.mul, FRAMINGHAM[sex], terms)) + constant
    return score


def framingham_risk(score: float, sex: str) -> float:
    """Return the 10-year risk of myocardial infarction or coronary death, from 0 to 1 (ATP III, 2002).

    Args:
        score: `framingham_score` of age in years, total and HDL cholesterol in mg/dL, systolic pressure in mmHg.
        sex: ``Male`` or ``Female``.
    """
    return 1 - math.pow(BASELINE[sex][1], math.exp(score))


def read_mean_pressure(features: Features) -> float:
    """Return the mean arterial pressure of a row, mmHg.

    Raises:
        NotComputable: a pressure is missing or out of range, or the diastolic one is above the systolic one.
    """
    systolic = features.quantity("Systolic Blood Pressure", "mmHg")
    diastolic = features.quantity("Diastolic Blood Pressure", "mmHg")
    if not features.lenient and diastolic > systolic:
        raise NotComputable(f"diastolic pressure {diastolic:g} is above systolic pressure {systolic:g}")
    return (systolic + 2 * diastolic) / 3


@calculator(5)
def _mean_arterial_pressure(features: Features, version: Version) -> float:
    return read_mean_pressure(features)


def _corrected_qt(number: int, features: Features, version: Version) -> float:
    qt, rate = features.quantity("QT interval", "msec"), features.quantity("Heart Rate or Pulse", "bpm")
    if rate <= 0:
        raise NotComputable("no heart beat: a QT interval cannot be corrected")
    # v1.0 rounded the seconds of a beat, which Rautaharju's formula has none of.
    if version == "v1.0" and number != 59:
        rate = 60 / round_v1(60 / rate)
    return QT_CORRECTIONS[number](qt, rate)


for _number in QT_CORRECTIONS:
    calculator(_number)(functools.partial(_corrected_qt, _number))


@calculator(46)
def _framingham_risk(features: Features, version: Version) -> float:
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
