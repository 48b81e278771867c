"""Scales of a gamepad's sticks: the value of each quantity at full deflection."""

from math import pi
from typing import Annotated, Literal

from kittiwake.core.bounds import NOT_NEGATIVE, Bounds
from kittiwake.geometry.scalar import Real
from kittiwake.pytree import Module, field

# as a share of the deflection; the rest must still allow steering
DEAD_ZONE = Bounds(0.0, 0.9)


class JoystickSettings(Module):
    """``joystick``: the scales of the control modes; the defaults are those of uav_gazebo.

    ``dead_zone`` is the share of a stick's deflection around its center that counts as zero. The
    ``triggers`` take off and land, or feed acceleration forward in mode 2.
    """

    dead_zone: Annotated[Real, DEAD_ZONE] = 0.1
    position_scale_m: Annotated[Real, NOT_NEGATIVE] = 10.0
    yaw_scale_rad: Annotated[Real, NOT_NEGATIVE] = pi
    velocity_scale_mps: Annotated[Real, NOT_NEGATIVE] = 1.0
    acceleration_scale_mps2: Annotated[Real, NOT_NEGATIVE] = 1.0
    yaw_rate_scale_radps: Annotated[Real, NOT_NEGATIVE] = pi
    thrust_scale_n: Annotated[Real, NOT_NEGATIVE] = 10.0
    attitude_scale_rad: Annotated[Real, NOT_NEGATIVE] = pi
    angular_velocity_scale_radps: Annotated[Real, NOT_NEGATIVE] = 1.0
    torque_scale_nm: Annotated[Real, NOT_NEGATIVE] = pi
    triggers: Literal["takeoff-land", "acceleration"] = field(static=True, default="takeoff-land")
