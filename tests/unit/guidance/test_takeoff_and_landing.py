import numpy as np
import pytest
from tests.unit.guidance.point_mass import DT_S, fly

from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.landing.land import Land
from kittiwake.guidance.maneuvers.takeoff import Takeoff

PAD = Vec3(1.0, -2.0, 0.5)
ALOFT = Vec3(1.0, -2.0, 10.0)


@pytest.fixture(scope="module")
def climb():
    return fly(Takeoff(height_m=5.0, lift_off_m=1.5), PAD, 12.0)


@pytest.fixture(scope="module")
def descent():
    return fly(Land(landing_height_world_m=0.0), ALOFT, 20.0)


def test_takeoff_passes_its_states_in_order(climb):
    phase, height = np.asarray(climb[4]), np.asarray(climb[1].z) - 0.5
    assert list(dict.fromkeys(phase.tolist())) == [0, 1, 2, 3]
    assert climb[0][np.argmax(phase == 1)] == pytest.approx(0.24, abs=0.021)
    # each limit is seen at the first step beyond it
    assert height[np.argmax(phase == 2)] == pytest.approx(1.5, abs=0.07)
    assert height[np.argmax(phase == 3)] == pytest.approx(4.9, abs=0.05)


def test_each_state_of_takeoff_commands_its_height(climb):
    _, place, point, _, phase, _ = climb
    height, setpoint, phase = np.asarray(place.z), np.asarray(point.z), np.asarray(phase)
    np.testing.assert_allclose(setpoint[phase == 0], 0.5, atol=1e-6)
    np.testing.assert_allclose(setpoint[phase == 1], height[phase == 1] + 10.0, atol=1e-5)
    np.testing.assert_allclose(setpoint[phase == 2], 5.5, atol=1e-6)
    assert np.ptp(setpoint[phase == 3]) == 0.0
    assert setpoint[-1] >= 5.5
    np.testing.assert_allclose(point.x, 1.0, atol=1e-6)


def test_takeoff_is_finished_at_rest_at_its_height(climb):
    _, place, point, _, phase, finished = climb
    first = int(np.argmax(finished))
    assert np.asarray(phase)[first] == 3
    assert abs(float(place.z[first] - point.z[first])) < 0.1
    assert np.asarray(finished)[first:].all()


def test_a_fast_climb_comes_to_rest_further_up_and_does_not_sink_back():
    guidance = Takeoff(height_m=5.0, lift_off_m=4.95)
    _, _, point, *_ = fly(guidance, PAD, 8.0, max_speed_mps=6.0)
    # seen within a step of 12 cm over 4.95 m; from 6 m/s it takes 4.5 m to stop
    assert 5.45 + 4.5 <= float(point.z[-1]) < 5.57 + 4.5


def test_landing_passes_its_states_in_order(descent):
    phase, height = np.asarray(descent[4]), np.asarray(descent[1].z)
    assert list(dict.fromkeys(phase.tolist())) == [0, 1, 2, 3, 4]
    for number, limit in enumerate((1.0, 0.5, 0.1), start=1):
        # the step beyond which it is seen is at most 6 cm
        assert limit - 0.061 <= height[np.argmax(phase == number)] < limit


def test_each_state_of_landing_commands_its_offset_to_a_slow_vehicle():
    low = Vec3(1.0, -2.0, 2.0)
    _, place, point, off, phase, _ = fly(Land(0.0), low, 16.0, max_speed_mps=0.2)
    below, phase = np.asarray(place.z - point.z), np.asarray(phase)
    flies = np.asarray(place.z) > 0.0
    for number, lead in enumerate((4.0, 2.0, 0.1, 0.1)):
        np.testing.assert_allclose(below[flies & (phase == number)], lead, atol=1e-5)
    # standing, it is pressed down until that is 1 m more
    assert below[phase == 3].max() == pytest.approx(1.1, abs=0.02)
    np.testing.assert_array_equal(np.asarray(off), phase == 4)


def test_descent_is_slow_enough_to_brake():
    # one that follows any speed up to 12 m/s
    guidance, above = Land(0.0), Vec3(0.0, 0.0, 40.0)
    _, place, *_ = fly(guidance, above, 16.0, rate_per_s=3.0, max_speed_mps=12.0, lag_s=0.3)
    height = np.asarray(place.z)
    sinking, above = -np.diff(height) / DT_S, height[:-1] > 0.0
    fastest = np.sqrt(0.3**2 + 2.0 * 2.0 * height[:-1])
    assert (sinking[above] < fastest[above] + 0.05).all()
    assert sinking[height[:-1] < 0.01].max() < 0.36
    assert sinking.max() > 6.0


def test_motors_switch_off_on_the_ground_and_stay_off(descent):
    _, place, _, off, _, finished = descent
    first = int(np.argmax(off))
    assert float(place.z[first]) < 0.01
    assert np.asarray(off)[first:].all()
    np.testing.assert_array_equal(np.asarray(off), np.asarray(finished))


def test_landing_ends_above_the_estimated_ground():
    # the ground is 0.3 m above the given standing height
    _, place, _, off, _, _ = fly(Land(landing_height_world_m=-0.3), ALOFT, 25.0)
    first = int(np.argmax(off))
    assert np.asarray(off).any()
    assert float(place.z[first]) < 0.01


def test_vehicle_that_hovers_over_its_setpoint_is_brought_down():
    # one that hangs 0.44 m over its setpoint: 10 % too much thrust at 1.5 rad/s
    hanging = fly(Land(0.0), Vec3(0.0, 0.0, 2.0), 20.0, hangs_m=0.44)
    _, place, _, off, *_ = hanging
    first = int(np.argmax(off))
    assert np.asarray(off).any()
    assert float(place.z[first]) < 0.01


def test_vehicle_in_the_air_that_does_not_sink_keeps_its_motors_on():
    _, place, _, off, _, _ = fly(Land(landing_height_world_m=0.0), ALOFT, 5.0, rate_per_s=0.0)
    assert float(place.z[-1]) == pytest.approx(10.0)
    assert not np.asarray(off).any()


@pytest.mark.parametrize("limits", [(0.5, 1.0, 0.1), (1.0, 0.5, 0.5), (0.1, 0.5, 1.0)])
def test_heights_that_do_not_decrease_are_refused(limits):
    slow, flare, touch = limits
    with pytest.raises(ValueError, match="must decrease, such as 1, 0.5, 0.1"):
        Land(slow_below_m=slow, flare_below_m=flare, touch_below_m=touch)
