"""Settings are typed, frozen and complete; what is not known is refused with the nearest known name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from ground.errors import UsageError
from ground.settings import Settings, parse_settings, read_settings, settings_from
from training.runs.settings import EncoderSettings


def test_a_file_that_is_not_there_or_empty_means_the_defaults(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "ontoground.toml") == Settings()
    (tmp_path / "empty.toml").write_text("")
    assert read_settings(tmp_path / "empty.toml") == Settings()


def test_values_are_read_and_the_rest_stays(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[build]\nseed = 7\ntruth_tiers = ["stated"]\n[run]\nthreads = 2\n')
    settings = read_settings(tmp_path / "a.toml")
    assert (settings.build.seed, settings.build.truth_tiers, settings.run.threads) == (7, ("stated",), 2)
    assert settings.load == Settings().load
    assert settings.build.max_hops == 3


@pytest.mark.parametrize(
    ("values", "place", "near"),
    [
        ({"bild": {}}, "bild", "build"),
        ({"build": {"sede": 1}}, "build.sede", "seed"),
        ({"build": {"max_hop": 1}}, "build.max_hop", "max_hops"),
        ({"load": {"lanuages": ["ENG"]}}, "load.lanuages", "languages"),
    ],
)
def test_an_unknown_key_names_the_nearest_known_one(values: dict[str, Any], place: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings_from(values, "a.toml")
    assert caught.value.what == f"unknown setting {place}"
    assert f"did you mean {near}?" in (caught.value.expected or "")
    assert caught.value.file == "a.toml"


@pytest.mark.parametrize(
    ("section", "key", "value", "expected"),
    [
        ("build", "truth_tiers", "stated", 'a list, as ["one", "another"]'),
        ("build", "truth_tiers", ["sure"], "'stated', 'equivalent', 'inherited' or 'plausible'"),
        ("build", "given", "perhaps", "true or false"),
        ("build", "max_hops", "many", "a whole number"),
        ("build", "max_hops", 2.5, "a whole number"),
        ("build", "max_hops", 4, "a number of 3 or less"),
        ("build", "max_lift", "high", "a number"),
        ("build", "max_lift", math.inf, "a number"),
        ("build", "max_pair_share", 0, "a number above 0.0"),
        ("build", "max_pair_share", 1.5, "a number of 1.0 or less"),
        ("build", "seed", -1, "a number of 0 or more"),
        ("notes", "abbreviation_detector", "magic", "'own' or 'scispacy'"),
        ("run", "threads", 0, "a number of 1 or more"),
        ("run", "address", 1, "a text"),
    ],
)
def test_a_wrong_value_is_explained_in_words(section: str, key: str, value: object, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings_from({section: {key: value}})
    assert "wrong value" in caught.value.what and caught.value.found
    assert caught.value.expected == expected


@pytest.mark.parametrize(
    ("change", "expected"), [({"match_layers": [5, 3]}, "ascending"), ({"overlap_tokens": 500}, "half")]
)
def test_settings_that_do_not_fit_together_are_not_printed_whole(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError, match="do not fit together") as caught:
        parse_settings(EncoderSettings, change)
    assert caught.value.found is None and expected in str(caught.value.expected)


@pytest.mark.parametrize("content", [b"[build", b"a = ", b"\xff\xfe\x00"])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="not TOML") as caught:
        read_settings(path)
    assert caught.value.file == str(path)


def test_settings_cannot_be_changed() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.build.seed = 1
    with pytest.raises(ValidationError):
        settings.build = settings.build


def test_every_setting_says_what_it_is() -> None:
    for section in Settings.model_fields.values():
        assert isinstance(section.annotation, type)
        assert issubclass(section.annotation, BaseModel)
        for name, field in section.annotation.model_fields.items():
            assert field.description, name
