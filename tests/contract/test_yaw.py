"""No controller unwinds full turns: its output is the same where yaw wraps."""

import dataclasses
import math
from typing import get_type_hints

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.contract.cases import forms_of

from kittiwake.control import CONTROLLERS
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.columns import to_columns
from kittiwake.core.commands import ModeCommand
from kittiwake.core.kinematics import Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

KEY = jax.random.key(0)
DT_S = 0.02
# the vehicle turns by a step's worth each step, and is to be so far ahead
TURN_RAD, AHEAD_RAD, STEPS = 0.08, 0.3, 6
YAWS = ("yaw_rad", "heading_rad")
# initial yaws for which the six steps and the setpoints pass half a turn
ELSEWHERE_RAD = (math.pi - 0.4, -math.pi + 1e-3, math.pi - 1e-3, math.pi + 0.2, 3.0 * math.pi)


def with_yaw(command_type, yaw_rad):
    """Return a level command of zeros with a yaw."""

    def value(name, hint):
        if hint is Vec3:
            return Vec3.zero()
        if hint is Quaternion:
            return Quaternion.from_euler(EulerZYX(0.0, 0.0, yaw_rad))
        if isinstance(hint, type) and issubclass(hint, Module):
            return with_yaw(hint, yaw_rad)
        return yaw_rad if name in YAWS else 0.0

    if command_type is ModeCommand:
        hints = get_type_hints(command_type)
        return ModeCommand(1.0, with_yaw(hints["position"], yaw_rad), position_given=True)
    hints = get_type_hints(command_type)
    return command_type(
        **{f.name: value(f.name, hints[f.name]) for f in dataclasses.fields(command_type)}
    )


def compiled(controller):
    """Return the compiled step of a controller on a vehicle that turns, relative to a yaw."""

    @jax.jit
    def stepped(state, from_rad, step):
        yaw = wrap_angle(from_rad + TURN_RAD * step)
        motion = Start(
            Vec3.zero(), yaw_rad=yaw, angular_velocity_body_radps=Vec3(0.0, 0.0, TURN_RAD / DT_S)
        ).kinematics()
        command = with_yaw(type(controller).consumes, wrap_angle(yaw + AHEAD_RAD))
        later, given = controller.step(state, (command, motion), DT_S, KEY)
        return match_dtypes(later, state), _seen_from(given, from_rad)

    return stepped


def flown(controller, step, from_rad):
    """Return the outputs over the steps, relative to the initial yaw."""
    state = as_arrays(controller.init(KEY))
    given = []
    for number in range(STEPS):
        state, numbers = step(state, from_rad, float(number))
        given.append(list(numbers.values()))
    return list(numbers), np.array(given, float)


def _seen_from(given, from_rad):
    """Return a command's numbers, rotated back to the initial yaw."""
    back = Quaternion.from_euler(EulerZYX(0.0, 0.0, -from_rad))

    def turned(name, part):
        if isinstance(part, Quaternion):
            q = back * part
            sign = jnp.where(q.w < 0.0, -1.0, 1.0)
            return Quaternion(q.w * sign, q.x * sign, q.y * sign, q.z * sign)
        if isinstance(part, Vec3) and "_world_" in name:
            return back.rotate(part)
        return wrap_angle(part - from_rad) if name in YAWS else part

    names = [field.name for field in dataclasses.fields(given)]
    return to_columns({name: turned(name, getattr(given, name)) for name in names})


@pytest.mark.parametrize("name", CONTROLLERS.names())
def test_a_controller_has_the_same_output_where_yaw_wraps(name):
    controller = next(iter(forms_of("controllers", CONTROLLERS.find(name)).values()))()
    step = compiled(controller)
    columns, expected = flown(controller, step, 0.0)
    for from_rad in ELSEWHERE_RAD:
        _, found = flown(controller, step, from_rad)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9, err_msg=str(columns))
