"""Scores of critical illness: coma scale (21), APACHE II (28), sequential organ failure (43)."""

from __future__ import annotations

from stewardship.calculators.equations_heart import read_mean_pressure
from stewardship.calculators.features import Features, NotComputable
from stewardship.calculators.registry import Version, calculator
from stewardship.calculators.scoring import Score

__all__ = ["cardiovascular_points"]

OXYGEN = "Partial pressure of oxygen (PaO₂) for Apache II"
PRESSURES = ("Systolic Blood Pressure", "Diastolic Blood Pressure")
MEAN_PRESSURE = "Mean arterial pressure"
COMA = "Glasgow Coma Score"
ORGAN_FAILURE = "History of severe organ failure or immunocompromise"
ACUTE, CHRONIC = "Acute renal failure", "Chronic Renal Failure"
RATE = "mcg/kg/min"

# Points of APACHE II's creatinine in v1.0: least creatinine in mg/dL, acute, chronic, neither.
CREATININE_V1 = ((3.5, 8, 4, 0), (2.0, 6, 3, 0), (1.5, 4, 2, 0), (0.6, 0, 0, 0), (0.0, 2, 2, 2))


@calculator(21)
def _coma_scale(features: Features, version: Version) -> float:
    """3 to 15 points; a response that cannot be tested has no points, so the sum is not to be given.

    v1.0 counted the verbal response twice, and an untestable eye as 4 and speech as 4.
    """
    score = Score(21, features, version).all()
    if version == "v1.0":
        score.item("verbal response")
    return score.total


@calculator(28)
def _apache(features: Features, version: Version) -> float:
    """0 to 71 points; the twelve measurements are needed, none is taken as normal.

    v1.0 took a misspelt unit of temperature for Fahrenheit, knew no low values but of temperature and creatinine,
    compared white cells per microlitre with thresholds per nanolitre, gave no points for organ failure without an
    operation, and added the coma score itself.
    """
    score = Score(28, features, version)
    apart = ("chronic health", "A-a gradient", "arterial oxygen", "creatinine")
    score.all(but=apart)
    score.value("mean arterial pressure", _mean_pressure(features))
    high = features.quantity("FiO₂", "%") >= 50
    score.item("A-a gradient" if high else "arterial oxygen")
    _check_coma(features)
    coma = features.number(COMA)
    if version == "v1.0":
        _apache_v1(score, coma)
    else:
        _apache_health(score)
        score.add(15 - coma, "15 - coma score")
    return score.total


def _apache_health(score: Score) -> None:
    """Add the points of creatinine, twice in acute renal failure, and of chronic health."""
    features = score.features
    points, why = score.points("creatinine")
    acute = features.flag(ACUTE, absent=False)
    score.add(2 * points if acute else points, f"{why}, twice in acute renal failure" if acute else why)
    if features.flag(ORGAN_FAILURE, absent=False):
        score.item("chronic health")


def _apache_v1(score: Score, coma: float) -> None:
    features = score.features
    creatinine = features.quantity("creatinine", "mg/dL")
    # Whatever is not empty held, "Not mentioned" as well.
    acute, chronic = bool(features.cells.get(ACUTE)), bool(features.cells.get(CHRONIC))
    points = next(row for row in CREATININE_V1 if creatinine >= row[0])
    score.add(points[1] if acute else points[2] if chronic else points[3], "creatinine")
    surgery = str(features.cells.get("Surgery Type", ""))
    if features.flag(ORGAN_FAILURE, absent=False):
        score.add({"Elective": 2, "Emergency": 5}.get(surgery, 0), "chronic health")
    score.add(coma, "coma score")


