"""Measurement types that several sensors and estimators share."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, ClassVar, NoReturn, TypeAlias, Union, get_args, get_origin, get_type_hints

import jax
from jaxtyping import AbstractArray, Array, Bool, Float
from typing_extensions import override

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.errors import UnknownSensorError, did_you_mean
from kittiwake.core.parameters import Annotation
from kittiwake.core.standard_altitude import standard_altitude
from kittiwake.core.vector_fields import AbstractVectorRecord, VectorField
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.pytree import Module


class AbstractMeasurement(AbstractVectorRecord):
    """A measurement.

    ``derived`` are the names of fields that are computed from the others, ``unrecorded`` the values
    of fields that a recording may lack. Vectors may be given as sequences of numbers, as a sensor
    in plain Python has them.
    """

    derived: ClassVar[tuple[str, ...]] = ()
    unrecorded: ClassVar[Mapping[str, float]] = {}

    @classmethod
    def measured(cls) -> tuple[str, ...]:
        """Return the names of the fields that are not derived."""
        return tuple(field.name for field in fields(cls) if field.name not in cls.derived)

    @classmethod
    def quantities(cls) -> dict[str, str]:
        """Return the measured fields of real numbers, each with the unit in which its name ends.

        Fields of the same unit are alike: an error that applies to one applies to the others.
        """
        hints = get_type_hints(cls)
        return {
            name: name.rpartition("_")[2] for name in cls.measured() if _holds_reals(hints[name])
        }

    def consistent(self) -> "AbstractMeasurement":
        """Return the measurement with the derived fields recomputed."""
        return self


class BySensor(dict[str, Any]):
    """Dictionary by sensor name, whose errors suggest the nearest name."""

    def __missing__(self, name: str) -> NoReturn:
        """Raise an error that suggests the nearest name."""
        message = f"there is no sensor {name!r}. {did_you_mean(str(name), list(self))}"
        raise UnknownSensorError(message)


def _flatten(by_sensor: BySensor) -> tuple[list[tuple[Any, ArrayTree]], tuple[str, ...]]:
    names = tuple(sorted(by_sensor))
    return [(jax.tree_util.DictKey(name), by_sensor[name]) for name in names], names


def _unflatten(names: tuple[str, ...], values: Iterable[ArrayTree]) -> BySensor:
    return BySensor(zip(names, values, strict=True))


# JAX flattens subclasses of dict only if they are registered
jax.tree_util.register_pytree_with_keys(BySensor, _flatten, _unflatten)


class LatestMeasurements(BySensor):
    """Latest measurement of each sensor, by name.

    Attributes:
        fresh: by sensor, True if the measurement is from this step.
    """

    def __init__(self, measurements: dict[str, Any], fresh: dict[str, bool]) -> None:
        super().__init__(measurements)
        self.fresh = BySensor(fresh)


# latest measurement of each sensor, by name: of the type that the sensor measures
Measurements: TypeAlias = dict[str, Any]


class InertialMeasurement(AbstractMeasurement):
    """Measurement of an accelerometer and a gyroscope, at their mounting position."""

    specific_force_body_mps2: VectorField
    angular_velocity_body_radps: VectorField


class DeckMeasurement(AbstractMeasurement):
    """Position of the center of the partner's deck, on its upper side, its velocity and yaw."""

    position_world_m: VectorField
    velocity_world_mps: VectorField
    yaw_rad: Real


class MarkerMeasurement(AbstractMeasurement):
    """Pose of a detected marker on a deck, relative to the vehicle.

    The position is that of the marker's center relative to the vehicle's center of mass, in body
    axes; the yaw is relative to the body. ``valid`` is False if no marker is detected.
    """

    position_body_m: VectorField
    yaw_body_rad: Real
    valid: Flag


class MagneticMeasurement(AbstractMeasurement):
    """Measurement of a magnetometer."""

    magnetic_field_body_t: VectorField


class PressureMeasurement(AbstractMeasurement):
    """Measurement of a barometer.

    ``altitude_m`` is the altitude above mean sea level of this pressure in the standard atmosphere.
    """

    derived: ClassVar[tuple[str, ...]] = ("altitude_m",)

    pressure_pa: Real
    altitude_m: Real

    @classmethod
    def of(cls, pressure_pa: Real) -> "PressureMeasurement":
        """Return a pressure with its altitude."""
        return cls(pressure_pa, standard_altitude(pressure_pa))

    @override
    def consistent(self) -> "PressureMeasurement":
        return self.of(self.pressure_pa)


class HeightMeasurement(AbstractMeasurement):
    """Measurement of an altimeter; the rate is positive upwards."""

    height_world_m: Real
    height_rate_world_mps: Real


class OrientationMeasurement(AbstractMeasurement):
    """ZYX angles of the body in the world, as an attitude estimator on board reports them."""

    roll_rad: Real
    pitch_rad: Real
    yaw_rad: Real


class GnssMeasurement(AbstractMeasurement):
    """Measurement of a satellite receiver.

    Attributes:
        position_world_m: the position solution; without a fix, the last one.
        velocity_world_mps: the difference of two consecutive fixes over time; else the last one.
        satellites: the number of tracked satellites.
        hdop: horizontal dilution of precision: deviation of the position over that of the ranges;
            0 without a fix, as are the others.
        vdop: vertical dilution of precision.
        pdop: dilution of precision in three dimensions.
        tdop: dilution of precision of the receiver's clock, in meters.
        valid: true with a fix.
    """

    unrecorded: ClassVar[Mapping[str, float]] = {
        "satellites": 0.0,
        **dict.fromkeys(("hdop", "vdop", "pdop", "tdop"), 1.0),
        "valid": 1.0,
    }

    position_world_m: VectorField
    velocity_world_mps: VectorField
    satellites: Integer
    hdop: Real
    vdop: Real
    pdop: Real
    tdop: Real
    valid: Flag


class RangeMeasurement(AbstractMeasurement):
    """Measured distance; without an echo, the maximum range, and not valid."""

    unrecorded: ClassVar[Mapping[str, float]] = {"valid": 1.0}

    range_m: Real
    valid: Flag


class RangesMeasurement(AbstractMeasurement):
    """Distances in several directions, each like a ``RangeMeasurement``."""

    unrecorded: ClassVar[Mapping[str, float]] = {"valid": 1.0}

    ranges_m: Float[Array, " directions"]
    valid: Bool[Array, " directions"]


class AnchorMeasurement(AbstractMeasurement):
    """Distance of one of several anchors; ``anchor`` is its index, from 0."""

    range_m: Real
    anchor: Integer
    valid: Flag


def _holds_reals(hint: Annotation) -> bool:
    """Return True if a field with this annotation contains real numbers and nothing else."""
    if get_origin(hint) in (Union, UnionType):
        return any(_holds_reals(member) for member in get_args(hint))
    if get_origin(hint) is tuple:
        return all(item is ... or _holds_reals(item) for item in get_args(hint))
    if not isinstance(hint, type):
        return False
    if issubclass(hint, AbstractArray):
        return "float64" in hint.dtypes
    if issubclass(hint, Module):
        hints = get_type_hints(hint)
        return all(_holds_reals(hints[field.name]) for field in fields(hint))
    return hint is float
