"""State of a flight between two blocks, in the form in which its engine holds it."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from kittiwake.sim.state import FleetState


class FlightState:
    """State of a flight, which is unpacked when it is first read, as most are not.

    Attributes:
        packed: the same in the two arrays of a ``Packing``; None where it is not at hand.
    """

    def __init__(
        self,
        read: Callable[[], FleetState],
        packed: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        """Keep a state; ``read`` returns it."""
        self._read, self.packed = read, packed

    @classmethod
    def of(cls, fleet: FleetState) -> "FlightState":
        """Return a state that is unpacked already."""
        return cls(lambda: fleet)

    @cached_property
    def fleet(self) -> FleetState:
        """State of the fleet."""
        return self._read()
