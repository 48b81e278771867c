"""Control allocation: thrust and torque to rotor thrusts, with priorities at saturation.

Rotor i at the hub r_i has a thrust T_i along n_i (the body's z axis unless given) and a torque
kappa T_i against its own spin s_i::

    (F, tau) = B T,       column i of B: (n_i,z, r_i x n_i - s_i kappa n_i)
    T = B^+ (F, tau),     B^+ = B^T (B B^T)^-1: the solution of least |T|

Where a T_i would leave [0, T_max], the components have priorities. With the shares p of thrust,
t_xy of the tilt torques and p_z of yaw, T = p F + t_xy + p_z tau_z::

    1. tilt   t_xy is scaled down until it is feasible for some thrust
    2. thrust F is set to the nearest value for which p F + t_xy is feasible
    3. yaw    tau_z is limited to the remaining range

so that yaw is reduced first, then thrust, and tilt last. A feasible wrench is allocated exactly.
For the priorities see Faessler, Falanga, Scaramuzza (2017), "Thrust mixing, saturation,
and body-rate control for accurate aggressive quadrotor flight", IEEE Robotics and Automation
Letters 2(2); on B^+ Johansen and Fossen (2013), "Control allocation - a survey", Automatica 49(5).

If all p_i are equal, as in any symmetric vehicle, step 1 scales no more than necessary; else it may
scale more, by the ratio of the least to the largest p_i. With more than four rotors, thrusts other
than those of B^+ give the same wrench, and may be feasible where those of B^+ are not.
"""

from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

# a rotor's thrust per unit of total thrust, and of torque about x, y and z
Row: TypeAlias = tuple[Real, Real, Real, Real]
Rows: TypeAlias = tuple[Row, ...]
# relative tolerance of singular values for the rank
RANK_TOLERANCE = 1e-9
# smallest valid share of a rotor in the thrust
LEAST_SHARE = 1e-6
# divisor in place of zero
NEARLY_ZERO = 1e-30


def effectiveness(
    hubs_body_m: tuple[Vec3, ...],
    spins: tuple[Real, ...],
    torque_per_thrust_m: Real,
    axes_body: tuple[Vec3, ...] | None = None,
) -> np.ndarray:
    """Return B, the thrust and torques per newton of each rotor, for plain numbers."""
    axes = axes_body or (Vec3(0.0, 0.0, 1.0),) * len(hubs_body_m)
    columns: list[list[float]] = []
    for hub, spin, axis in zip(hubs_body_m, spins, axes, strict=True):
        torque = hub.cross(axis) - axis * (spin * torque_per_thrust_m)
        columns.append([float(part) for part in (axis.z, torque.x, torque.y, torque.z)])
    return np.array(columns).T


def allocation_rows(
    hubs_body_m: tuple[Vec3, ...],
    spins: tuple[Real, ...],
    torque_per_thrust_m: Real,
    axes_body: tuple[Vec3, ...] | None = None,
) -> Rows:
    """Return B^+, one row per rotor.

    Raises:
        ScenarioError: if the rotors cannot give thrust and each torque independently, or give
            thrust without torque only with a negative thrust of a rotor.
    """
    matrix = effectiveness(hubs_body_m, spins, torque_per_thrust_m, axes_body)
    needed, rotors = matrix.shape
    if rotors < needed:
        message = (
            f"hubs_body_m: got {rotors}; must be at least {needed} for thrust and three torques, "
            "which fewer rotors cannot give independently"
        )
        raise ScenarioError(message)
    if np.linalg.matrix_rank(matrix, RANK_TOLERANCE) < needed:
        message = (
            "hubs_body_m and spins: these rotors cannot give thrust and the three torques "
            "independently; let opposite rotors turn the same way and adjacent ones the other way"
        )
        raise ScenarioError(message)
    inverse = np.linalg.pinv(matrix)
    if inverse[:, 0].min() < LEAST_SHARE:
        shares = ", ".join(f"{share:.3g}" for share in inverse[:, 0])
        message = (
            f"hubs_body_m and spins: for thrust without torque these rotors would have the "
            f"shares {shares} of the thrust, which must all be positive; put the center of mass "
            "between them, with as many turning left as right"
        )
        raise ScenarioError(message)
    return tuple(_row(row) for row in inverse.tolist())


def _row(numbers: list[float]) -> Row:
    lift, x, y, z = numbers
    return lift, x, y, z


def allocate(
    rows: Rows, thrust_n: Real, torque_body_nm: Vec3, max_rotor_thrust_n: Real
) -> tuple[Real, ...]:
    """Return the rotors' thrusts, within their range, by the priorities above."""
    # in units of each rotor's share of the thrust, so that thrust shifts all rotors equally
    shares = [(x / lift, y / lift, z / lift) for lift, x, y, z in rows]
    highs = [max_rotor_thrust_n / row[0] for row in rows]
    tilts = [x * torque_body_nm.x + y * torque_body_nm.y for x, y, _ in shares]
    room, spread = _least(highs), _most(tilts) - _least(tilts)
    scale = jnp.where(spread > room, room / jnp.where(spread > room, spread, 1.0), 1.0)
    tilts = [tilt * scale for tilt in tilts]
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
    # only rounding exceeds the range here
    return tuple(
        jnp.clip((at + z * yaw) * row[0], 0.0, max_rotor_thrust_n)
        for (_, _, z), at, row in zip(shares, given, rows, strict=True)
    )


def _room(share: Real, torque_nm: Real, at: Real, high: Real) -> Real:
    """Return the largest magnitude of a torque for which one rotor has range left."""
    left = jnp.where(share * torque_nm > 0.0, high - at, at)
    return left * (1.0 / jnp.maximum(abs(share), NEARLY_ZERO))


def _least(values: Sequence[Real]) -> Real:
    return reduce(jnp.minimum, values)


def _most(values: Sequence[Real]) -> Real:
    return reduce(jnp.maximum, values)
