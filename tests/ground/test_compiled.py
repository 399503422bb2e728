"""Tests of what compiled functions may do with arrays that others hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from ground.compiled import maker, part

COMPILER: Any = njit


def total(values: Any) -> Any:
    """Return a number."""
    found = 0.0
    for value in values:
        found += value
    return found


def same(values: Any) -> Any:
    """Return an array that was given."""
    return values


def later(values: Any) -> Any:
    """Work with a slice."""
    rest = values[1:]
    return rest.size


def twice(values: Any) -> Any:
    """Work with an array that an operator makes."""
    return (values + values).size


def sum_with(function: Callable[..., Any], values: Any) -> Any:
    """Call a function from a compiled one."""

    called = COMPILER(lambda given: function(given))  # noqa: PLW0108 - it is a part that is called
    return called(values)


def test_a_part_reads_arrays() -> None:
    assert sum_with(part(total), np.ones(3)) == 3.0


@pytest.mark.parametrize("function", [same, later, twice])
def test_a_part_neither_makes_nor_returns_an_array(function: Callable[..., Any]) -> None:
    with pytest.raises((TypeError, TypingError), match="array"):
        sum_with(part(function), np.ones(3))


@pytest.mark.parametrize(("function", "expected"), [(later, 2), (twice, 3)])
def test_a_maker_does(function: Callable[..., Any], expected: int) -> None:
    assert sum_with(maker(function), np.ones(3)) == expected
