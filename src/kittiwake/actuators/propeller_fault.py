"""Fault of a vessel's propeller: it keeps a fraction of its thrust."""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE
from kittiwake.core.commands import RudderThrust
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.dynamics import AbstractFault


class PropellerFault(AbstractFault[RudderThrust]):
    """A propeller that gives only a fraction of its commanded thrust from ``at_s`` on.

    Attributes:
        keeps: share of the commanded thrust that remains.
    """

    command_type: ClassVar[type] = RudderThrust

    at_s: Annotated[Real, NOT_NEGATIVE]
    keeps: Annotated[Real, FRACTION] = 0.0

    @override
    def apply(self, command: RudderThrust, time_s: Real) -> RudderThrust:
        fraction = jnp.where(self.is_active(time_s), self.keeps, 1.0)
        return RudderThrust(command.rudder_rad, command.thrust_n * fraction)

    @override
    def event(self) -> str:
        return f"propeller fails: it keeps {float(self.keeps):.0%} of its thrust"

    @classmethod
    @override
    def examples(cls) -> dict[str, "PropellerFault"]:
        return {"begun": cls(0.01, 0.3)}
