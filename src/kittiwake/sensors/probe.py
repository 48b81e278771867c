"""Probe of a field in the water: temperature, chlorophyll, oxygen.

In the water it measures the field at its position, with a first-order lag::

    y' = (x - y) / T,  exactly  y + (x - y) (1 - exp(-dt / T))

which does not depend on the step length while x is constant. It begins with the first value that it
measures, and holds the last one while it is out of the water.

With a ``footprint`` it looks down from above instead, like a spectrometer on a drone: at the mean
over the disc of radius h tan(a) below it, h being its height above the water and a half the opening
of its view, for any tilt of the drone. The mean is that of seven points, exact for polynomials of
the fifth degree (A. H. Stroud, "Approximate Calculation of Multiple Integrals", 1971, S2 5-1): for
a wave it is correct to 1 % if the disc is less than half a wavelength wide.

Neglected: waves, air between a drone and the water, and the depth from which light returns.
"""

import math
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import Module, field
from kittiwake.world.field import FIELD, FieldProcess
from kittiwake.world.world import WorldModel

HALF_ANGLE_RAD = Bounds(0.0, math.radians(80.0))
# points on the unit disc with their weights in the mean
CENTER_WEIGHT, RING_WEIGHT, RING_RADIUS = 0.25, 0.125, math.sqrt(2.0 / 3.0)
RING_POINTS = tuple(
    (RING_RADIUS * math.cos(k * math.pi / 3), RING_RADIUS * math.sin(k * math.pi / 3))
    for k in range(6)
)


class ProbeMeasurement(AbstractMeasurement):
    """Value in the field's own unit; outside its depths the last value, not valid."""

    value: Real
    valid: Flag


class ViewBelow(Module):
    """View of a probe that looks down from above, up to a height."""

    half_angle_rad: Annotated[Real, HALF_ANGLE_RAD] = math.radians(5.0)
    max_height_m: Annotated[Real, POSITIVE] = 120.0


class ProbeState(Module):
    """Last value, and a flag that is false before the first contact with the water."""

    value: Real
    initialized: Bool[Array, ""]


class Probe(AbstractSensor[ProbeState, ProbeMeasurement]):
    """Value of the named ``field``, or of the only field of the world.

    ``depth_range_m`` are the depths at which it measures, negative above the surface.

    Attributes:
        field: name of the field; the only one without it.
        position_body_m: position of the probe.
        depth_range_m: depths below the surface, including waves, at which it is valid.
        time_constant_s: T.
        footprint: view from above, in place of a probe in the water.
    """

    measures: ClassVar[type] = ProbeMeasurement
    default_rate_hz: ClassVar[float | None] = 1.0

    field: str | None = field(static=True, default=None)
    position_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    depth_range_m: tuple[Real, Real] = (-0.2, 20.0)
    footprint: ViewBelow | None = None
    time_constant_s: Annotated[Real, NOT_NEGATIVE] = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError if the deeper depth comes first."""
        high, deep = self.depth_range_m
        if isinstance(high, float) and isinstance(deep, float) and high > deep:
            message = f"depth_range_m: got [{high:g}, {deep:g}]; write the smaller depth first"
            raise ValueError(message)

    @override
    def check(self, world: WorldModel) -> None:
        names = _names(world)
        if not names:
            message = "the world has no field; write fields: {algae: from-seed} under world"
            raise ScenarioError(message)
        if self.field is None and len(names) > 1:
            message = f"field is missing; write one of {', '.join(names)}"
            raise ScenarioError(message)
        if self.field is not None and self.field not in names:
            message = f"field: there is no field '{self.field}'. {did_you_mean(self.field, names)}"
            raise ScenarioError(message)

    @override
    def init(self, key: PRNGKeyArray) -> ProbeState:
        del key
        return ProbeState(jnp.asarray(0.0), jnp.asarray(False))

    @override
    def step(
        self, state: ProbeState, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[ProbeState, ProbeMeasurement]:
        del key
        true = self.ideal(inputs)
        lagged = jnp.asarray(self.time_constant_s > 0.0)
        gain = -jnp.expm1(-dt_s / jnp.where(lagged, self.time_constant_s, 1.0))
        change = jnp.where(lagged & state.initialized, gain, 1.0) * (true.value - state.value)
        value = state.value + jnp.where(true.valid, change, 0.0)
        return ProbeState(value, state.initialized | true.valid), ProbeMeasurement(
            value, true.valid
        )

    @override
    def ideal(self, inputs: SensorInputs) -> ProbeMeasurement:
        truth, water = inputs.truth, inputs.surroundings.water
        position = truth.position_world_m + truth.q_world_from_body.rotate(self.position_body_m)
        surface_m = 0.0 if water is None else water.height_world_m
        height_m = position.z - surface_m
        if self.footprint is None:
            high, deep = self.depth_range_m
            valid = jnp.asarray((-height_m >= high) & (-height_m <= deep))
            below = Vec3(position.x, position.y, jnp.minimum(height_m, 0.0))
            return ProbeMeasurement(self._value(inputs, below), valid)
        valid = jnp.asarray((height_m > 0.0) & (height_m <= self.footprint.max_height_m))
        radius_m = jnp.maximum(height_m, 0.0) * jnp.tan(self.footprint.half_angle_rad)
        return ProbeMeasurement(self._mean(inputs, position, radius_m), valid)

    def _mean(self, inputs: SensorInputs, position: Vec3, radius_m: Real) -> Real:
        """Return the mean over a disc on the surface."""

        def at(x: float, y: float) -> Real:
            return self._value(
                inputs, Vec3(position.x + radius_m * x, position.y + radius_m * y, 0.0)
            )

        ring = sum((at(x, y) for x, y in RING_POINTS), start=0.0)
        return CENTER_WEIGHT * at(0.0, 0.0) + RING_WEIGHT * ring

    def _value(self, inputs: SensorInputs, position_world_m: Vec3) -> Real:
        name = FIELD + (self.field or _names(inputs.world)[0])
        process = inputs.world.processes[name].component
        assert isinstance(process, FieldProcess), "check() comes before the flight"
        return process.kind.value(inputs.processes[name], position_world_m, inputs.time_s)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Probe"]:
        return {
            "in the water": cls("algae", Vec3(0.1, 0.0, -30.0), (-9.0, 99.0), None, 2.0),
            "from above": cls("algae", footprint=ViewBelow(0.2)),
        }


def _names(world: WorldModel) -> list[str]:
    return [name.removeprefix(FIELD) for name in world.processes if name.startswith(FIELD)]
