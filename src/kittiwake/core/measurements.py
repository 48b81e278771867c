"""What sensors say: records that estimators and several sensors share."""

import equinox as eqx
from jaxtyping import Array, Bool, Float

from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3


class InertialMeasurement(eqx.Module):
    """Of an accelerometer and a gyroscope, at the place where they are mounted."""

    specific_force_body_mps2: Vec3
    angular_velocity_body_radps: Vec3


class MagneticMeasurement(eqx.Module):
    """Of a magnetometer."""

    magnetic_field_body_t: Vec3


class PressureMeasurement(eqx.Module):
    """Of a barometer.

    ``altitude_m`` is that above mean sea level at which the standard atmosphere has the pressure.
    """

    pressure_pa: Real
    altitude_m: Real


class HeightMeasurement(eqx.Module):
    """Of an altimeter; the rate is positive upwards."""

    height_world_m: Real
    height_rate_world_mps: Real


class OrientationMeasurement(eqx.Module):
    """ZYX angles of the body in the world, as an attitude estimator on board reports them."""

    roll_rad: Real
    pitch_rad: Real
    yaw_rad: Real


class GnssMeasurement(eqx.Module):
    """Of a satellite receiver.

    Attributes:
        position_world_m: as solved; without a fix that of the last one.
        velocity_world_mps: from one fix to the next; without two in a row the last one.
        satellites: how many are tracked.
        hdop: dilution of precision in the horizontal: by how much a deviation of the distances is
            multiplied on its way into the position; 0 without a fix, as the others.
        vdop: in the vertical.
        pdop: in space.
        tdop: of the receiver's clock, in metres.
        valid: whether there is a fix.
    """

    position_world_m: Vec3
    velocity_world_mps: Vec3
    satellites: Count
    hdop: Real
    vdop: Real
    pdop: Real
    tdop: Real
    valid: Flag


class RangeMeasurement(eqx.Module):
    """The distance of something; if nothing answers, the longest possible, and not valid."""

    range_m: Real
    valid: Flag


class RangesMeasurement(eqx.Module):
    """Distances in several directions, each like a ``RangeMeasurement``."""

    ranges_m: Float[Array, " directions"]
    valid: Bool[Array, " directions"]
