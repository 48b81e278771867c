"""Selections of test cases for the quick suite."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_besides(quick: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """Return cases as parameters of a test, marked as slow unless they are among the quick ones."""
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in cases]
