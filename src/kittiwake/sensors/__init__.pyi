"""Sensors and sensor errors: measurements that a vehicle takes of itself and the world.

Written by scripts/stubs from the registries.
"""

from collections.abc import Sequence
from typing import Literal

from kittiwake.core.registry import Registry
from kittiwake.core.specification import Component, ComponentSpec, FileName, Record, Vector
from kittiwake.interfaces.instrument import AbstractSensorError as AbstractSensorError
from kittiwake.interfaces.sensor import SensorInputs as SensorInputs
from kittiwake.sensors.errors.on_field import AbstractErrorOnField as AbstractErrorOnField

SENSORS: Registry
SENSOR_ERRORS: Registry

class Altimeter(ComponentSpec):
    """QRSim's height and climb rate."""

    def __init__(
        self,
        *,
        deviation_m: float = 0.003,
        time_constant_s: float = 0.0033333333333333335,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        deviation_ft: float = ...,
    ) -> None: ...

class AnchorRanging(ComponentSpec):
    """Distances to radio anchors at known positions, one after another."""

    def __init__(
        self,
        *,
        anchors_world_m: Sequence[Vector] = ...,
        noise_bound_m: float = 0.1,
        max_range_m: float = 100.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        anchors_world_ft: Sequence[Vector] = ...,
        noise_bound_ft: float = ...,
        max_range_ft: float = ...,
    ) -> None: ...

class Barometer(ComponentSpec):
    """Pressure with noise and slow drift."""

    def __init__(
        self,
        *,
        noise_pa: float = 1.2,
        drift_pa: float = 30.0,
        drift_time_s: float = 3600.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        noise_hpa: float = ...,
        drift_hpa: float = ...,
    ) -> None: ...

class Beacon(ComponentSpec):
    """Pose that the deck of the vehicle's partner transmits."""

    def __init__(
        self,
        *,
        position_deviation_m: float = 0.02,
        velocity_deviation_mps: float = 0.02,
        yaw_deviation_rad: float = 0.01,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        position_deviation_ft: float = ...,
        velocity_deviation_kn: float = ...,
        yaw_deviation_deg: float = ...,
    ) -> None: ...

class Bias(ComponentSpec):
    """An offset, random at the start, optionally with a random walk."""

    def __init__(
        self,
        *,
        field: str | None = ...,
        offset: float = 0.0,
        deviation: float = 0.0,
        walk_per_rts: float = 0.0,
        time_constant_s: float | None = ...,
    ) -> None: ...

class Camera(ComponentSpec):
    """Color images, optionally with depth."""

    def __init__(
        self,
        *,
        mount: Record = ...,
        gimbal: Literal["fixed", "stabilised"] = "fixed",
        width: int = 64,
        height: int = 48,
        horizontal_field_of_view_rad: float = 1.0471975511965976,
        depth: bool = False,
        min_range_m: float = 0.1,
        max_range_m: float = 20.0,
        intensity_deviation: float = 0.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        horizontal_field_of_view_deg: float = ...,
        min_range_ft: float = ...,
        max_range_ft: float = ...,
    ) -> None: ...

class Dropout(ComponentSpec):
    """Loses samples, one by one or in bursts."""

    def __init__(self, *, probability: float = ..., mean_length: float | None = ...) -> None: ...

class Gnss(ComponentSpec):
    """Satellite position and velocity, with dilutions of precision."""

    def __init__(
        self,
        *,
        noise_m: float = 0.002,
        elevation_mask_rad: float = 0.0872665,
        satellites_tracked: Sequence[int] | None = ...,
        delay_periods: int = 1,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        noise_ft: float = ...,
        elevation_mask_deg: float = ...,
    ) -> None: ...

class Imu(ComponentSpec):
    """Accelerometer and gyroscope of the MPU-6000's class."""

    def __init__(
        self,
        *,
        accelerometer: Record = ...,
        gyroscope: Record = ...,
        mount: Record = ...,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
    ) -> None: ...

class Latency(ComponentSpec):
    """Samples arrive late."""

    def __init__(self, *, delay_s: float = ...) -> None: ...

class Lidar2D(ComponentSpec):
    """Ranges in a plane."""

    def __init__(
        self,
        *,
        mount: Record = ...,
        beams: int = 90,
        field_of_view_rad: float = 6.283185307179586,
        min_range_m: float = 0.1,
        max_range_m: float = 12.0,
        deviation_m: float = 0.01,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        field_of_view_deg: float = ...,
        min_range_ft: float = ...,
        max_range_ft: float = ...,
        deviation_ft: float = ...,
    ) -> None: ...

