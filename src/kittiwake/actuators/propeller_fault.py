"""A vessel's propeller that loses thrust."""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE
from kittiwake.core.commands import RudderThrust
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.dynamics import AbstractFault


class PropellerFault(AbstractFault):
    """From ``at_s`` on the propeller gives only a share of the thrust that it is asked for."""

    command: ClassVar[type] = RudderThrust

    at_s: Annotated[Real, NOT_NEGATIVE]
    keeps: Annotated[Real, FRACTION] = 0.0

    @override
    def applied(self, command: RudderThrust, time_s: Real) -> RudderThrust:
        share = jnp.where(self.is_active(time_s), self.keeps, 1.0)
        return RudderThrust(command.rudder_rad, command.thrust_n * share)

    @override
    def event(self) -> str:
        return f"propeller fails: it keeps {float(self.keeps):.0%} of its thrust"
