"""Magnetometer: the magnetic field in body axes, as the vehicle distorts it.

    y = clip(round((S q^-1 B + h + n) / Q) Q, -range, range)

B: the field at the world's origin (the World Magnetic Model's, or the scenario's); q: body to
world; S: soft iron, diagonal; h: hard iron; n: normal noise in each sample; Q: quantum. The
defaults are of Honeywell's HMC5883L (data sheet): 2 mG of noise, 0.92 mG per count and 1.3 G at its
default gain; hard and soft iron are the vehicle's own and none by default.

Neglected: the field's change over the world (some ten nT in a kilometer), motor currents, the
sensor's own tilt, off-diagonal soft iron, temperature.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.core.measurements import MagneticMeasurement
from kittiwake.core.noise import normal3
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.sensors.triad import by_axis, product_by_axis
from kittiwake.world.world import WorldModel


class Magnetometer(AbstractSensor[tuple[()], MagneticMeasurement]):
    """Magnetic field in body axes, with hard and soft iron, noise and quantization.

    Attributes:
        hard_iron_body_t: field that the vehicle's magnets add.
        soft_iron: factor by which its iron multiplies the field along each axis.
        noise_t: standard deviation of a sample.
        quantum_t: step of the converter; null for none.
        range_t: largest reading of an axis.
    """

    measures: ClassVar[type] = MagneticMeasurement
    default_rate_hz: ClassVar[float | None] = 50.0

    hard_iron_body_t: Vec3 = Vec3(0.0, 0.0, 0.0)
    soft_iron: Annotated[Vec3, POSITIVE] = Vec3(1.0, 1.0, 1.0)
    noise_t: Annotated[Real, NOT_NEGATIVE] = 2e-7
    quantum_t: Annotated[Real | None, POSITIVE] = 9.2e-8
    range_t: Annotated[Real, POSITIVE] = 1.3e-4

    def __post_init__(self) -> None:
        """Raise ValueError if the hard iron alone exceeds the range."""
        iron, limit = self.hard_iron_body_t, self.range_t
        for component in (iron.x, iron.y, iron.z):
            if isinstance(component, float) and isinstance(limit, float) and abs(component) > limit:
                message = (
                    f"hard_iron_body_t: got {component:g}; must be from {-limit:g} to "
                    f"{limit:g}, the range_t of the sensor. In microtesla, write hard_iron_body_ut"
                )
                raise ValueError(message)

    @override
    def check(self, world: WorldModel) -> None:
        if world.magnetic_field_world_t is None:
            raise ScenarioError(world.no_field_reason)
        if float(world.magnetic_field_world_t.norm()) == 0.0:
            message = (
                "world.magnetic_field_world_t is zero: there is nothing to measure. Write "
                "another field, or omit it for the Earth's field at world.origin"
            )
            raise ScenarioError(message)

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], MagneticMeasurement]:
        del dt_s
        true = self.ideal(inputs).magnetic_field_body_t
        distorted = product_by_axis(self.soft_iron, true) + self.hard_iron_body_t
        reading = by_axis(self._quantize, distorted + normal3(key) * self.noise_t)
        return state, MagneticMeasurement(reading)

    @override
    def ideal(self, inputs: SensorInputs) -> MagneticMeasurement:
        q_body_from_world = inputs.truth.q_world_from_body.inverse()
        field_t = inputs.world.magnetic_field_world_t
        assert field_t is not None, "check() comes before the flight"
        return MagneticMeasurement(q_body_from_world.rotate(field_t))

    def _quantize(self, field_t: Real) -> Real:
        if self.quantum_t is not None:
            field_t = jnp.round(field_t / self.quantum_t) * self.quantum_t
        return jnp.clip(field_t, -self.range_t, self.range_t)

    @override
    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        del period_s
        return {"magnetic_field_body_t": self.noise_t}

    @classmethod
    @override
    def examples(cls) -> dict[str, "Magnetometer"]:
        return {
            "far from iron": cls(),
            "without a converter": cls(Vec3(1e-6, -2e-6, 0.0), Vec3(1.1, 0.9, 1.0), quantum_t=None),
        }