class Magnetometer(ComponentSpec):
    """The magnetic field, with hard and soft iron."""

    def __init__(
        self,
        *,
        hard_iron_body_t: Vector = ...,
        soft_iron: Vector = ...,
        noise_t: float = 2e-07,
        quantum_t: float | None = 9.2e-08,
        range_t: float = 0.00013,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        hard_iron_body_ut: Vector = ...,
        hard_iron_body_gauss: Vector = ...,
        noise_ut: float = ...,
        noise_gauss: float = ...,
        quantum_ut: float | None = ...,
        quantum_gauss: float | None = ...,
        range_ut: float = ...,
        range_gauss: float = ...,
    ) -> None: ...

class Marker(ComponentSpec):
    """Pose of the marker on the partner's deck, as a camera sees it."""

    def __init__(
        self,
        *,
        mount: Record = ...,
        gimbal: Literal["fixed", "stabilised"] = "fixed",
        width: int = 640,
        height: int = 480,
        horizontal_field_of_view_rad: float = 1.5707963267948966,
        max_range_m: float = 5.0,
        rendered: bool = True,
        min_size_px: float = 12.0,
        max_oblique_rad: float = 1.3089969389957472,
        radial_deviation_px: float = 0.06,
        lateral_deviation_px: float = 0.08,
        yaw_deviation_px: float = 0.09,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        horizontal_field_of_view_deg: float = ...,
        max_range_ft: float = ...,
        max_oblique_deg: float = ...,
    ) -> None: ...

class MeasurementPlayback(ComponentSpec):
    """Measurements of a file in place of simulated ones."""

    def __init__(self, *, file: FileName = ..., sensor: str = "") -> None: ...

class MicklischBarometer(ComponentSpec):
    """Barometer of Micklisch et al.: bounded noise, 200 Hz."""

    def __init__(
        self,
        *,
        bound_pa: float = 6.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        bound_hpa: float = ...,
    ) -> None: ...

class MicklischImu(ComponentSpec):
    """IMU of Micklisch et al.: bounded noise, 100 Hz."""

    def __init__(
        self,
        *,
        force_bound_mps2: float = 0.011,
        rate_bound_radps: float = 0.011,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        rate_bound_degps: float = ...,
        rate_bound_rpm: float = ...,
    ) -> None: ...

class Noise(ComponentSpec):
    """White noise."""

    def __init__(self, *, field: str | None = ..., deviation: float = ...) -> None: ...

class Orientation(ComponentSpec):
    """QRSim's roll, pitch and yaw from an onboard attitude estimator."""

    def __init__(
        self,
        *,
        deviation_rad: float = 0.0035355,
        time_constant_s: float = 100.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        deviation_deg: float = ...,
    ) -> None: ...

class PersonCamera(ComponentSpec):
    """Scores of a person classifier for each image cell."""

    def __init__(
        self,
        *,
        mount: Record = ...,
        columns: int = 16,
        rows: int = 12,
        width_px: float = 1280.0,
        height_px: float = 960.0,
        focal_length_px: float = 2280.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
    ) -> None: ...

class PlumeSensor(ComponentSpec):
    """Concentration, with noise."""

    def __init__(
        self,
        *,
        plume: str | None = ...,
        deviation: float = 0.01,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
    ) -> None: ...

class Probe(ComponentSpec):
    """Value of a field in the water, or below a drone."""

    def __init__(
        self,
        *,
        field: str | None = ...,
        position_body_m: Vector = ...,
        depth_range_m: Sequence[float] = ...,
        footprint: Record | None = ...,
        time_constant_s: float = 0.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        position_body_ft: Vector = ...,
        depth_range_ft: Sequence[float] = ...,
    ) -> None: ...

class QrsimImu(ComponentSpec):
    """IMU of QRSim: white noise, 50 Hz."""

    def __init__(
        self,
        *,
        force_deviation_mps2: float = 0.0025,
        rate_deviation_radps: float = 0.0002,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        rate_deviation_degps: float = ...,
        rate_deviation_rpm: float = ...,
    ) -> None: ...

class Quantization(ComponentSpec):
    """Values rounded to whole steps."""

    def __init__(self, *, field: str | None = ..., quantum: float = ...) -> None: ...

class RangeCamera(ComponentSpec):
    """A depth image."""

    def __init__(
        self,
        *,
        mount: Record = ...,
        width: int = 16,
        height: int = 12,
        horizontal_field_of_view_rad: float = 1.0471975511965976,
        along: Literal["axis", "ray"] = "axis",
        min_range_m: float = 0.1,
        max_range_m: float = 10.0,
        deviation_m: float = 0.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        horizontal_field_of_view_deg: float = ...,
        min_range_ft: float = ...,
        max_range_ft: float = ...,
        deviation_ft: float = ...,
    ) -> None: ...

class Saturation(ComponentSpec):
    """Values clipped to limits."""

    def __init__(self, *, field: str | None = ..., low: float = ..., high: float = ...) -> None: ...

