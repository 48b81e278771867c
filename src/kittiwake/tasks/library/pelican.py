"""Shared parts of QRSim's tasks: actions, effort, noise and wind of Pelicans.

Source: QRSim (R. De Nardi, 2013).
"""

from math import pi

from kittiwake.core.commands import AttitudeThrottle, VelocityHeightYaw, VelocityYaw
from kittiwake.geometry.scalar import Real
from kittiwake.tasks.action_mapping import ActionMapping, Span
from kittiwake.tasks.library.velocities import AXES
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.task import Overrides

HOVER_THROTTLE = 0.59
# those of this wind, independent of the mean wind
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
# for tasks whose reward includes the effort of the sticks
STICK_REQUIREMENTS = Requirements(command_type=AttitudeThrottle)
# limit of the velocity controller along each axis
MAX_SPEED_MPS = 3.0
# QRSim's yaw of zero
FACING_NORTH = {"yaw_rad": pi / 2}
_SPEED = Span(0.0, MAX_SPEED_MPS)
# lower bound of squares and lengths in denominators
EPSILON = 1e-6
# penalty of QRSim's tasks for a lost vehicle
LOST_REWARD = -1000.0


def pelican_velocity_mapping(reported: tuple[str, ...] = ()) -> ActionMapping:
    """Return the mapping to a velocity along all three world axes, facing north."""
    return ActionMapping(
        VelocityYaw, {AXES[axis]: _SPEED for axis in "xyz"}, FACING_NORTH, reported
    )


def pelican_level_velocity_mapping(height_m: float) -> ActionMapping:
    """Return the mapping to a horizontal velocity at a height, facing north."""
    spans = {AXES[axis]: _SPEED for axis in "xy"}
    return ActionMapping(VelocityHeightYaw, spans, {"height_world_m": height_m, **FACING_NORTH})


def effort(sticks: AttitudeThrottle) -> Real:
    """Return the cost of the stick positions u, in 1/s.

    It is ``sum_i (R_i (u_i - u0_i))^2`` with u = (pitch, roll, throttle, yaw rate) in SI units,
    u0 = (0, 0, 0.59, 0) and R = (2/pi, 2/pi, 1/2, 1).
    """
    tilt = (sticks.pitch_rad**2 + sticks.roll_rad**2) * (2.0 / pi) ** 2
    return tilt + (0.5 * (sticks.throttle - HOVER_THROTTLE)) ** 2 + sticks.yaw_rate_radps**2


def without_noise(*entries: str, sensors: Overrides | None = None) -> Overrides:
    """Return the changes to a scenario for exact estimates and calm air without process noise.

    Args:
        entries: vehicle entries of the scenario.
        sensors: sensors that remain.
    """
    each = {
        "sensors": dict(sensors or {}),
        "estimator": "truth",
        "parameters.linear_noise_mps2": 0,
        "parameters.angular_noise_radps2": 0,
    }
    own = {f"vehicles.{entry}.{key}": value for entry in entries for key, value in each.items()}
    return {"world.turbulence": "none", **own}


def wind_from_any_direction(speed_at_6m_mps: float) -> Overrides:
    """Return the changes to a scenario for wind from a random direction, with gusts."""
    return {
        "world.wind": {"type": "shear", "speed_at_6m_mps": speed_at_6m_mps, "from_deg": 0},
        **GUSTS,
        "randomize.world.wind.from_deg": {"uniform": [0, 360]},
    }


# conditions of tasks with Pelicans alone
NOISELESS = {"noiseless": without_noise("pelican")}
# conditions of those that QRSim flies in gusts
NOISELESS_OR_GUSTY = {**NOISELESS, "gusty": GUSTS}
