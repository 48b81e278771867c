"""Every benchmark flies a few steps, most with few vehicles."""

import inspect

import pytest

from kittiwake.runtime.benchmark import CASES, GROUNDED, rollout

STEPS = 3
# from 16 on vehicles share a loop, as thousands do
MOST = 20
# the others compile for longer
QUICK = {
    *("python-loop", "python-loop-recorded", "rollout-1", "rollout-100", "rollout-1000"),
    *("rollout-10000", "rollout-1000000"),
}


def given(case):
    """Return the arguments of a case."""
    measure = CASES[case][1]
    bound = inspect.signature(measure.func).bind(*measure.args, **measure.keywords)
    bound.apply_defaults()
    return bound


@pytest.fixture(autouse=True)
def measured_once(monkeypatch):
    monkeypatch.setattr("kittiwake.runtime.benchmark.REPEATS", 1)


@pytest.mark.parametrize(
    "case",
    [case if case in QUICK else pytest.param(case, marks=pytest.mark.slow) for case in CASES],
)
def test_every_case_flies(case):
    arguments = given(case)
    vehicles = min(arguments.arguments.get("vehicles", 1), MOST)
    few = {"vehicles": vehicles} if "vehicles" in arguments.arguments else {}
    arguments.arguments.update(few, steps=STEPS)
    result = CASES[case][1].func(*arguments.args, **arguments.kwargs)
    assert result.vehicles == vehicles
    assert result.steps_per_s > 0.0
    assert result.realtime_factor > 0.0
    assert 100 < result.vehicle_bytes < 100_000
    assert (result.code_bytes is not None) == (result.engine == "simd")
    assert result.code_bytes is None or result.code_bytes > 1000


@pytest.mark.parametrize("case", [case for case in CASES if case.endswith("000")])
def test_a_case_has_the_number_of_vehicles_in_its_name(case):
    assert given(case).arguments["vehicles"] == int(case.rpartition("-")[2])


@pytest.mark.slow
def test_grounded_vehicles_pass_the_checks_of_scenarios():
    assert rollout("hover-crazyflie", 2, STEPS, GROUNDED).vehicles == 2
