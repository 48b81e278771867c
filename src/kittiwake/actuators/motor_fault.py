"""Fault of a motor: it keeps a fraction of its speed."""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE, Bounds
from kittiwake.core.commands import RotorSpeeds
from kittiwake.geometry.scalar import Count, Real
from kittiwake.interfaces.dynamics import AbstractFault

ROTORS = Bounds(0.0, 3.0)


class MotorFault(AbstractFault[RotorSpeeds]):
    """A motor that follows only the fraction ``keeps`` of its commanded speed from ``at_s`` on.

    Its lag still applies, so that a motor without power coasts down. ``rotor`` counts from 0, as in
    the columns of the log.
    """

    command_type: ClassVar[type] = RotorSpeeds

    at_s: Annotated[Real, NOT_NEGATIVE]
    rotor: Annotated[Count, ROTORS]
    keeps: Annotated[Real, FRACTION] = 0.0

    @classmethod
    @override
    def for_each_part(cls, at_s: float) -> tuple["MotorFault", ...]:
        return tuple(cls(at_s=at_s, rotor=rotor) for rotor in range(4))

    @override
    def apply(self, command: RotorSpeeds, time_s: Real) -> RotorSpeeds:
        active = self.is_active(time_s)
        one, two, three, four = (
            speed * jnp.where(active & (self.rotor == rotor), self.keeps, 1.0)
            for rotor, speed in enumerate(command.speeds_radps)
        )
        return RotorSpeeds((one, two, three, four))

    @override
    def event(self) -> str:
        return f"motor {int(self.rotor)} fails: it keeps {float(self.keeps):.0%} of its speed"
