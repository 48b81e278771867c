"""Every benchmark runs for a few steps with the number of vehicles that it claims."""

import pytest

from kittiwake.runtime.benchmark import CASES, GROUNDED, rollout

VEHICLES = {"python-loop": 1, "deck-landing": 2, "deck-landing-mujoco": 2, "learn": 1024}
# all others compile for long
QUICK = {"python-loop", "rollout-1", "rollout-100", "rollout-1000"}


def vehicles_in(case):
    size = case.rpartition("-")[2]
    usual = int(size) if size.isdigit() else None
    return next((VEHICLES[key] for key in (case, case.partition("-")[0]) if key in VEHICLES), usual)


@pytest.mark.parametrize(
    "case",
    [case if case in QUICK else pytest.param(case, marks=pytest.mark.slow) for case in CASES],
)
def test_every_case_flies(case, monkeypatch):
    monkeypatch.setattr("kittiwake.runtime.benchmark.REPEATS", 1)
    result = CASES[case][1](steps=3)
    assert result.vehicles == vehicles_in(case)
    assert result.steps_per_s > 0.0
    assert result.realtime_factor > 0.0


def test_grounded_vehicles_pass_the_checks_of_scenarios(monkeypatch):
    monkeypatch.setattr("kittiwake.runtime.benchmark.REPEATS", 1)
    assert rollout("hover-crazyflie", 2, 3, GROUNDED).vehicles == 2
