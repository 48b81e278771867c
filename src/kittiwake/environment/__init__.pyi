"""Environment models: wind, waves, obstacles, satellites, plumes and other parts of the world.

Written by scripts/stubs from the registries.
"""

from collections.abc import Sequence

from kittiwake.core.registry import Registry
from kittiwake.core.specification import Component, ComponentSpec, FileName, Record, Vector
from kittiwake.world.environment import AbstractProcessKind as AbstractProcessKind
from kittiwake.world.environment import AbstractWind as AbstractWind
from kittiwake.world.ray import AbstractObstacle as AbstractObstacle

WINDS: Registry
TURBULENCE: Registry
ATMOSPHERES: Registry
REGIONS: Registry
OBSTACLES: Registry
PLATFORMS: Registry
INTERACTIONS: Registry
SATELLITES: Registry
RANGE_ERRORS: Registry
PLUMES: Registry
FIELDS: Registry
TERRAINS: Registry
CURRENTS: Registry
WAVES: Registry

class Box(ComponentSpec):
    """A box in any attitude."""

    def __init__(
        self,
        *,
        center_world_m: Vector = ...,
        sides_m: Vector = ...,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        center_world_ft: Vector = ...,
        sides_ft: Vector = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...

class Calm(ComponentSpec):
    """No wind."""

    def __init__(self) -> None: ...

class Capsule(ComponentSpec):
    """A cylinder with round ends."""

    def __init__(
        self,
        *,
        center_world_m: Vector = ...,
        radius_m: float = ...,
        height_m: float = ...,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        center_world_ft: Vector = ...,
        radius_ft: float = ...,
        height_ft: float = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...

class ConstantWind(ComponentSpec):
    """Constant in space and time, also written as [east, north, up]."""

    def __init__(
        self,
        *,
        wind_world_mps: Vector | None = ...,
        speed_mps: float | None = ...,
        from_rad: float | None = ...,
        wind_world_kn: Vector | None = ...,
        speed_kn: float | None = ...,
        from_deg: float | None = ...,
    ) -> None: ...

class CosineGust(ComponentSpec):
    """Discrete 1-cosine gust of MIL-F-8785C."""

    def __init__(
        self,
        *,
        start_s: float = ...,
        rise_s: float = ...,
        hold_s: float | None = 0.0,
        wind_world_mps: Vector | None = ...,
        speed_mps: float | None = ...,
        from_rad: float | None = ...,
        wind_world_kn: Vector | None = ...,
        speed_kn: float | None = ...,
        from_deg: float | None = ...,
    ) -> None: ...

class Cylinder(ComponentSpec):
    """An upright, lying or tilted cylinder."""

    def __init__(
        self,
        *,
        center_world_m: Vector = ...,
        radius_m: float = ...,
        height_m: float = ...,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        center_world_ft: Vector = ...,
        radius_ft: float = ...,
        height_ft: float = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...

class DispersionPlume(ComponentSpec):
    """Steady plume in the wind, from continuous sources."""

    def __init__(
        self,
        *,
        sources: Record = ...,
        emission_range_per_s: Sequence[float] = ...,
        spread_coefficient: float = 0.33,
        spread_exponent: float = 0.86,
        rate_hz: float = ...,
    ) -> None: ...

class Downwash(ComponentSpec):
    """The jets of vehicles above, as wind."""

    def __init__(self) -> None: ...

class Dryden(ComponentSpec):
    """Dryden spectra of MIL-F-8785C, exact at any step length."""

    def __init__(
        self,
        *,
        speed_at_6m_mps: float = ...,
        least_airspeed_mps: float = 0.5,
        rate_hz: float = ...,
        speed_at_6m_kn: float = ...,
        least_airspeed_kn: float = ...,
    ) -> None: ...

class DrydenFirstOrder(ComponentSpec):
    """First-order form of QRSim, by ground speed."""

    def __init__(
        self, *, speed_at_6m_mps: float = 2.0, rate_hz: float = ..., speed_at_6m_kn: float = ...
    ) -> None: ...

class FirstOrderError(ComponentSpec):
    """A Gauss-Markov process, QRSim's GM."""

    def __init__(
        self,
        *,
        deviation_m: float = 12.35,
        time_constant_s: float = 2000.0,
        deviation_ft: float = ...,
    ) -> None: ...

class FixedPlatform(ComponentSpec):
    """A fixed rectangle."""

    def __init__(
        self,
        *,
        position_world_m: Vector = ...,
        length_m: float = ...,
        width_m: float = ...,
        yaw_rad: float = 0.0,
        roll_rad: float = 0.0,
        pitch_rad: float = 0.0,
        position_world_ft: Vector = ...,
        length_ft: float = ...,
        width_ft: float = ...,
        yaw_deg: float = ...,
        roll_deg: float = ...,
        pitch_deg: float = ...,
    ) -> None: ...

class ForceRegion(ComponentSpec):
    """A box with a force."""

    def __init__(
        self,
        *,
        from_world_m: Vector = ...,
        to_world_m: Vector = ...,
        force_world_n: Vector = ...,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        from_world_ft: Vector = ...,
        to_world_ft: Vector = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...

class GaussianPlume(ComponentSpec):
    """A cloud at rest in still air."""

    def __init__(
        self,
        *,
        position_world_m: Vector | None = ...,
        deviations_m: Sequence[float] | None = ...,
        yaw_rad: float | None = ...,
        deviation_range_m: Sequence[float] = ...,
        peak: float = 1.0,
        rate_hz: float = ...,
        position_world_ft: Vector | None = ...,
        deviations_ft: Sequence[float] | None = ...,
        yaw_deg: float | None = ...,
        deviation_range_ft: Sequence[float] = ...,
    ) -> None: ...

class Hallway(ComponentSpec):
    """Walls on both sides of a line of points, floor and ceiling."""

    def __init__(
        self,
        *,
        points_world_m: Sequence[Vector] = ...,
        width_m: float = ...,
        height_m: float = ...,
        floor: bool = False,
        ceiling: bool = False,
        points_world_ft: Sequence[Vector] = ...,
        width_ft: float = ...,
        height_ft: float = ...,
    ) -> None: ...

class JonswapSea(ComponentSpec):
    """A growing sea by height, wind and fetch or sea state."""

    def __init__(
        self,
        *,
        significant_height_m: float | None = ...,
        wind_speed_mps: float | None = ...,
        fetch_m: float | None = ...,
        sea_state: int | None = ...,
        peak_period_s: float | None = ...,
        peak_enhancement: float = 3.3,
        towards_rad: float = 0.0,
        spreading: float | None = ...,
        water_depth_m: float | None = ...,
        components: int = 64,
        rate_hz: float = ...,
        significant_height_ft: float | None = ...,
        wind_speed_kn: float | None = ...,
        fetch_ft: float | None = ...,
        towards_deg: float = ...,
        water_depth_ft: float | None = ...,
    ) -> None: ...

class Mesh(ComponentSpec):
    """Triangles from an STL or OBJ file."""

    def __init__(
        self,
        *,
        file: FileName = ...,
        position_world_m: Vector = ...,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        scale: float = 1.0,
        position_world_ft: Vector = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...

class MovingPlatform(ComponentSpec):
    """A deck that moves, heaves, rolls and pitches."""

    def __init__(
        self,
        *,
        position_world_m: Vector = ...,
        length_m: float = ...,
        width_m: float = ...,
        yaw_rad: float = 0.0,
        velocity_world_mps: Vector = ...,
        yaw_rate_radps: float = 0.0,
        heave_m: float = 0.0,
        heave_period_s: float = 4.0,
        roll_rad: float = 0.0,
        roll_period_s: float = 4.0,
        pitch_rad: float = 0.0,
        pitch_period_s: float = 4.0,
        position_world_ft: Vector = ...,
        length_ft: float = ...,
        width_ft: float = ...,
        yaw_deg: float = ...,
        velocity_world_kn: Vector = ...,
        yaw_rate_degps: float = ...,
        yaw_rate_rpm: float = ...,
        heave_ft: float = ...,
        roll_deg: float = ...,
        pitch_deg: float = ...,
    ) -> None: ...

class NoRangeError(ComponentSpec):
    """Exact distances."""

    def __init__(self) -> None: ...

class NoTurbulence(ComponentSpec):
    """No gusts."""

    def __init__(self, *, rate_hz: float = ...) -> None: ...

class NominalConstellation(ComponentSpec):
    """The 24 slots of GPS, on undisturbed circular orbits."""

    def __init__(
        self, *, numbers: Sequence[int] | None = ..., errors: Component = ..., rate_hz: float = ...
    ) -> None: ...

class ParabolicSheet(ComponentSpec):
    """A sheet with a parabolic section."""

    def __init__(
        self,
        *,
        center_world_m: Vector = ...,
        curvature_pm: float = ...,
        length_m: float = ...,
        width_m: float = ...,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        center_world_ft: Vector = ...,
        length_ft: float = ...,
        width_ft: float = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...

class Patches(ComponentSpec):
    """Gaussian patches on a background."""

    def __init__(
        self,
        *,
        unit: str = "",
        background: float = 0.0,
        patches: Sequence[Record] = ...,
        trend_per_m: float = 0.0,
        drift_world_mps: Vector = ...,
        rate_hz: float = ...,
        drift_world_kn: Vector = ...,
    ) -> None: ...

class PiersonMoskowitzSea(ComponentSpec):
    """A fully developed sea by height, wind or sea state."""

    def __init__(
        self,
        *,
        significant_height_m: float | None = ...,
        wind_speed_mps: float | None = ...,
        sea_state: int | None = ...,
        peak_period_s: float | None = ...,
        towards_rad: float = 0.0,
        spreading: float | None = ...,
        water_depth_m: float | None = ...,
        components: int = 64,
        rate_hz: float = ...,
        significant_height_ft: float | None = ...,
        wind_speed_kn: float | None = ...,
        towards_deg: float = ...,
        water_depth_ft: float | None = ...,
    ) -> None: ...

class Plane(ComponentSpec):
    """An infinite plane."""

    def __init__(
        self,
        *,
        point_world_m: Vector = ...,
        facing_world: Vector = ...,
        point_world_ft: Vector = ...,
    ) -> None: ...

class Platform(ComponentSpec):
    """A plate, positioned by its upper side."""

    def __init__(
        self,
        *,
        position_world_m: Vector = ...,
        length_m: float = ...,
        width_m: float = ...,
        thickness_m: float = 0.1,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        position_world_ft: Vector = ...,
        length_ft: float = ...,
        width_ft: float = ...,
        thickness_ft: float = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...

class PouredTerrain(ComponentSpec):
    """QRSim's open ground, clutter and occlusion, with persons."""

    def __init__(
        self,
        *,
        clutter: float = 0.2,
        occlusion: float = 0.05,
        cells: int = 50,
        persons: Sequence[int] = ...,
        person_size_m: float = 0.5,
        rate_hz: float = ...,
        person_size_ft: float = ...,
    ) -> None: ...

class PreciseConstellation(ComponentSpec):
    """The satellites of a file of precise orbits."""

    def __init__(
        self,
        *,
        file: FileName = ...,
        numbers: Sequence[int] | None = ...,
        errors: Component = ...,
        rate_hz: float = ...,
    ) -> None: ...

class Proximity(ComponentSpec):
    """Distance of the nearest vehicle."""

    def __init__(self, *, within_m: float | None = ..., within_ft: float | None = ...) -> None: ...

class PuffPlume(ComponentSpec):
    """Puffs that move with the wind."""

    def __init__(
        self,
        *,
        sources: Record = ...,
        amount_range: Sequence[float] = ...,
        mean_interval_s: float = 5.0,
        spread_coefficient: float = 0.33,
        spread_exponent: float = 0.86,
        remembered: int = 64,
        rate_hz: float = ...,
    ) -> None: ...

class Raster(ComponentSpec):
    """A gridded map from a file."""

    def __init__(
        self,
        *,
        file: FileName = ...,
        unit: str = "",
        offset_world_m: Vector = ...,
        trend_per_m: float = 0.0,
        drift_world_mps: Vector = ...,
        rate_hz: float = ...,
        offset_world_ft: Vector = ...,
        drift_world_kn: Vector = ...,
    ) -> None: ...

class RecordedWind(ComponentSpec):
    """A time series from a CSV file."""

    def __init__(self, *, file: FileName = ..., scale: float = 1.0) -> None: ...

class RegularWaves(ComponentSpec):
    """Waves of one height, period and direction."""

    def __init__(
        self,
        *,
        height_m: float = ...,
        period_s: float = ...,
        towards_rad: float = 0.0,
        water_depth_m: float | None = ...,
        phase_rad: float | None = ...,
        rate_hz: float = ...,
        height_ft: float = ...,
        towards_deg: float = ...,
        water_depth_ft: float | None = ...,
        phase_deg: float | None = ...,
    ) -> None: ...

class SecondOrderError(ComponentSpec):
    """A Gauss-Markov process driven by another, QRSim's GM2."""

    def __init__(
        self,
        *,
        deviation_m: float = 0.5888,
        time_constant_s: float = 40.099916874343464,
        driving_time_constant_s: float = 4.0,
        deviation_ft: float = ...,
    ) -> None: ...

class SeededField(ComponentSpec):
    """A smooth random field from the seed."""

    def __init__(
        self,
        *,
        unit: str = "",
        mean: float = 0.0,
        deviation: float = 1.0,
        length_scale_m: float = 30.0,
        waves: int = 64,
        trend_per_m: float = 0.0,
        drift_world_mps: Vector = ...,
        rate_hz: float = ...,
        length_scale_ft: float = ...,
        drift_world_kn: Vector = ...,
    ) -> None: ...

class ShearWind(ComponentSpec):
    """Logarithmic shear above the ground."""

    def __init__(
        self,
        *,
        speed_at_6m_mps: float = ...,
        from_rad: float = ...,
        speed_at_6m_kn: float = ...,
        from_deg: float = ...,
    ) -> None: ...

class SinusoidalWind(ComponentSpec):
    """Sinusoidal wind."""

    def __init__(
        self,
        *,
        period_s: float = ...,
        phase_rad: float = 0.0,
        wind_world_mps: Vector | None = ...,
        speed_mps: float | None = ...,
        from_rad: float | None = ...,
        phase_deg: float = ...,
        wind_world_kn: Vector | None = ...,
        speed_kn: float | None = ...,
        from_deg: float | None = ...,
    ) -> None: ...

class Slab(ComponentSpec):
    """A thick inclined wall."""

    def __init__(
        self,
        *,
        center_world_m: Vector = ...,
        sides_m: Vector = ...,
        lean_rad: float = ...,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        center_world_ft: Vector = ...,
        sides_ft: Vector = ...,
        lean_deg: float = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...

class Sphere(ComponentSpec):
    """A ball."""

    def __init__(
        self,
        *,
        center_world_m: Vector = ...,
        radius_m: float = ...,
        center_world_ft: Vector = ...,
        radius_ft: float = ...,
    ) -> None: ...

class StandardAtmosphere(ComponentSpec):
    """Standard atmosphere of 1976 up to 20 km."""

    def __init__(self, *, temperature_offset_k: float = 0.0) -> None: ...

class StepWind(ComponentSpec):
    """Sudden onset of a constant wind."""

    def __init__(
        self,
        *,
        start_s: float = ...,
        wind_world_mps: Vector | None = ...,
        speed_mps: float | None = ...,
        from_rad: float | None = ...,
        wind_world_kn: Vector | None = ...,
        speed_kn: float | None = ...,
        from_deg: float | None = ...,
    ) -> None: ...

class StillWater(ComponentSpec):
    """Water at rest."""

    def __init__(self) -> None: ...

class UniformCurrent(ComponentSpec):
    """The same current everywhere."""

    def __init__(
        self,
        *,
        speed_mps: float = ...,
        towards_rad: float = ...,
        speed_kn: float = ...,
        towards_deg: float = ...,
    ) -> None: ...

class VehicleObstacles(ComponentSpec):
    """The nearest vehicles, for range sensors."""

    def __init__(self, *, nearest: int = 4) -> None: ...

class WavySheet(ComponentSpec):
    """A sheet with sinusoidal waves."""

    def __init__(
        self,
        *,
        center_world_m: Vector = ...,
        amplitude_m: float = ...,
        wavelength_m: float = ...,
        length_m: float = ...,
        width_m: float = ...,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        center_world_ft: Vector = ...,
        amplitude_ft: float = ...,
        wavelength_ft: float = ...,
        length_ft: float = ...,
        width_ft: float = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...

class WindRegion(ComponentSpec):
    """A box with a wind."""

    def __init__(
        self,
        *,
        from_world_m: Vector = ...,
        to_world_m: Vector = ...,
        wind_world_mps: Vector = ...,
        yaw_rad: float = 0.0,
        pitch_rad: float = 0.0,
        roll_rad: float = 0.0,
        from_world_ft: Vector = ...,
        to_world_ft: Vector = ...,
        wind_world_kn: Vector = ...,
        yaw_deg: float = ...,
        pitch_deg: float = ...,
        roll_deg: float = ...,
    ) -> None: ...
