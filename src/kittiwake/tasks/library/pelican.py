"""What QRSim's tasks share: the Pelican's sticks, its velocities, and its noise.

Source: QRSim (R. De Nardi, 2013).
"""

from collections.abc import Mapping
from math import pi
from typing import Any

from kittiwake.core.commands import AttitudeThrottle, VelocityHeightYaw, VelocityYaw
from kittiwake.geometry.scalar import Real
from kittiwake.tasks.action_mapping import ActionMapping, Span
from kittiwake.tasks.library.velocities import AXES
from kittiwake.tasks.requirements import Requirements

HOVER_THROTTLE = 0.59
# as in this wind, whatever the mean wind
GUSTS = {"world.turbulence": {"type": "dryden-first-order", "speed_at_6m_mps": 2}}
STICKS = ActionMapping(
    AttitudeThrottle,
    {
        "pitch_rad": Span(0.0, 0.9),
        "roll_rad": Span(0.0, 0.9),
        "throttle": Span(HOVER_THROTTLE, HOVER_THROTTLE),
        "yaw_rate_radps": Span(0.0, 4.5),
    },
    {"battery_v": 12.0},
)
# for tasks that count how the sticks move
NATIVE_STICKS = Requirements(command_type=AttitudeThrottle)
# beyond it the velocity controller asks for no more
MAX_SPEED_MPS = 3.0
# to the north, as its yaw of zero
LOOK = {"yaw_rad": pi / 2}
_SPEED = Span(0.0, MAX_SPEED_MPS)
# of squares and lengths that something is divided by
LEAST = 1e-6
# what those of its tasks get in which anything leaves its limits
LOST = -1000.0


def free_velocities(told: tuple[str, ...] = ()) -> ActionMapping:
    """A velocity in all three axes of the world, looking north."""
    return ActionMapping(VelocityYaw, {AXES[axis]: _SPEED for axis in "xyz"}, LOOK, told)


def level_velocities(height_m: float) -> ActionMapping:
    """A horizontal velocity at a height, looking north."""
    spans = {AXES[axis]: _SPEED for axis in "xy"}
    return ActionMapping(VelocityHeightYaw, spans, {"height_world_m": height_m, **LOOK})


def effort(sticks: AttitudeThrottle) -> Real:
    """What moving the sticks u costs, in 1/s.

    It is ``sum_i (R_i (u_i - u0_i))^2`` with u = (pitch, roll, throttle, yaw rate) in SI units,
    u0 = (0, 0, 0.59, 0) and R = (2/pi, 2/pi, 1/2, 1).
    """
    tilt = (sticks.pitch_rad**2 + sticks.roll_rad**2) * (2.0 / pi) ** 2
    return tilt + (0.5 * (sticks.throttle - HOVER_THROTTLE)) ** 2 + sticks.yaw_rate_radps**2


def without_noise(*entries: str, sensors: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Changes to a scenario in which Pelicans know how they move, and no gusts shake them.

    Args:
        entries: of its vehicles.
        sensors: what they have nevertheless.
    """
    each = {
        "sensors": dict(sensors or {}),
        "estimator": "truth",
        "parameters.linear_noise_mps2": 0,
        "parameters.angular_noise_radps2": 0,
    }
    own = {f"vehicles.{entry}.{key}": value for entry in entries for key, value in each.items()}
    return {"world.turbulence": "none", **own}


def windy_from_anywhere(speed_at_6m_mps: float) -> dict[str, Any]:
    """Changes to a scenario that bring wind from anywhere, and gusts."""
    return {
        "world.wind": {"type": "shear", "speed_at_6m_mps": speed_at_6m_mps, "from_deg": 0},
        **GUSTS,
        "randomize.world.wind.from_deg": {"uniform": [0, 360]},
    }


# what tasks of Pelicans alone know
NOISELESS = {"noiseless": without_noise("pelican")}
# and those among them that QRSim flies in gusts
NOISELESS_OR_GUSTY = {**NOISELESS, "gusty": GUSTS}
