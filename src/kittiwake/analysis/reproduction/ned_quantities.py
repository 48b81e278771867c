"""Quantities of a flight in the axes of aerospace: the world NED, the body FRD.

Angles are ZYX, the heading from north to the east; velocities in the body are over ground.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.table import (
    ANGULAR_VELOCITY_BODY_RADPS,
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    VELOCITY_WORLD_MPS,
    Table,
)

Series = Float64[np.ndarray, " rows"]
COMMANDED_Q = tuple(f"cmd_q_world_from_body_{part}" for part in "wxyz")


def _position(place: int, sign: float) -> Callable[[Table], Series]:
    return lambda table: sign * table.part(POSITION_WORLD_M)[:, place]


def _velocity(place: int, sign: float) -> Callable[[Table], Series]:
    return lambda table: sign * table.part(VELOCITY_WORLD_MPS)[:, place]


def _rate(place: int, sign: float) -> Callable[[Table], Series]:
    return lambda table: sign * table.part(ANGULAR_VELOCITY_BODY_RADPS)[:, place]


def _angle(place: int, sign: float, from_rad: float) -> Callable[[Table], Series]:
    def angle(table: Table) -> Series:
        angles = np.unwrap(table.roll_pitch_yaw_deg[:, place], period=360.0)
        return from_rad + sign * np.radians(angles)

    return angle


def _commanded(place: int, sign: float, from_rad: float) -> Callable[[Table], Series]:
    def angle(table: Table) -> Series:
        renamed = Table(Q_WORLD_FROM_BODY, table.part(COMMANDED_Q))
        return _angle(place, sign, from_rad)(renamed)

    return angle


def _velocity_body(place: int, sign: float) -> Callable[[Table], Series]:
    def velocity(table: Table) -> Series:
        q = table.part(Q_WORLD_FROM_BODY)
        world, imaginary = table.part(VELOCITY_WORLD_MPS), -q[:, 1:]
        # v' = v + 2 q0 (e x v) + 2 e x (e x v) for the inverse rotation
        once = 2.0 * np.cross(imaginary, world)
        return sign * (world + q[:, :1] * once + np.cross(imaginary, once))[:, place]

    return velocity


NED_QUANTITIES: dict[str, Callable[[Table], Series]] = {
    "ned.north_m": _position(1, 1.0),
    "ned.east_m": _position(0, 1.0),
    "ned.down_m": _position(2, -1.0),
    "ned.north_mps": _velocity(1, 1.0),
    "ned.east_mps": _velocity(0, 1.0),
    "ned.down_mps": _velocity(2, -1.0),
    "frd.roll_rad": _angle(0, 1.0, 0.0),
    "frd.pitch_rad": _angle(1, -1.0, 0.0),
    "frd.heading_rad": _angle(2, -1.0, 0.5 * np.pi),
    "frd.commanded_roll_rad": _commanded(0, 1.0, 0.0),
    "frd.commanded_pitch_rad": _commanded(1, -1.0, 0.0),
    "frd.commanded_heading_rad": _commanded(2, -1.0, 0.5 * np.pi),
    "frd.u_mps": _velocity_body(0, 1.0),
    "frd.v_mps": _velocity_body(1, -1.0),
    "frd.w_mps": _velocity_body(2, -1.0),
    "frd.p_radps": _rate(0, 1.0),
    "frd.q_radps": _rate(1, -1.0),
    "frd.r_radps": _rate(2, -1.0),
}
