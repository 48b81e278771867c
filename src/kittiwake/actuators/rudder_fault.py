"""Fault of a rudder: it jams at an angle."""

import math
from typing import Annotated, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, Bounds
from kittiwake.core.commands import RudderThrust
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.dynamics import AbstractDynamics, AbstractFault

ANGLES = Bounds(-math.pi / 2.0, math.pi / 2.0)


class RudderFault(AbstractFault[RudderThrust]):
    """A rudder that goes to a fixed angle at ``at_s`` and stays there.

    Attributes:
        stuck_rad: angle to which the rudder goes.
    """

    command_type: ClassVar[type] = RudderThrust

    at_s: Annotated[Real, NOT_NEGATIVE]
    stuck_rad: Annotated[Real, ANGLES] = 0.0

    @override
    def part(self) -> str:
        return "rudder"

    @override
    def check(self, dynamics: AbstractDynamics) -> None:
        low, high = dynamics.command_bounds["rudder_rad"]
        if not low <= self.stuck_rad <= high:
            message = (
                f"stuck_rad: {self.stuck_rad:.3g} is beyond the rudder's stops; must be from "
                f"{low:.3g} to {high:.3g}"
            )
            raise ScenarioError(message)

    @override
    def apply(self, command: RudderThrust, time_s: Real) -> RudderThrust:
        angle = jnp.where(self.is_active(time_s), self.stuck_rad, command.rudder_rad)
        return RudderThrust(angle, command.thrust_n)

    @override
    def event(self) -> str:
        return f"rudder jams at {float(self.stuck_rad):.3g} rad"

    @classmethod
    @override
    def examples(cls) -> dict[str, "RudderFault"]:
        return {"begun": cls(0.01, 0.3)}
