"""What sensors say: records that estimators and several sensors share."""

from dataclasses import fields
from types import UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

import equinox as eqx
from jaxtyping import AbstractArray, Array, Bool, Float
from typing_extensions import override

from kittiwake.core.standard_altitude import standard_altitude
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3


class AbstractMeasurement(eqx.Module):
    """What a sensor says; ``derived`` names the fields that follow from the others."""

    derived: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def measured(cls) -> tuple[str, ...]:
        """The fields that do not follow from others."""
        return tuple(field.name for field in fields(cls) if field.name not in cls.derived)

    @classmethod
    def quantities(cls) -> dict[str, str]:
        """The measured fields of real numbers, each with the unit in which its name ends.

        Those of one unit are of one kind: what is added to one of them can be added to the others.
        """
        hints = get_type_hints(cls)
        return {
            name: name.rpartition("_")[2] for name in cls.measured() if _holds_reals(hints[name])
        }

    def consistent(self) -> "AbstractMeasurement":
        """With what is derived computed anew, after something else was changed."""
        return self


class InertialMeasurement(AbstractMeasurement):
    """Of an accelerometer and a gyroscope, at the place where they are mounted."""

    specific_force_body_mps2: Vec3
    angular_velocity_body_radps: Vec3


class DeckMeasurement(AbstractMeasurement):
    """Where the deck of the vehicle's partner is, the middle of its upper side, and its motion."""

    position_world_m: Vec3
    velocity_world_mps: Vec3
    yaw_rad: Real


class MarkerMeasurement(AbstractMeasurement):
    """A marker on a deck as it is seen: its middle from the center of mass, in body axes.

    The yaw is that of the marker in the body. ``valid`` is False where no marker is seen.
    """

    position_body_m: Vec3
    yaw_body_rad: Real
    valid: Flag


class MagneticMeasurement(AbstractMeasurement):
    """Of a magnetometer."""

    magnetic_field_body_t: Vec3


class PressureMeasurement(AbstractMeasurement):
    """Of a barometer.

    ``altitude_m`` is that above mean sea level at which the standard atmosphere has the pressure.
    """

    derived: ClassVar[tuple[str, ...]] = ("altitude_m",)

    pressure_pa: Real
    altitude_m: Real

    @classmethod
    def of(cls, pressure_pa: Real) -> "PressureMeasurement":
        """A pressure with its altitude."""
        return cls(pressure_pa, standard_altitude(pressure_pa))

    @override
    def consistent(self) -> "PressureMeasurement":
        return self.of(self.pressure_pa)


class HeightMeasurement(AbstractMeasurement):
    """Of an altimeter; the rate is positive upwards."""

    height_world_m: Real
    height_rate_world_mps: Real


class OrientationMeasurement(AbstractMeasurement):
    """ZYX angles of the body in the world, as an attitude estimator on board reports them."""

    roll_rad: Real
    pitch_rad: Real
    yaw_rad: Real


class GnssMeasurement(AbstractMeasurement):
    """Of a satellite receiver.

    Attributes:
        position_world_m: as solved; without a fix that of the last one.
        velocity_world_mps: from one fix to the next; without two in a row the last one.
        satellites: how many are tracked.
        hdop: dilution of precision in the horizontal: by how much a deviation of the distances is
            multiplied on its way into the position; 0 without a fix, as the others.
        vdop: in the vertical.
        pdop: in space.
        tdop: of the receiver's clock, in meters.
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


class RangeMeasurement(AbstractMeasurement):
    """The distance of something; if nothing answers, the longest possible, and not valid."""

    range_m: Real
    valid: Flag


class RangesMeasurement(AbstractMeasurement):
    """Distances in several directions, each like a ``RangeMeasurement``."""

    ranges_m: Float[Array, " directions"]
    valid: Bool[Array, " directions"]


class AnchorMeasurement(AbstractMeasurement):
    """The distance of one of several anchors, by its place among them, counted from 0."""

    range_m: Real
    anchor: Count
    valid: Flag


def _holds_reals(hint: Any) -> bool:
    """Whether a field that is annotated so holds real numbers, and nothing else."""
    if get_origin(hint) in (Union, UnionType):
        return any(_holds_reals(member) for member in get_args(hint))
    if get_origin(hint) is tuple:
        return all(item is ... or _holds_reals(item) for item in get_args(hint))
    if not isinstance(hint, type):
        return False
    if issubclass(hint, AbstractArray):
        return "float64" in hint.dtypes
    if issubclass(hint, eqx.Module):
        hints = get_type_hints(hint)
        return all(_holds_reals(hints[field.name]) for field in fields(hint))
    return hint is float
