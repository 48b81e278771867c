"""Aerodynamic forces on a body: rotors, ground effect and drag.

Written by scripts/stubs from the registries.
"""

from typing import Literal

from kittiwake.core.registry import Registry
from kittiwake.core.specification import ComponentSpec, Vector
from kittiwake.core.wrench import Wrench as Wrench
from kittiwake.interfaces.parts import AbstractForce as AbstractForce
from kittiwake.interfaces.parts import AbstractGroundEffect as AbstractGroundEffect
from kittiwake.interfaces.parts import AbstractRotor as AbstractRotor
from kittiwake.interfaces.parts import Flow as Flow

ROTORS: Registry
GROUND_EFFECTS: Registry
FORCES: Registry

class BladeElementRotor(ComponentSpec):
    """Blade-element theory: thrust, hub force, torque and rolling moment of the airspeed."""

    def __init__(
        self,
        *,
        radius_m: float = ...,
        chord_m: float = ...,
        root_pitch_rad: float = ...,
        profile_drag: float = ...,
        max_speed_radps: float = ...,
        twist_rad: float = 0.0,
        blades: int = 2,
        lift_slope: float = 5.7,
        min_speed_radps: float = 0.0,
        spin_up_s: float = 0.05,
        inertia_kgm2: float = 0.0,
        design_density_kgpm3: float = 1.225,
        inflow: Literal["at-rest", "momentum"] = "at-rest",
        radius_ft: float = ...,
        chord_ft: float = ...,
        root_pitch_deg: float = ...,
        max_speed_degps: float = ...,
        max_speed_rpm: float = ...,
        twist_deg: float = ...,
        min_speed_degps: float = ...,
        min_speed_rpm: float = ...,
    ) -> None: ...

class CheesemanBennett(ComponentSpec):
    """Method of images for one rotor."""

    def __init__(self) -> None: ...

class LinearDrag(ComponentSpec):
    """Drag proportional to the airspeed, per axis."""

    def __init__(self, *, damping_body_kgps: Vector = ...) -> None: ...

class LumpedRotor(ComponentSpec):
    """Thrust and torque by the squared speed, with lumped effects of the airspeed."""

    def __init__(
        self,
        *,
        thrust_ns2: float = ...,
        torque_nms2: float = ...,
        radius_m: float = ...,
        max_speed_radps: float = ...,
        min_speed_radps: float = 0.0,
        spin_up_s: float = 0.05,
        spin_down_s: float | None = ...,
        inertia_kgm2: float = 0.0,
        inflow_ns2pm: float = 0.0,
        translational_lift_ns2pm2: float = 0.0,
        drag_ns2pm: float = 0.0,
        flapping_ns2: float = 0.0,
        radius_ft: float = ...,
        max_speed_degps: float = ...,
        max_speed_rpm: float = ...,
        min_speed_degps: float = ...,
        min_speed_rpm: float = ...,
    ) -> None: ...

class QuadraticDrag(ComponentSpec):
    """Drag proportional to the squared airspeed, per axis."""

    def __init__(self, *, drag_area_body_m2: Vector = ...) -> None: ...

class RotationDamping(ComponentSpec):
    """Torque proportional to the body rates, per axis."""

    def __init__(self, *, damping_body_nms: Vector = ...) -> None: ...
