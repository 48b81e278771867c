"""Who tells vehicles from outside of a compiled flight what to do, a few steps at a time."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64

# vehicle, and what happened to it
Notice = tuple[str, str]


class VehicleReport(NamedTuple):
    """What a vehicle believes of itself, world axes.

    ``acceleration_mps2`` is that of the velocity: zero at rest, and before the first step.
    """

    position_m: Float64[np.ndarray, "3"]
    velocity_mps: Float64[np.ndarray, "3"]
    yaw_rad: float
    acceleration_mps2: Float64[np.ndarray, "3"]


@runtime_checkable
class CommandSource(Protocol):
    """Gives commands that hold for ``steps`` physics steps.

    ``kinds`` are the vehicles that it commands, and the kind of signal that each of them gets every
    time.
    """

    @property
    def steps(self) -> int:
        """How long commands hold."""
        ...

    @property
    def kinds(self) -> Mapping[str, type]:
        """Of commands, by vehicle."""
        ...

    def commands(self, time_s: float, reports: Mapping[str, VehicleReport]) -> Mapping[str, Any]:
        """What vehicles are to do from now on, by what they believe now."""
        ...

    def notices(self) -> Sequence[Notice]:
        """What has happened since one asked last."""
        ...


@dataclass
class Pace:
    """Keeps simulated time to the clock on the wall; ``speed`` 2 is twice as fast."""

    speed: float = 1.0
    _began_s: float | None = field(default=None, init=False)

    def wait(self, time_s: float) -> None:
        """Returns when a simulated time has come; what is late is caught up with."""
        now_s = time.monotonic()
        if self._began_s is None:
            self._began_s = now_s - time_s / self.speed
        left_s = self._began_s + time_s / self.speed - now_s
        if left_s > 0.0:
            time.sleep(left_s)
