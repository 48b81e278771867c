import numpy as np
import pytest
from tests.unit.guidance.point_mass import DT_S, KEY, fly, inputs_at

from kittiwake.core.commands import MotorsOff
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.disarm import Disarm
from kittiwake.guidance.maneuvers.ramp import RampLand, RampTakeoff

GROUND, ALOFT = Vec3(1.0, 2.0, 0.0), Vec3(1.0, 2.0, 6.0)


def test_ramp_is_linear_and_jumps_to_its_end_at_nine_tenths():
    time_s, _, point, _, phase, finished = fly(RampTakeoff(height_m=6.0, idle_s=2.0), GROUND, 28.0)
    time_s, setpoint = np.asarray(time_s), np.asarray(point.z)
    # 4 s for each meter; steps that lie on a limit may round to either side
    on_way, jumped = time_s < 0.9 * 24.0 - 1e-9, time_s > 0.9 * 24.0 + 1e-9
    np.testing.assert_allclose(setpoint[on_way], 0.25 * time_s[on_way], atol=1e-9)
    np.testing.assert_allclose(setpoint[jumped], 6.0, atol=1e-12)
    assert list(dict.fromkeys(np.asarray(phase).tolist())) == [0, 1, 3]
    assert time_s[np.argmax(np.asarray(phase) == 1)] == pytest.approx(24.0, abs=0.021)
    assert time_s[np.argmax(np.asarray(finished))] == pytest.approx(26.0, abs=0.021)


def test_ramp_velocity_is_fed_forward_up_to_the_jump():
    guidance = RampTakeoff(height_m=2.0, duration_s=10.0)
    for time_s, speed in [(0.0, 0.2), (8.9, 0.2), (9.1, 0.0), (20.0, 0.0)]:
        setpoint = guidance.step(guidance.init(KEY), inputs_at(GROUND, time_s), DT_S, KEY)[1]
        assert float(setpoint.velocity_world_mps.z) == pytest.approx(speed)


@pytest.mark.parametrize(("height", "duration_s"), [(0.5, 4.0), (1.0, 4.0), (3.0, 12.0)])
def test_default_duration_is_four_seconds_per_meter_and_at_least_four(height, duration_s):
    guidance = RampTakeoff(height_m=height)
    setpoint = guidance.step(guidance.init(KEY), inputs_at(GROUND), DT_S, KEY)[1]
    assert float(setpoint.velocity_world_mps.z) == pytest.approx(height / duration_s)


@pytest.mark.parametrize(("force", "phases"), [(False, [2]), (True, [0])])
def test_takeoff_of_a_moving_vehicle_requires_force(force, phases):
    guidance = RampTakeoff(height_m=1.0, force=force)
    state, seen = guidance.init(KEY), []
    for time_s in (0.0, 1.0, 3.0):
        moving = inputs_at(ALOFT, time_s, Vec3(0.5, 0.0, 0.0))
        state, setpoint = guidance.step(state, moving, DT_S, KEY)
        seen.append(int(guidance.phase(state)))
    assert list(dict.fromkeys(seen)) == phases
    assert not bool(guidance.finished(state))
    assert float(setpoint.position_world_m.z) == (6.75 if force else 6.0)


def test_arrived_vehicle_switches_its_motors_off():
    _, place, _, off, phase, finished = fly(RampLand(0.0, idle_s=3.0), ALOFT, 30.0)
    first = int(np.argmax(off))
    assert first == pytest.approx(27.0 / DT_S, abs=2)
    assert float(place.z[first]) < 0.2
    assert np.asarray(off)[first:].all()
    np.testing.assert_array_equal(off, finished)
    assert int(phase[-1]) == 3


@pytest.mark.parametrize(("force", "ends"), [(False, 2), (True, 3)])
def test_landing_with_a_large_residual_requires_force(force, ends):
    guidance = RampLand(0.0, max_residual_m=0.1, force=force)
    # a vehicle that cannot sink any more
    *_, off, phase, finished = fly(guidance, ALOFT, 26.0, rate_per_s=0.0)
    assert int(phase[-1]) == ends
    assert bool(off[-1]) is force
    assert bool(finished[-1]) is force


def test_failed_landing_stays_failed_after_a_late_arrival():
    guidance = RampLand(0.0, max_residual_m=0.1)
    *_, off, phase, _ = fly(guidance, ALOFT, 40.0, rate_per_s=0.5)
    assert int(phase[-1]) == 2
    assert not np.asarray(off).any()


def test_disarm_switches_off_at_once():
    state, setpoint = Disarm().step(Disarm().init(KEY), inputs_at(ALOFT), DT_S, KEY)
    assert isinstance(setpoint, MotorsOff)
    assert Disarm().finished(state) is True
