"""Vehicle models: dynamics with parameters from a data file, one per vehicle.

Written by scripts/stubs from the registries.
"""

from collections.abc import Sequence
from typing import Literal

from kittiwake.core.registry import Registry
from kittiwake.core.specification import Component, ComponentSpec, FileName, Record, Vector

VEHICLES: Registry

class angle_velocity(ComponentSpec):
    """Drone of a Matlab simulator for ultrasonic sensors: lagging angles, linear drag."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        angle_time_constant_s: float = ...,
        drag_forward_per_s: float = ...,
        drag_sideways_per_s: float = ...,
        drag_vertical_per_s: float = ...,
        max_yaw_rate_radps: float = ...,
        max_thrust_n: float = ...,
        max_angle_rad: float = ...,
        max_speed_mps: float = ...,
        max_tilt_rate_radps: float | None = ...,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "heun",
        urdf: FileName = ...,
        max_yaw_rate_degps: float = ...,
        max_yaw_rate_rpm: float = ...,
        max_angle_deg: float = ...,
        max_speed_kn: float = ...,
        max_tilt_rate_degps: float | None = ...,
        max_tilt_rate_rpm: float | None = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class ar_drone(ComponentSpec):
    """Parrot AR.Drone 2.0 with four rotors."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        rotor: Component = ...,
        hubs_body_m: Sequence[Vector] = ...,
        spins: Sequence[float] = ...,
        forces: Sequence[Component] = ...,
        ground_effect: Component | None = ...,
        battery: Component | None = ...,
        landing_gear: Record | None = ...,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "rk4",
        urdf: FileName = ...,
        hubs_body_ft: Sequence[Vector] = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class crazyflie(ComponentSpec):
    """Bitcraze Crazyflie 2: 27 g, four rotors with drag."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        rotor: Component = ...,
        hubs_body_m: Sequence[Vector] = ...,
        spins: Sequence[float] = ...,
        forces: Sequence[Component] = ...,
        ground_effect: Component | None = ...,
        battery: Component | None = ...,
        landing_gear: Record | None = ...,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "rk4",
        urdf: FileName = ...,
        hubs_body_ft: Sequence[Vector] = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class hummingbird(ComponentSpec):
    """AscTec Hummingbird: 500 g, four rotors with drag, inflow and translational lift."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        rotor: Component = ...,
        hubs_body_m: Sequence[Vector] = ...,
        spins: Sequence[float] = ...,
        forces: Sequence[Component] = ...,
        ground_effect: Component | None = ...,
        battery: Component | None = ...,
        landing_gear: Record | None = ...,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "rk4",
        urdf: FileName = ...,
        hubs_body_ft: Sequence[Vector] = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class lee_2010(ComponentSpec):
    """Quadrotor of Lee, Leok and McClamroch (2010): thrust and torque as commanded."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        forces: Sequence[Component] = ...,
        added_mass: Sequence[Sequence[float]] | None = ...,
        landing_gear: Record | None = ...,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        disc_area_m2: float | None = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "rk4",
        urdf: FileName = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class os4(ComponentSpec):
    """OS4 with rotors after blade-element theory."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        rotor: Component = ...,
        hubs_body_m: Sequence[Vector] = ...,
        spins: Sequence[float] = ...,
        forces: Sequence[Component] = ...,
        ground_effect: Component | None = ...,
        battery: Component | None = ...,
        landing_gear: Record | None = ...,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "rk4",
        urdf: FileName = ...,
        hubs_body_ft: Sequence[Vector] = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class otter(ComponentSpec):
    """Maritime Robotics Otter: catamaran of 2 m with two propellers, in six motions."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        center_of_mass_body_m: Vector = ...,
        inertia_kgm2: Record = ...,
        added_mass_body_kg: Vector = ...,
        added_inertia_body_kgm2: Vector = ...,
        hydrostatics: Record = ...,
        damping: Record = ...,
        left_propeller: Record = ...,
        right_propeller: Record = ...,
        cross_flow: Record | None = ...,
        payload_kg: float = 0.0,
        payload_body_m: Vector = ...,
        air_drag_surge_kgpm: float = 0.0,
        air_drag_sway_kgpm: float = 0.0,
        water_density_kgpm3: float = 1025.0,
        max_tilt_rad: float = 1.0471975511965976,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "rk4",
        urdf: FileName = ...,
        center_of_mass_body_ft: Vector = ...,
        payload_body_ft: Vector = ...,
        max_tilt_deg: float = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class pelican(ComponentSpec):
    """AscTec Pelican as identified for QRSim: attitude response, throttle, battery ceiling."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        attitude_gain: float = ...,
        attitude_stiffness_per_s2: float = ...,
        attitude_damping_per_s: float = ...,
        yaw_rate_gain_per_s: float = ...,
        yaw_rate_damping_per_s: float = ...,
        max_tilt_rate_radps: float = ...,
        thrust_polynomial_n: Sequence[float] = ...,
        battery_thrust_offset_n: float = ...,
        battery_thrust_slope_npv: float = ...,
        thrust_slew_nps: float = ...,
        slow_thrust_rate_per_s: float = ...,
        slow_throttle: float = ...,
        drag_horizontal_per_s: float = ...,
        drag_vertical_per_s: float = ...,
        linear_noise_mps2: float = ...,
        angular_noise_radps2: float = ...,
        max_speed_mps: float = ...,
        max_rate_radps: float = ...,
        max_angle_rad: float = ...,
        max_yaw_rad: float = ...,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "heun",
        urdf: FileName = ...,
        max_tilt_rate_degps: float = ...,
        max_tilt_rate_rpm: float = ...,
        max_speed_kn: float = ...,
        max_rate_degps: float = ...,
        max_rate_rpm: float = ...,
        max_angle_deg: float = ...,
        max_yaw_deg: float = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class rigid_body(ComponentSpec):
    """A body of your own: mass, inertia and drag in the scenario."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        forces: Sequence[Component] = ...,
        added_mass: Sequence[Sequence[float]] | None = ...,
        landing_gear: Record | None = ...,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        disc_area_m2: float | None = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "rk4",
        urdf: FileName = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class strider(ComponentSpec):
    """Strider V1.0 of the UAV-USV simulator: small catamaran with rudder and propeller."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        yaw_inertia_kgm2: float = ...,
        hull: Record = ...,
        rudder: Record = ...,
        max_thrust_n: float = ...,
        added_mass: Record = ...,
        air_drag_surge_kgpm: float = 0.0,
        air_drag_sway_kgpm: float = 0.0,
        water_density_kgpm3: float = 998.0,
        hulls: int = 1,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "rk4",
        ride: Record = ...,
        urdf: FileName = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...

class uav_gazebo(ComponentSpec):
    """The body of uav_gazebo: thrust and torque as commanded."""

    def __init__(
        self,
        *,
        mass_kg: float = ...,
        inertia_kgm2: Record = ...,
        forces: Sequence[Component] = ...,
        added_mass: Sequence[Sequence[float]] | None = ...,
        landing_gear: Record | None = ...,
        deck: Record | None = ...,
        size_body_m: Vector = ...,
        disc_area_m2: float | None = ...,
        integrator: Literal[
            "euler", "semi-implicit-euler", "heun", "rk4", "dormand-prince-5"
        ] = "rk4",
        urdf: FileName = ...,
        size_body_ft: Vector = ...,
    ) -> None: ...