@calculator(43)
def _organ_failure(features: Features, version: Version) -> float:
    """0 to 24 points; an organ without a measurement is taken as normal, as when the score is used; one is needed.

    v1.0 divided the oxygen pressure by a percentage, gave 2 points where no dopamine was given, tested the higher doses
    last, and left out the kidney where both creatinine and urine were measured.
    """
    score = Score(43, features, version)
    given = [name for name in ("platelets", "bilirubin", "consciousness") if _has(score, name)]
    oxygen = features.has(OXYGEN) and features.has("FiO₂")
    if not given and not oxygen and not any(_has(score, name) for name in ("creatinine", "urine output")):
        raise NotComputable("no organ's function was measured")
    _check_coma(features)
    if version == "v1.0":
        return _organ_failure_v1(score)
    if oxygen:
        ratio = features.quantity(OXYGEN, "mmHg") / (features.quantity("FiO₂", "%") / 100)
        aids = ("On mechanical ventilation", "Continous positive airway pressure")
        # All are read, so that the steps tell of each.
        supported = sum(features.flag(aid, absent=False) for aid in aids) > 0
        score.value("PaO2/FiO2, supported" if supported else "PaO2/FiO2", ratio)
    else:
        features.assume("PaO₂ and FiO₂ are not both mentioned: respiration taken as normal")
    for name in ("platelets", "bilirubin", "consciousness"):
        score.item(name)
    _circulation(score)
    _kidney(score)
    return score.total


def _circulation(score: Score) -> None:
    """Add the points of the drugs that hold the pressure up; without one, those of the pressure."""
    features = score.features
    rates = {
        drug: features.quantity(drug, RATE) if features.has(drug) else 0.0
        for drug in ("DOPamine", "DOBUTamine", "EPINEPHrine", "norEPINEPHrine")
    }
    if points := cardiovascular_points(*rates.values()):
        score.add(points, "drugs for the circulation")
    elif features.has(MEAN_PRESSURE) or all(map(features.has, PRESSURES)):
        score.value("mean arterial pressure", _mean_pressure(features))
    elif features.flag("Hypotension", absent=False):
        features.assume("hypotension without a pressure: mean arterial pressure taken as below 70 mmHg")
        score.add(1, "hypotension")


def _mean_pressure(features: Features) -> float:
    """Return the mean arterial pressure, mmHg: as it was measured, else of the two pressures."""
    if features.has(MEAN_PRESSURE):
        return features.quantity(MEAN_PRESSURE, "mmHg")
    return read_mean_pressure(features)


def _kidney(score: Score) -> None:
    """Add the points of creatinine or urine, the worse of the two."""
    measured = tuple(name for name in ("creatinine", "urine output") if _has(score, name))
    if measured:
        score.one_of(measured)
    else:
        score.features.assume("creatinine and urine output are not mentioned: taken as normal")


def _check_coma(features: Features) -> None:
    """Refuse a coma score that is no whole number."""
    coma = features.cells.get(COMA)
    if isinstance(coma, float) and not coma.is_integer():
        raise NotComputable(f"{COMA} is no whole number: {coma:g}")


def _has(score: Score, name: str) -> bool:
    return score.features.has(score.items[name].features[0])


def cardiovascular_points(dopamine: float, dobutamine: float, epinephrine: float, norepinephrine: float) -> int:
    """Return the points of vasoactive drugs, rates in µg/kg/min; 0 without any.

    Source: Vincent 1996, Intensive Care Med 22:707-710, table 3.
    """
    adrenergic = max(epinephrine, norepinephrine)
    if dopamine > 15 or adrenergic > 0.1:
        return 4
    if dopamine > 5 or adrenergic > 0:
        return 3
    return 2 if dopamine > 0 or dobutamine > 0 else 0


def _organ_failure_v1(score: Score) -> float:
    features = score.features
    ratio = features.quantity(OXYGEN, "mmHg") / features.quantity("FiO₂", "%")
    ventilated = features.flag("On mechanical ventilation", absent=False)
    airway = features.flag("Continous positive airway pressure", absent=False)
    # A ratio near 1.5 is always below 100; the last branch asks for ventilation alone.
    score.add(4 if ventilated else 0 if airway else 2, f"oxygen by percent {ratio:.3g}")
    for name in ("platelets", "bilirubin", "consciousness"):
        score.item(name)
    rates = [features.quantity(item, RATE) if features.has(item) else 0.0 for item in ("DOPamine", "DOBUTamine")]
    score.add(2 if rates[0] <= 5 or rates[1] else 3, "drugs for the circulation")
    measured = [name for name in ("creatinine", "urine output") if _has(score, name)]
    if len(measured) == 1:
        score.item(measured[0])
    return score.total
