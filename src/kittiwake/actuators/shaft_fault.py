"""Fault of one of two propeller shafts: it keeps a fraction of its speed."""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE
from kittiwake.core.commands import PropellerSpeeds
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.dynamics import AbstractDynamics, AbstractFault
from kittiwake.pytree import field


class ShaftFault(AbstractFault[PropellerSpeeds]):
    """A shaft that follows only the fraction ``keeps`` of its commanded speed from ``at_s`` on.

    Attributes:
        side: side of the shaft.
        keeps: share of the commanded speed that remains.
    """

    command_type: ClassVar[type] = PropellerSpeeds

    at_s: Annotated[Real, NOT_NEGATIVE]
    side: Literal["left", "right"] = field(static=True)
    keeps: Annotated[Real, FRACTION] = 0.0

    @classmethod
    @override
    def for_each_part(cls, at_s: float, dynamics: AbstractDynamics) -> tuple["ShaftFault", ...]:
        del dynamics
        return cls(at_s=at_s, side="left"), cls(at_s=at_s, side="right")

    @override
    def apply(self, command: PropellerSpeeds, time_s: Real) -> PropellerSpeeds:
        fraction = jnp.where(self.is_active(time_s), self.keeps, 1.0)
        name = f"{self.side}_radps"
        return replace(command, **{name: getattr(command, name) * fraction})

    @override
    def event(self) -> str:
        return f"{self.side} shaft fails: it keeps {float(self.keeps):.0%} of its speed"

    @classmethod
    @override
    def examples(cls) -> dict[str, "ShaftFault"]:
        return {"begun": cls(0.01, "left", 0.3)}
