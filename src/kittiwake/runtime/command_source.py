"""External command source, polled between compiled blocks of a few steps."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass
class Pace:
    """Pacing of simulated time by the wall clock; ``speed`` 2 is twice real time."""

    speed: float = 1.0
    _began_s: float | None = field(default=None, init=False)

    def wait(self, time_s: float) -> None:
        """Wait until a simulated time has come; a late flight catches up."""
        now_s = time.monotonic()
        if self._began_s is None:
            self._began_s = now_s - time_s / self.speed
        left_s = self._began_s + time_s / self.speed - now_s
        if left_s > 0.0:
            time.sleep(left_s)
