"""Parameters of the Kalman filter: errors of its sensors, and assumptions about the world.

The defaults are those of the sensors ``imu``, ``gnss``, ``barometer`` and ``magnetometer`` under
satellites with second-order errors, by the same names; exceptions are described in each class.
"""

from math import radians
from typing import Annotated

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.noise import GaussMarkov
from kittiwake.core.standard_altitude import standard_altitude
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.pytree import Module, field


class TriadErrors(Module):
    """Errors of three instruments, without units: noise density, biases, scale and misalignment."""

    noise_per_rthz: Real
    turn_on: Real
    drift: GaussMarkov
    walk_per_rts: Real
    scale_error: Real
    misalignment_rad: Real


class AccelerometerErrors(Module):
    """Errors of the accelerometer of ``imu``."""

    noise_mps2_per_rthz: Annotated[Real, NOT_NEGATIVE] = 0.0039227
    turn_on_mps2: Annotated[Real, NOT_NEGATIVE] = 0.05
    drift_mps2: Annotated[Real, NOT_NEGATIVE] = 1e-3
    drift_time_s: Annotated[Real, POSITIVE] = 30.0
    walk_mps2_per_rts: Annotated[Real, NOT_NEGATIVE] = 2e-5
    scale_error: Annotated[Real, NOT_NEGATIVE] = 0.003
    misalignment_rad: Annotated[Real, NOT_NEGATIVE] = 0.005

    @property
    def triad(self) -> TriadErrors:
        """Error model without units in its names."""
        return TriadErrors(
            self.noise_mps2_per_rthz,
            self.turn_on_mps2,
            GaussMarkov(self.drift_mps2, self.drift_time_s),
            self.walk_mps2_per_rts,
            self.scale_error,
            self.misalignment_rad,
        )


class GyroscopeErrors(Module):
    """Errors of the gyroscope of ``imu``."""

    noise_radps_per_rthz: Annotated[Real, NOT_NEGATIVE] = 8.7266e-5
    turn_on_radps: Annotated[Real, NOT_NEGATIVE] = 0.002
    drift_radps: Annotated[Real, NOT_NEGATIVE] = 5e-5
    drift_time_s: Annotated[Real, POSITIVE] = 30.0
    walk_radps_per_rts: Annotated[Real, NOT_NEGATIVE] = 1e-6
    scale_error: Annotated[Real, NOT_NEGATIVE] = 0.003
    misalignment_rad: Annotated[Real, NOT_NEGATIVE] = 0.005

    @property
    def triad(self) -> TriadErrors:
        """Error model without units in its names."""
        return TriadErrors(
            self.noise_radps_per_rthz,
            self.turn_on_radps,
            GaussMarkov(self.drift_radps, self.drift_time_s),
            self.walk_radps_per_rts,
            self.scale_error,
            self.misalignment_rad,
        )


class SatelliteErrors(Module):
    """Errors of distances to satellites, before multiplication by the dilution of precision.

    The slow error is ``second-order`` of the world's satellites; ``noise_m`` exceeds the receiver's
    2 mm to account for effects that the filter neglects.
    """

    noise_m: Annotated[Real, POSITIVE] = 0.005
    deviation_m: Annotated[Real, NOT_NEGATIVE] = 0.5888
    time_constant_s: Annotated[Real, POSITIVE] = 40.1
    driving_time_constant_s: Annotated[Real, POSITIVE] = 4.0


class AltitudeErrors(Module):
    """Errors of a barometer's altitude: 1.2 Pa of noise and 30 Pa of drift over 12 Pa/m."""

    noise_m: Annotated[Real, POSITIVE] = 0.1
    drift_m: Annotated[Real, NOT_NEGATIVE] = 2.5
    drift_time_s: Annotated[Real, POSITIVE] = 3600.0


class FieldErrors(Module):
    """Errors of a magnetometer: its noise and uniform quantization noise of half a count."""

    noise_t: Annotated[Real, POSITIVE] = 2.02e-7


class RangeErrors(Module):
    """Errors of a downward range finder; chosen."""

    noise_m: Annotated[Real, POSITIVE] = 0.02


class StartErrors(Module):
    """Standard deviations of the start along each axis; chosen.

    A tilt is about a horizontal axis, the yaw about the vertical.
    """

    position_m: Annotated[Real, NOT_NEGATIVE] = 0.5
    velocity_mps: Annotated[Real, NOT_NEGATIVE] = 0.1
    tilt_rad: Annotated[Real, NOT_NEGATIVE] = radians(1.0)
    yaw_rad: Annotated[Real, NOT_NEGATIVE] = radians(5.0)


class FilterAssumptions(Module):
    """Assumptions of the filter about its world and its receiver.

    Attributes:
        gravity_mps2: gravity, downwards.
        ground_z_m: height of the ground below a range finder.
        magnetic_field_world_t: magnetic field in world axes.
        altitude_offset_m: barometric altitude less the height in the world.
        gnss_period_s: period of the fixes.
        gnss_delay_periods: age of a fix on arrival, in periods.
    """

    gravity_mps2: Annotated[Real, POSITIVE]
    ground_z_m: Real
    magnetic_field_world_t: Vec3
    altitude_offset_m: Real
    gnss_period_s: Annotated[Real, POSITIVE]
    gnss_delay_periods: Annotated[int, Bounds(0.0, 100.0)] = field(static=True)

    @classmethod
    def default(cls) -> "FilterAssumptions":
        """Return the default assumptions, with a magnetic field as in Central Europe."""
        return cls(9.80665, 0.0, Vec3(0.0, 2e-5, -4.4e-5), 0.0, 0.2, 1)

    @classmethod
    def of(cls, context: BuildContext, gnss: str | None) -> "FilterAssumptions":
        """Return the true values at the start, with the barometer set to the height there."""
        world, start, default = context.world, context.start.position_world_m, cls.default()
        pressure_pa = world.atmosphere.air(start.z + world.origin.altitude_m).pressure_pa
        receiver = None if gnss is None else context.sensors[gnss]
        return cls(
            gravity_mps2=world.gravity_mps2,
            ground_z_m=world.ground_z_m,
            magnetic_field_world_t=world.magnetic_field_world_t or default.magnetic_field_world_t,
            altitude_offset_m=float(standard_altitude(pressure_pa) - start.z),
            gnss_period_s=context.periods_s.get(gnss or "", default.gnss_period_s),
            gnss_delay_periods=getattr(receiver, "delay_periods", 0),
        )
