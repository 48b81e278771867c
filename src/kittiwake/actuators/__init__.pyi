"""Batteries and actuator faults.

Written by scripts/stubs from the registries.
"""

from typing import Literal

from kittiwake.core.registry import Registry
from kittiwake.core.specification import ComponentSpec
from kittiwake.interfaces.dynamics import AbstractFault as AbstractFault
from kittiwake.interfaces.parts import AbstractBattery as AbstractBattery

BATTERIES: Registry
FAULTS: Registry

class LithiumPolymer(ComponentSpec):
    """Cells in series with internal resistance: charge, voltage sag, empty or not."""

    def __init__(
        self,
        *,
        cells: int = ...,
        capacity_c: float = ...,
        resistance_ohm: float = ...,
        motor_efficiency: float = 0.7,
        electronics_w: float = 0.0,
        charge: float = 1.0,
        charging_a: float = 0.0,
        capacity_mah: float = ...,
    ) -> None: ...

class MotorFault(ComponentSpec):
    """A rotor turns at a share of its speed, or not at all."""

    def __init__(self, *, at_s: float = ..., rotor: int = ..., keeps: float = 0.0) -> None: ...

class PropellerFault(ComponentSpec):
    """A vessel's thrust is lost."""

    def __init__(self, *, at_s: float = ..., keeps: float = 0.0) -> None: ...

class RudderFault(ComponentSpec):
    """A vessel's rudder jams."""

    def __init__(
        self, *, at_s: float = ..., stuck_rad: float = 0.0, stuck_deg: float = ...
    ) -> None: ...

class ShaftFault(ComponentSpec):
    """One of a vessel's two propellers turns at a share of its speed, or not at all."""

    def __init__(
        self, *, at_s: float = ..., side: Literal["left", "right"] = ..., keeps: float = 0.0
    ) -> None: ...
