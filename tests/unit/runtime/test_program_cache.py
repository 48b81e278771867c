"""Tests of compiled programs that are kept for later processes."""

import numpy as np
import pytest

import kittiwake as kw
from kittiwake import simd
from kittiwake.runtime import code_cache, fleet_functions
from kittiwake.runtime.fleet_functions import FleetFunctions
from kittiwake.runtime.program_cache import ProgramCache

SCENARIO = "hover-hummingbird"


@pytest.fixture
def compilations(monkeypatch, tmp_path):
    """Programs that were compiled, with an empty folder of the cache."""
    found = []

    compile_jaxpr = simd.compile_jaxpr

    def compiled(closed):
        found.append(closed)
        return compile_jaxpr(closed)

    monkeypatch.setenv(code_cache.FOLDER_VARIABLE, str(tmp_path / "code"))
    monkeypatch.setattr(simd, "compile_jaxpr", compiled)
    yield found
    fleet_functions._shared.cache_clear()


@pytest.fixture
def later_process():
    """Forget what this process has compiled, as a later one has not compiled it."""
    fleet_functions._shared.cache_clear()
    return fleet_functions._shared.cache_clear


def flown(overrides=None):
    return kw.load(SCENARIO, overrides or {}).run(0.2).tables["hummingbird"].values


@pytest.mark.slow
def test_a_later_process_compiles_nothing_and_flies_the_same_bits(compilations, later_process):
    first = flown()
    assert compilations
    compilations.clear()
    later_process()
    np.testing.assert_array_equal(flown(), first)
    assert not compilations
    later_process()
    heavier = flown({"vehicles.hummingbird.parameters.mass_kg": 0.6})
    assert not compilations
    assert not np.array_equal(heavier, first)


def test_a_later_process_does_not_trace_the_state(compilations, later_process, monkeypatch):
    first = flown()
    assert compilations
    later_process()

    def traced(self):
        raise AssertionError(self)

    monkeypatch.setattr(FleetFunctions, "_shape", traced)
    np.testing.assert_array_equal(flown(), first)


@pytest.mark.slow
def test_another_structure_is_compiled(compilations, later_process):
    flown()
    compilations.clear()
    later_process()
    flown({"time.rate_hz": 250})
    assert compilations


@pytest.mark.slow
def test_without_a_cache_each_process_compiles(compilations, later_process, monkeypatch):
    monkeypatch.setenv(code_cache.FOLDER_VARIABLE, "off")
    for _ in range(2):
        compilations.clear()
        later_process()
        flown()
        assert compilations


def test_data_are_kept(compilations):
    del compilations
    for number, expected in ((1, 1), (2, 1)):
        cache = ProgramCache("parts")
        assert cache.data("name", lambda number=number: [number]) == [expected]
    assert ProgramCache("other parts").data("name", lambda: [3]) == [3]
    assert ProgramCache("parts").data("other name", lambda: [4]) == [4]


def test_nothing_is_kept_of_what_cannot_be_described(compilations):
    del compilations
    for number in (1, 2):
        assert ProgramCache(object()).data("name", lambda number=number: number) == number
