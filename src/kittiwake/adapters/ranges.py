"""Ranges of numbers accepted from messages of other programs."""

from typing import Any, NamedTuple

from kittiwake.adapters.number_limits import (
    LARGEST_ACCELERATION_MPS2,
    LARGEST_ANGLE_RAD,
    LARGEST_ANGULAR_ACCELERATION_RADPS2,
    LARGEST_ANGULAR_RATE_RADPS,
    LARGEST_FORCE_N,
    LARGEST_POSITION_M,
    LARGEST_TIME_S,
    LARGEST_TORQUE_NM,
    LARGEST_VELOCITY_MPS,
)
from kittiwake.core.errors import CommandError
from kittiwake.geometry.vec3 import Vec3


class Range(NamedTuple):
    """Symmetric range from ``-largest`` to ``largest``, with its unit."""

    largest: float
    unit: str

    def check(self, name: str, value: float) -> None:
        """Check a number of a message.

        Raises:
            CommandError: if it is outside the range or not a number.
        """
        if not abs(value) <= self.largest:
            message = (
                f"{name}: got {value:g}; must be from {-self.largest:g} to {self.largest:g} "
                f"{self.unit}"
            )
            raise CommandError(message)

    def vector(self, name: str, given: Any) -> Vec3:
        """Return what has x, y and z as a vector; raises as ``check`` for each component."""
        found = Vec3(float(given.x), float(given.y), float(given.z))
        for axis, value in (("x", found.x), ("y", found.y), ("z", found.z)):
            self.check(f"{name}.{axis}", float(value))
        return found


POSITION = Range(LARGEST_POSITION_M, "m")
VELOCITY = Range(LARGEST_VELOCITY_MPS, "m/s")
ACCELERATION = Range(LARGEST_ACCELERATION_MPS2, "m/s^2")
ANGLE = Range(LARGEST_ANGLE_RAD, "rad")
RATE = Range(LARGEST_ANGULAR_RATE_RADPS, "rad/s")
ANGULAR_ACCELERATION = Range(LARGEST_ANGULAR_ACCELERATION_RADPS2, "rad/s^2")
FORCE = Range(LARGEST_FORCE_N, "N")
TORQUE = Range(LARGEST_TORQUE_NM, "N m")
TIME = Range(LARGEST_TIME_S, "s")
