"""Warning at the border of the flight area."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("viser")

from kittiwake.cockpit.panels.area_warning import AreaWarning, approaches

LOW, HIGH = np.array([-10.0, -10.0, 0.0]), np.array([10.0, 10.0, 20.0])
WEST, NORTH, UPPER = 0, 4, 5


def near(position, velocity):
    found = approaches(np.array([position]), np.array([velocity]), LOW, HIGH)[0]
    return np.flatnonzero(found).tolist()


def test_a_border_within_two_seconds_is_approached():
    assert near([0.0, 6.5, 10.0], [0.0, 2.0, 0.0]) == [NORTH]
    assert near([0.0, 5.5, 10.0], [0.0, 2.0, 0.0]) == []


def test_a_border_within_a_twentieth_of_the_side_is_approached_by_slow_vehicles():
    assert near([-9.2, 0.0, 10.0], [-0.2, 0.0, 0.0]) == [WEST]
    # away from it, hovering, and farther away
    assert near([-9.2, 0.0, 10.0], [0.2, 0.0, 0.0]) == []
    assert near([-9.2, 0.0, 10.0], [0.0, 0.0, 0.0]) == []
    assert near([-8.8, 0.0, 10.0], [-0.2, 0.0, 0.0]) == []


def test_vehicles_outside_or_without_a_position_approach_nothing():
    assert near([0.0, 0.0, 25.0], [0.0, 0.0, 3.0]) == []
    assert near([np.nan] * 3, [np.nan] * 3) == []


@pytest.fixture
def warned(staged, placed):
    """Return a function from height, climb rate and time to the notifications of one update."""
    flight = staged("hover-hummingbird", ("vx_mps", "vy_mps", "vz_mps"))
    told = []
    context = SimpleNamespace(
        flight=flight, notify=lambda title, text, error: told.append((title, text, error))
    )
    panel = AreaWarning(context)

    def update(height_m, climb_mps, time_s):
        velocity = {"vx_mps": 0.0, "vy_mps": 0.0, "vz_mps": climb_mps}
        told.clear()
        panel.update(placed(flight, (0.0, 0.0, height_m), time_s=time_s, **velocity))
        return [*told]

    return update


def test_each_approach_is_notified_once(warned):
    assert warned(10.0, 1.0, 0.0) == []
    [(title, text, is_error)] = warned(19.0, 1.0, 5.0)
    assert (title, is_error) == ("Flight area", True)
    assert text.startswith("hummingbird: near the upper border, z = 20 m")
    assert warned(19.2, 1.0, 5.1) == []
    assert warned(10.0, -1.0, 9.0) == []
    assert len(warned(19.0, 1.0, 14.0)) == 1


def test_landing_on_the_ground_is_no_approach(warned):
    assert warned(0.2, -1.0, 1.0) == []


def test_a_restarted_flight_is_warned_again(warned):
    assert len(warned(19.0, 1.0, 5.0)) == 1
    assert len(warned(19.0, 1.0, 0.5)) == 1
