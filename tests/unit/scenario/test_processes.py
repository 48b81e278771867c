"""Processes of a world: a new type is a registry and a line of the builder's table."""

from typing import Annotated

import pytest

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.geometry.scalar import Real
from kittiwake.scenario import process_builder
from kittiwake.scenario.load import load_scenario
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind

BEACONS = Registry(
    "beacons", "beacon", {"blinking": RegistryEntry(f"{__name__}:Blinking", "on and off")}
)


class Blinks(AbstractProcess):
    period_s: Real
    ground_z_m: Real
    steps_s: float

    def step(self, state, inputs, dt_s, key):
        return state, (inputs % self.period_s) < 0.5 * self.period_s

    def warnings(self, duration_s):
        return (f"it blinks {duration_s / self.period_s:g} times",)


class Blinking(AbstractProcessKind):
    default_rate_hz = 10.0

    period_s: Annotated[Real, POSITIVE] = 1.0

    def process(self, world, period_s):
        if self.period_s < 2.0 * period_s:
            message = f"steps of {period_s:g} s show nothing of it"
            raise ScenarioError(message)
        return Blinks(self.period_s, world.ground_z_m, period_s)


@pytest.fixture(params=["SINGLE", "NAMED"])
def written(request, monkeypatch):
    """The key of a beacon in a world that knows them, one at most or by names."""
    table = getattr(process_builder, request.param)
    monkeypatch.setitem(table, "beacon", BEACONS)
    return "beacon" if request.param == "SINGLE" else "beacon.red"


def given(written, entry):
    names = written.split(".")[1:]
    return f"world.beacon={{{names[0]}: {entry}}}" if names else f"world.beacon={entry}"


def test_a_process_of_a_new_kind_is_built_with_its_world_and_its_steps(written):
    ground = "world.ground_z_m=-3"
    entry = "{type: blinking, period_s: 4, rate_hz: 25}"
    scenario = load_scenario("keep-spot", [given(written, entry), ground, "time.duration_s=20"])
    scheduled = scenario.world.processes[written]
    assert scheduled.every == 2
    assert scheduled.component == Blinks(4.0, -3.0, 0.04)
    assert scenario.warnings() == [f"world.{written}: it blinks 5 times"]


def test_reports_error_of_a_process_at_its_key(written):
    expected = rf"world\.{written}: steps of 0\.1 s show nothing of it"
    with pytest.raises(ScenarioError, match=expected):
        load_scenario("keep-spot", [given(written, "{type: blinking, period_s: 0.1}")])
    with pytest.raises(ScenarioError, match=rf"world\.{written}\.type: .*'blinkin'"):
        load_scenario("keep-spot", [given(written, "blinkin")])
