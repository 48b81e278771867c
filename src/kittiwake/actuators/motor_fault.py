"""Fault of a motor: it keeps a fraction of its speed."""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE
from kittiwake.core.commands import RotorSpeeds
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.interfaces.dynamics import AbstractDynamics, AbstractFault


class MotorFault(AbstractFault[RotorSpeeds]):
    """A motor that follows only the fraction ``keeps`` of its commanded speed from ``at_s`` on.

    Its lag still applies, so that a motor without power coasts down. ``rotor`` counts from 0, as in
    the columns of the log.

    Attributes:
        rotor: number of the rotor, from 0.
        keeps: share of the commanded speed that remains.
    """

    command_type: ClassVar[type] = RotorSpeeds

    at_s: Annotated[Real, NOT_NEGATIVE]
    rotor: Annotated[Integer, NOT_NEGATIVE]
    keeps: Annotated[Real, FRACTION] = 0.0

    @classmethod
    @override
    def for_each_part(cls, at_s: float, dynamics: AbstractDynamics) -> tuple["MotorFault", ...]:
        return tuple(cls(at_s=at_s, rotor=rotor) for rotor in range(dynamics.actuator_count))

    @override
    def check(self, dynamics: AbstractDynamics) -> None:
        last = dynamics.actuator_count - 1
        if self.rotor > last:
            message = f"rotor: {self.rotor} is not allowed; must be from 0 to {last}"
            raise ScenarioError(message)

    @override
    def apply(self, command: RotorSpeeds, time_s: Real) -> RotorSpeeds:
        active = self.is_active(time_s)
        speeds = (
            speed * jnp.where(active & (self.rotor == rotor), self.keeps, 1.0)
            for rotor, speed in enumerate(command.speeds_radps)
        )
        return RotorSpeeds(tuple(speeds))

    @override
    def event(self) -> str:
        return f"motor {int(self.rotor)} fails: it keeps {float(self.keeps):.0%} of its speed"

    @classmethod
    @override
    def examples(cls) -> dict[str, "MotorFault"]:
        return {"begun": cls(0.01, 1, 0.3)}
