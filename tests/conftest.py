"""Tests run stricter than users do: double precision, no silent promotion, no display."""

import os
from collections.abc import Iterator
from pathlib import Path

# Set before anything imports JAX or matplotlib, and inherited by the processes that tests start.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax")
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")

import jax
import pytest


@pytest.fixture(autouse=True)
def x64(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs each test in float64, as scenario runs are, unless it asks for ``single_precision``."""
    double = "single_precision" not in request.fixturenames
    strict = jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict")
    with jax.enable_x64(double), strict[0], strict[1]:
        yield


@pytest.fixture
def single_precision() -> None:
    """Asked for by a test that is about float32, as batched runs are."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps a module's tests on one worker, where they share what is compiled.

    The contracts, which are a module with half of the work, are shared out by component.
    """
    for item in items:
        group = item.path.stem
        if group == "test_components" and isinstance(item, pytest.Function):
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            group = f"{group} {parameters.get('case', '')}"
        item.add_marker(pytest.mark.xdist_group(group))
