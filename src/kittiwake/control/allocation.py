"""Thrust and torque shared out among any number of rotors, and what gives way where they end.

Rotor i at the hub r_i pushes with T_i along n_i (the body's z axis unless given) and twists the
body against its own sense of turning s_i by kappa T_i::

    (F, tau) = B T,       column i of B: (n_i,z, r_i x n_i - s_i kappa n_i)
    T = B^+ (F, tau),     B^+ = B^T (B B^T)^-1: of all that give the wrench the least |T|

Where a T_i would leave [0, T_max] there is an order of what matters. With the shares p of thrust,
t_xy of the torques that tilt and p_z of yaw, T = p F + t_xy + p_z tau_z::

    1. tilt   t_xy is shortened, in its direction, to what some thrust leaves room for
    2. thrust F goes to the nearest value at which p F + t_xy fits
    3. yaw    tau_z is cut to the room that is left

so that yaw gives way first, then the thrust to the tilt, and the tilt last. A wrench that fits is
given exactly. On the order see Faessler, Falanga, Scaramuzza (2017), "Thrust mixing, saturation,
and body-rate control for accurate aggressive quadrotor flight", IEEE Robotics and Automation
Letters 2(2); on B^+ Johansen and Fossen (2013), "Control allocation - a survey", Automatica 49(5).

Where all p_i are equal, as in any symmetric vehicle, 1 is no shorter than it has to be; else
it may be, by the ratio of the least to the largest p_i. With more than four rotors other thrusts
than those of B^+ give the same wrench, some of which may fit where these do not.
"""

from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

# a rotor's thrust for one unit of thrust, of torque about x, y and z
Row: TypeAlias = tuple[Real, Real, Real, Real]
Rows: TypeAlias = tuple[Row, ...]
# the smallest share of the largest singular value that counts as another direction
RANK_TOLERANCE = 1e-9
# of the shares of thrust: a rotor that takes less of it does not lift
LEAST_SHARE = 1e-6
# a divisor in place of nothing at all
NEARLY_ZERO = 1e-30


def effectiveness(
    hubs_body_m: tuple[Vec3, ...],
    spins: tuple[Real, ...],
    torque_per_thrust_m: Real,
    axes_body: tuple[Vec3, ...] | None = None,
) -> np.ndarray:
    """B: thrust and torques that each rotor gives for a newton, of plain numbers."""
    axes = axes_body or (Vec3(0.0, 0.0, 1.0),) * len(hubs_body_m)
    columns: list[list[float]] = []
    for hub, spin, axis in zip(hubs_body_m, spins, axes, strict=True):
        torque = hub.cross(axis) - axis * (spin * torque_per_thrust_m)
        columns.append([float(part) for part in (axis.z, torque.x, torque.y, torque.z)])
    return np.array(columns).T


def allocation(
    hubs_body_m: tuple[Vec3, ...],
    spins: tuple[Real, ...],
    torque_per_thrust_m: Real,
    axes_body: tuple[Vec3, ...] | None = None,
) -> Rows:
    """B^+, a row for each rotor.

    Raises:
        ScenarioError: if these rotors cannot give thrust and each torque by itself, or can lift
            without a torque only while one of them pulls down.
    """
    matrix = effectiveness(hubs_body_m, spins, torque_per_thrust_m, axes_body)
    if np.linalg.matrix_rank(matrix, RANK_TOLERANCE) < matrix.shape[0]:
        message = (
            "hubs_body_m and spins: these rotors cannot give thrust and the three torques one by "
            "one; let opposite rotors turn the same way and neighbors the other"
        )
        raise ScenarioError(message)
    inverse = np.linalg.pinv(matrix)
    if inverse[:, 0].min() < LEAST_SHARE:
        shares = ", ".join(f"{share:.3g}" for share in inverse[:, 0])
        message = (
            f"hubs_body_m and spins: to lift without a torque these rotors would have to take the "
            f"shares {shares} of the thrust, and all must be positive; put the center of mass "
            "between them, as many turning left as right"
        )
        raise ScenarioError(message)
    one, *others = (_row(row) for row in inverse.tolist())
    return one, *others


def _row(numbers: list[float]) -> Row:
    lift, x, y, z = numbers
    return lift, x, y, z


def allocated(
    rows: Rows, thrust_n: Real, torque_body_nm: Vec3, max_rotor_thrust_n: Real
) -> tuple[Real, ...]:
    """The rotors' thrusts, in their range, by the order above."""
    # everything in parts of what a rotor takes of the thrust, so that thrust shifts all alike
    shares = [(x / lift, y / lift, z / lift) for lift, x, y, z in rows]
    highs = [max_rotor_thrust_n / row[0] for row in rows]
    tilts = [x * torque_body_nm.x + y * torque_body_nm.y for x, y, _ in shares]
    room, spread = _least(highs), _most(tilts) - _least(tilts)
    fits = jnp.where(spread > room, room / jnp.where(spread > room, spread, 1.0), 1.0)
    tilts = [tilt * fits for tilt in tilts]
    lowest = -_least(tilts)
    highest = _least([high - tilt for high, tilt in zip(highs, tilts, strict=True)])
    thrust = jnp.clip(thrust_n, lowest, jnp.maximum(lowest, highest))
    given = [thrust + tilt for tilt in tilts]
    rooms = [
        _room(z, torque_body_nm.z, at, high)
        for (_, _, z), at, high in zip(shares, given, highs, strict=True)
    ]
    most = jnp.maximum(_least(rooms), 0.0)
    yaw = jnp.clip(torque_body_nm.z, -most, most)
    # rounding alone leads out here
    return tuple(
        jnp.clip((at + z * yaw) * row[0], 0.0, max_rotor_thrust_n)
        for (_, _, z), at, row in zip(shares, given, rows, strict=True)
    )


def _room(share: Real, torque_nm: Real, at: Real, high: Real) -> Real:
    """How much of a torque one rotor has room for."""
    left = jnp.where(share * torque_nm > 0.0, high - at, at)
    return left * (1.0 / jnp.maximum(abs(share), NEARLY_ZERO))


def _least(values: Sequence[Real]) -> Real:
    return reduce(jnp.minimum, values)


def _most(values: Sequence[Real]) -> Real:
    return reduce(jnp.maximum, values)
