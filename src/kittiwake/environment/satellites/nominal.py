"""Nominal GPS constellation: 24 satellites in six planes, on circular orbits.

Slots and orbits are those of the GPS Standard Positioning Service Performance Standard (US
Department of Defense, 2001), section 3.1: semi-major axis 26,559.7 km, inclination 55 deg, right
ascension of the ascending node (Omega) and argument of latitude (u) at 0 h UTC on 1 July 1993, when
Greenwich stood at 18 h 36 min 14.4 s.

A satellite at radius a: ``u' = sqrt(mu / a^3)``; in Earth-fixed axes ``Omega' = -omega_E`` and ``r
= a (cos u cos Omega - sin u cos i sin Omega, cos u sin Omega + sin u cos i cos Omega, sin u sin
i)``. Neglected are all disturbances: the Earth's flattening, by which all planes rotate by 0.04 deg
a day, and leap seconds. At any date the relative positions of the satellites and their passes over
a place are realistic, but not the positions of individual satellites.
"""

from datetime import UTC, datetime
from math import cos, pi, radians, sin

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.environment.satellites.range_errors import FirstOrderError, SecondOrderError
from kittiwake.environment.satellites.selection import frame_at, select_satellites
from kittiwake.geometry.geodesy import LocalFrame
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import field
from kittiwake.world.satellites import AbstractConstellation, AbstractOrbits, AbstractRangeError
from kittiwake.world.world import Origin

SEMI_MAJOR_AXIS_M = 26_559_700.0
INCLINATION_RAD = radians(55.0)
EPOCH_UTC = datetime(1993, 7, 1, tzinfo=UTC)
GREENWICH_RAD = radians((18 + 36 / 60 + 14.4 / 3600) * 15.0)

# WGS-84
GRAVITATION_M3PS2 = 3.986004418e14
EARTH_RATE_RADPS = 7.292115e-5
ORBIT_RATE_RADPS = (GRAVITATION_M3PS2 / SEMI_MAJOR_AXIS_M**3) ** 0.5

# nodes of the planes A to F, and arguments of latitude of the four slots in each
NODES_DEG = (272.847, 332.847, 32.847, 92.847, 152.847, 212.847)
LATITUDE_ARGUMENTS_DEG = (
    (268.126, 161.786, 11.676, 41.806),
    (80.956, 173.336, 309.976, 204.376),
    (111.876, 11.796, 339.666, 241.556),
    (135.226, 265.446, 35.156, 167.356),
    (197.046, 302.596, 66.066, 333.686),
    (238.886, 345.226, 105.206, 135.346),
)
# slot A1 is number 1, F4 number 24
SLOTS_DEG = tuple(
    (node, argument)
    for node, arguments in zip(NODES_DEG, LATITUDE_ARGUMENTS_DEG, strict=True)
    for argument in arguments
)


class CircularOrbits(AbstractOrbits):
    """Circular orbits, by the satellites' angles at the start."""

    numbers: tuple[int, ...] = field(static=True)
    node_rad: Float[Array | np.ndarray, " satellites"]
    latitude_argument_rad: Float[Array | np.ndarray, " satellites"]
    frame: LocalFrame
    end_s: float | None = field(static=True, default=None)

    @override
    def positions_world_m(self, time_s: Real) -> Float[Array, "satellites 3"]:
        dtype = jnp.result_type(time_s, float)
        node = jnp.asarray(self.node_rad, dtype) - EARTH_RATE_RADPS * time_s
        argument = jnp.asarray(self.latitude_argument_rad, dtype) + ORBIT_RATE_RADPS * time_s
        return jax.vmap(self._position)(node, argument)

    def _position(self, node: Real, u: Real) -> Float[Array, "3"]:
        along, across = jnp.cos(u), jnp.sin(u) * cos(INCLINATION_RAD)
        ecef = Vec3(
            along * jnp.cos(node) - across * jnp.sin(node),
            along * jnp.sin(node) + across * jnp.cos(node),
            jnp.sin(u) * sin(INCLINATION_RAD),
        )
        return jnp.asarray(self.frame.local_from_ecef(ecef * SEMI_MAJOR_AXIS_M).array)


class NominalConstellation(AbstractConstellation):
    """The 24 slots of GPS on circular orbits; ``numbers`` selects some of them, 1 for A1.

    Attributes:
        numbers: numbers of the satellites.
        errors: errors of the ranges.
    """

    numbers: tuple[int, ...] | None = field(static=True, default=None)
    errors: AbstractRangeError = SecondOrderError()

    def __post_init__(self) -> None:
        """Raise ValueError for unknown slots."""
        self._selected()

    @override
    def orbits(self, origin: Origin, start_utc: datetime) -> CircularOrbits:
        numbers = self._selected()
        since_s = (start_utc - EPOCH_UTC).total_seconds()
        node, argument = np.radians([SLOTS_DEG[number - 1] for number in numbers]).T
        greenwich = GREENWICH_RAD + EARTH_RATE_RADPS * since_s
        return CircularOrbits(
            numbers=numbers,
            node_rad=np.mod(node - greenwich, 2.0 * pi),
            latitude_argument_rad=np.mod(argument + ORBIT_RATE_RADPS * since_s, 2.0 * pi),
            frame=frame_at(origin),
        )

    def _selected(self) -> tuple[int, ...]:
        return select_satellites(
            self.numbers, tuple(range(1, len(SLOTS_DEG) + 1)), "the constellation"
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "NominalConstellation"]:
        return {"all": cls(), "five": cls(numbers=(1, 7, 12, 18, 24), errors=FirstOrderError())}
