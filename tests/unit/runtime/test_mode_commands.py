"""Commands that hold commands, from a person's own loop."""

from dataclasses import replace

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import CommandError
from kittiwake.runtime.commands import command_values, commands_from_values

FLY = kw.ModeCommand(0.0).with_command(kw.PositionYaw(kw.Vec3(1.0, 2.0, 3.0), 0.5))


def test_a_nested_command_converts_to_numbers_and_back():
    command = FLY.with_command(kw.ThrustAttitude(9.0, kw.Quaternion(0.8, 0.6, 0.0, 0.0)))
    numbers = command_values({"drone": command}, {})
    back = commands_from_values((("drone", kw.ModeCommand),), numbers)["drone"]
    assert command_values({"drone": back}, {}) == numbers
    assert back.mode == 3.0
    assert back.position == command.position
    assert back.attitude == command.attitude
    given = (back.position_given, back.velocity_given, back.attitude_given)
    assert given == (1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (kw.ModeCommand(7.0), "mode of the ModeCommand for 'drone' must be from 0 to 5; it is 7"),
        (
            replace(FLY, position=replace(FLY.position, yaw_rad=float("nan"))),
            "position.yaw_rad of the ModeCommand for 'drone' must be one finite number; it is nan",
        ),
        (
            FLY.with_command(kw.ThrustAttitude(9.0, kw.Quaternion(1.0, 1.0, 0.0, 0.0))),
            "attitude.q_world_from_body of the command for 'drone' has the norm 1.41421",
        ),
    ],
)
def test_an_invalid_nested_command_is_refused_with_its_full_path(command, message):
    with pytest.raises(CommandError, match=message):
        command_values({"drone": command}, {})


@pytest.mark.slow
def test_modes_are_switched_from_a_python_loop():
    simulation = kw.load("mode-tour")
    simulation.reset()
    for _ in range(50):
        simulation.step(
            {"drone": kw.ModeCommand(0).with_command(kw.ThrustTorque(20.0, kw.Vec3.zero()))}
        )
    truth = simulation.observe()["drone"].truth
    # 0.1 s with 20 N on 1 kg, of which the ground carried nothing
    assert truth.velocity_world_mps.z == pytest.approx(1.019, abs=0.01)
    np.testing.assert_allclose(truth.angular_velocity_body_radps.array, 0.0, atol=1e-9)