class SonarCone(ComponentSpec):
    """Nearest echo within a cone."""

    def __init__(
        self,
        *,
        mount: Record = ...,
        half_angle_rad: float = 0.2617993877991494,
        rings: int = 3,
        rays_per_ring: int = 12,
        min_range_m: float = 0.0,
        max_range_m: float = 5.0,
        max_incidence_rad: float = 0.4799655442984406,
        max_range_rate_mps: float | None = ...,
        noise_bound_m: float = 0.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        half_angle_deg: float = ...,
        min_range_ft: float = ...,
        max_range_ft: float = ...,
        max_incidence_deg: float = ...,
        max_range_rate_kn: float | None = ...,
        noise_bound_ft: float = ...,
    ) -> None: ...

class Stuck(ComponentSpec):
    """The same values repeated from a given time on."""

    def __init__(
        self, *, field: str | None = ..., at_s: float = ..., for_s: float | None = ...
    ) -> None: ...

class TerrainSensor(ComponentSpec):
    """Terrain class below the vehicle."""

    def __init__(self, *, rate_hz: float = ..., errors: Sequence[Component] = ...) -> None: ...

class Ultrasonic(ComponentSpec):
    """Range along one line, if the surface echoes."""

    def __init__(
        self,
        *,
        position_body_m: Vector = ...,
        direction_body: Vector = ...,
        min_range_m: float = 0.0,
        max_range_m: float = 5.0,
        max_incidence_rad: float = 0.4799655442984406,
        max_range_rate_mps: float | None = ...,
        noise_bound_m: float = 0.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        position_body_ft: Vector = ...,
        min_range_ft: float = ...,
        max_range_ft: float = ...,
        max_incidence_deg: float = ...,
        max_range_rate_kn: float | None = ...,
        noise_bound_ft: float = ...,
    ) -> None: ...

class UltrasonicArray(ComponentSpec):
    """Five ultrasonic sensors that take turns."""

    def __init__(
        self,
        *,
        scheme: Literal[
            "front",
            "right",
            "left",
            "back",
            "all-1",
            "front-1",
            "front-only",
            "bottom-only",
            "left-only",
            "right-only",
            "back-only",
        ]
        | None = ...,
        slots: Sequence[Sequence[str]] | None = ...,
        front: Record = ...,
        bottom: Record = ...,
        left: Record = ...,
        right: Record = ...,
        back: Record = ...,
        min_range_m: float = 0.0,
        max_range_m: float = 5.0,
        max_incidence_rad: float = 0.4799655442984406,
        max_range_rate_mps: float | None = ...,
        noise_bound_m: float = 0.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        min_range_ft: float = ...,
        max_range_ft: float = ...,
        max_incidence_deg: float = ...,
        max_range_rate_kn: float | None = ...,
        noise_bound_ft: float = ...,
    ) -> None: ...

class UltrasonicFan(ComponentSpec):
    """Ultrasonic ring of Micklisch et al.: fans of rays, 20 Hz."""

    def __init__(
        self,
        *,
        sensors: int = 8,
        ring_radius_m: float = 0.0,
        mount: Record = ...,
        horizontal_rad: float = 0.5235987755982988,
        vertical_rad: float = 0.5235987755982988,
        horizontal_rays: int = 7,
        vertical_rays: int = 5,
        min_range_m: float = 0.0,
        max_range_m: float = 5.0,
        max_incidence_rad: float | None = ...,
        max_range_rate_mps: float | None = ...,
        noise_bound_m: float = 0.005,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        ring_radius_ft: float = ...,
        horizontal_deg: float = ...,
        vertical_deg: float = ...,
        min_range_ft: float = ...,
        max_range_ft: float = ...,
        max_incidence_deg: float | None = ...,
        max_range_rate_kn: float | None = ...,
        noise_bound_ft: float = ...,
    ) -> None: ...

class UltrasonicHead(ComponentSpec):
    """Ultrasonic sensor that turns to face a surface, after Coronel Loza."""

    def __init__(
        self,
        *,
        position_body_m: Vector = ...,
        start_pitch_rad: float = 0.0,
        start_yaw_rad: float = 0.0,
        max_yaw_rad: float = 0.7853981633974483,
        time_constant_s: float = 0.1,
        max_rate_radps: float = 5.235987755982989,
        min_range_m: float = 0.0,
        max_range_m: float = 5.0,
        max_incidence_rad: float = 0.4799655442984406,
        noise_bound_m: float = 0.0,
        rate_hz: float = ...,
        errors: Sequence[Component] = ...,
        position_body_ft: Vector = ...,
        start_pitch_deg: float = ...,
        start_yaw_deg: float = ...,
        max_yaw_deg: float = ...,
        max_rate_degps: float = ...,
        max_rate_rpm: float = ...,
        min_range_ft: float = ...,
        max_range_ft: float = ...,
        max_incidence_deg: float = ...,
        noise_bound_ft: float = ...,
    ) -> None: ...
