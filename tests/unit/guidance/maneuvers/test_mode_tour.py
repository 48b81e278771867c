"""The schedule of modes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.commands import ModeCommand
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.mode_tour import FIELDS, ModeStage, ModeTour
from kittiwake.interfaces.guidance import GuidanceInputs

STAGES = (
    ModeStage(1.0, "position-yaw", position_world_m=Vec3(1.0, 2.0, 3.0), yaw_rad=0.4),
    ModeStage(2.0, "thrust-rates", thrust_n=9.0),
    ModeStage(3.0, "position-yaw", position_world_m=Vec3(4.0, 5.0, 6.0)),
    ModeStage(4.0, "velocity-yaw-rate"),
    ModeStage(5.0, "thrust-attitude", thrust_n=8.0, roll_rad=0.1, pitch_rad=0.2, yaw_rad=0.3),
    ModeStage(6.0, "thrust-torque", thrust_n=7.0, torque_body_nm=Vec3(0.1, 0.2, 0.3)),
    ModeStage(7.0, "inactive"),
)


def command_at(tour, time_s):
    inputs = GuidanceInputs(time_s, jnp.asarray(0, jnp.int32), Start().kinematics())
    return tour.step((), inputs, 0.01, jax.random.key(0))[1]


@pytest.mark.parametrize(
    ("time_s", "mode", "given"),
    [
        (0.5, 0, ""),
        (1.0, 1, "position"),
        (2.5, 4, "position rates"),
        (3.5, 1, "position rates"),
        (4.5, 2, "position rates"),
        (5.5, 3, "position rates attitude"),
        (9.0, 0, "position rates attitude torque"),
    ],
)
def test_each_mode_begins_at_its_time_and_keeps_the_last_commands(time_s, mode, given):
    found = command_at(ModeTour(STAGES), time_s)
    assert float(found.mode) == mode
    names = ("position", "velocity", "attitude", "rates", "torque")
    assert [n for n in names if bool(getattr(found, f"{n}_given"))] == [
        n for n in names if n in given.split()
    ]


def test_last_command_of_a_mode_is_active():
    found = command_at(ModeTour(STAGES), 9.0)
    np.testing.assert_array_equal(found.position.position_world_m.array, [4.0, 5.0, 6.0])
    assert float(found.position.yaw_rad) == 0.0
    angles = found.attitude.q_world_from_body.to_euler()
    turned = [float(a) for a in (angles.roll_rad, angles.pitch_rad, angles.yaw_rad)]
    assert turned == pytest.approx([0.1, 0.2, 0.3], abs=1e-12)
    assert [float(found.attitude.thrust_n), float(found.torque.thrust_n)] == [8.0, 7.0]
    np.testing.assert_array_equal(found.torque.torque_body_nm.array, [0.1, 0.2, 0.3])


def test_every_mode_can_be_scheduled():
    assert ("inactive", *FIELDS) == ModeCommand.MODES


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([], "`stages`: got none; must be at least one"),
        (
            [{"at_s": 2, "mode": "inactive"}, {"at_s": 1, "mode": "inactive"}],
            "got at_s 1 after 2; must be in order of time",
        ),
        ([{"at_s": 0, "mode": "inactive", "thrust_n": 1}], "`thrust_n`: not allowed with mode ina"),
        (
            [{"at_s": 0, "mode": "thrust-rates", "thrust_n": 1, "yaw_deg": 1}],
            "`yaw_rad`: not allowed with mode thrust-rates. Allowed: thrust_n, angular_velocity_",
        ),
        (
            [{"at_s": 0, "mode": "position-yaw", "yaw_deg": 1}],
            "`yaw_rad`: requires position_world_m",
        ),
        ([{"at_s": -1, "mode": "inactive"}], "at_s: -1 is not allowed; must be at least 0"),
        ([{"at_s": 0, "mode": "hover"}], "mode: .*hover.*thrust-torque"),
    ],
)
def test_invalid_schedules_are_refused_with_a_hint(stages, message):
    changes = {"vehicles.drone.guidance.stages": stages}
    with pytest.raises(ScenarioError, match=message):
        kw.load("mode-tour", changes)
