"""Tests run stricter than users do: double precision, no silent promotion, no display."""

import gc
import os
from collections.abc import Iterator
from itertools import chain
from math import inf
from pathlib import Path

# Set before anything imports JAX or matplotlib, and inherited by the processes that tests start.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax")
)
# workers share the programs of single operations, too, which are most of them
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault(
    "KITTIWAKE_CODE_CACHE", str(Path(__file__).parents[1] / ".pytest_cache" / "code")
)

import jax
import pytest
from hypothesis import settings

# tracing makes little that refers to itself: looking for it all the time takes a tenth of the work
gc.set_threshold(100_000, 20, 20)
# how long an example takes depends on what else the machine does
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# folders whose groups take longest begin first, so that at the end no worker waits for another
LONGEST = ("system", "examples", "physics")
# folders whose tests look at the same flights
TOGETHER = {"cockpit", "film", "rendering", "scene"}
# a worker has 5 GB, and the largest groups take 2 GB
REMEMBERED_GB = 2.0


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


@pytest.hookimpl(tryfirst=True)  # xdist reads the marks in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps together what shares compiled functions: a module's tests, a component's contracts."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        group = "scenes" if item.path.parent.name in TOGETHER else item.path.stem
        if group == "test_components" and isinstance(item, pytest.Function):
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            group = f"{group} {parameters.get('case', '')}"
        # one worker runs the whole group
        item.add_marker(pytest.mark.xdist_group(group))
        groups.setdefault(group, []).append(item)
    items[:] = chain.from_iterable(sorted(groups.values(), key=turn))


def turn(group: list[pytest.Item]) -> int:
    """When a group begins: the place of its folder among those that take longest."""
    folder = group[0].path.relative_to(Path(__file__).parent).parts[0]
    return LONGEST.index(folder) if folder in LONGEST else len(LONGEST)


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Forgets what groups have compiled before it fills a process's memory.

    Until then the next group shares the programs of one operation each, which are most of them.
    """
    ends = nextitem is None or group_of(item) != group_of(nextitem)
    if ends and resident_gb() > REMEMBERED_GB:
        jax.clear_caches()


def resident_gb() -> float:
    """Memory of this process; infinite where it cannot be read."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return inf
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e9


def group_of(item: pytest.Item) -> str:
    """What the collection has marked it with."""
    marker = item.get_closest_marker("xdist_group")
    return marker.args[0] if marker else ""
