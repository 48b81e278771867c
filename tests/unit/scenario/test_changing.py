"""Changes of values during a flight."""

import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.load import load_scenario


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("hover-angle-velocity", [])


def test_values_are_changed_one_after_another(scenario):
    windy = with_changes(scenario, ["world.wind={type: shear, speed_at_6m_mps: 4, from_deg: 90}"])
    heavier = with_changes(windy, ["world.gravity_mps2=9.7"])
    assert float(heavier.world.wind.speed_at_6m_mps) == 4.0
    assert float(heavier.world.gravity_mps2) == 9.7
    assert float(scenario.world.gravity_mps2) != 9.7


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("time.rate_hz=100", "time.rate_hz cannot be changed in flight"),
        ("vehicles.drone.count=2", "vehicles cannot be added or removed in flight"),
        ("world.wind=hurricane", "there is no wind 'hurricane'"),
        ("world.winds=none", "winds"),
    ],
)
def test_value_that_is_fixed_in_flight_is_refused(scenario, item, expected):
    with pytest.raises(ScenarioError, match=expected):
        with_changes(scenario, [item])
