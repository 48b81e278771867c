"""External command source, polled between compiled blocks of a few steps."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64

# a vehicle, and what happened to it
Notice = tuple[str, str]


class VehicleReport(NamedTuple):
    """State estimate of a vehicle in world axes, as a command source receives it.

    ``acceleration_mps2`` is the derivative of the velocity: zero at rest and before the first step.
    """

    position_m: Float64[np.ndarray, "3"]
    velocity_mps: Float64[np.ndarray, "3"]
    yaw_rad: float
    acceleration_mps2: Float64[np.ndarray, "3"]


@runtime_checkable
class CommandSource(Protocol):
    """Source of commands that hold for ``steps`` physics steps.

    ``kinds`` maps each vehicle that it commands to the command type that the vehicle always gets.
    """

    @property
    def steps(self) -> int:
        """Number of physics steps for which a command holds."""
        ...

    @property
    def kinds(self) -> Mapping[str, type]:
        """Command types, by vehicle."""
        ...

    def commands(self, time_s: float, reports: Mapping[str, VehicleReport]) -> Mapping[str, Any]:
        """Return the commands from now on, given the vehicles' current estimates."""
        ...

    def notices(self) -> Sequence[Notice]:
        """Return what has happened since the last call."""
        ...
