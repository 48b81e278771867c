"""Estimators of a vehicle's own motion.

Written by scripts/stubs from the registries.
"""

from collections.abc import Sequence

from kittiwake.core.registry import Registry
from kittiwake.core.specification import Component, ComponentSpec, Record, Vector

ESTIMATORS: Registry
BASES: Registry

class AltitudeFusion(ComponentSpec):
    """Height from range finder, barometer and specific force; rest from a base estimator."""

    def __init__(
        self,
        *,
        base: Component = ...,
        range: str = "ultrasonic",
        barometer: str = "barometer",
        surface_z_m: float | None = ...,
        longest_range_m: float = 5.0,
        offset_m: float = 1.0,
        range_threshold_m: float = 5.0,
        pressure_threshold_m: float = 15.0,
        frequency_radps: float = 1.5,
        gravity_mps2: float | None = ...,
        rate_hz: float = ...,
        surface_z_ft: float | None = ...,
        longest_range_ft: float = ...,
        offset_ft: float = ...,
        range_threshold_ft: float = ...,
        pressure_threshold_ft: float = ...,
        frequency_degps: float = ...,
        frequency_rpm: float = ...,
    ) -> None: ...

class AnchorEkf(ComponentSpec):
    """Position and velocity from anchor ranges, attitude from another estimator."""

    def __init__(
        self,
        *,
        base: Component = ...,
        anchors: str = "anchor-ranging",
        anchors_world_m: Sequence[Vector] | None = ...,
        max_acceleration_mps2: float = 5.0,
        acceleration_time_s: float = 0.0625,
        range_deviation_m: float = 0.0577,
        gate_deviations: float = 5.0,
        start_position_m: float = 0.5,
        start_velocity_mps: float = 0.1,
        rate_hz: float = ...,
        anchors_world_ft: Sequence[Vector] | None = ...,
        range_deviation_ft: float = ...,
        start_position_ft: float = ...,
        start_velocity_kn: float = ...,
    ) -> None: ...

class DeadReckoning(ComponentSpec):
    """Inertial unit alone, integrated from the start."""

    def __init__(
        self, *, imu: str = "imu", gravity_mps2: float | None = ..., rate_hz: float = ...
    ) -> None: ...

class Ekf(ComponentSpec):
    """Error-state Kalman filter of inertial unit, satellites, barometer and magnetometer."""

    def __init__(
        self,
        *,
        imu: str = "imu",
        gnss: str | None = "gnss",
        barometer: str | None = "barometer",
        magnetometer: str | None = "magnetometer",
        range: str | None = ...,
        imu_position_body_m: Vector = ...,
        gyroscope: Record = ...,
        accelerometer: Record = ...,
        satellite_errors: Record = ...,
        altitude_errors: Record = ...,
        field_errors: Record = ...,
        range_errors: Record = ...,
        start_errors: Record = ...,
        gate_deviations: float = 5.0,
        assumptions: Record | None = ...,
        rate_hz: float = ...,
        imu_position_body_ft: Vector = ...,
    ) -> None: ...

class NoisyTruth(ComponentSpec):
    """True motion with white noise."""

    def __init__(
        self,
        *,
        position_m: float = 0.02,
        velocity_mps: float = 0.05,
        attitude_rad: float = 0.005,
        rate_radps: float = 0.02,
        rate_hz: float = ...,
        position_ft: float = ...,
        velocity_kn: float = ...,
        attitude_deg: float = ...,
        rate_degps: float = ...,
        rate_rpm: float = ...,
    ) -> None: ...

class QRSimEstimate(ComponentSpec):
    """Unfiltered readings of satellites, altimeter, orientation and inertial unit."""

    def __init__(
        self,
        *,
        gnss: str = "gnss",
        altimeter: str = "altimeter",
        orientation: str = "orientation",
        imu: str = "imu",
        rate_hz: float = ...,
    ) -> None: ...

class Truth(ComponentSpec):
    """True motion without error."""

    def __init__(self, *, rate_hz: float = ...) -> None: ...
