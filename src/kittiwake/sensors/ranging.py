"""What sensors that tell ranges share: from answers to readings, with and without noise."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.sensors.ray_scene import RayScene, ray_scene
from kittiwake.sensors.view import Reach

Ranges = Float[Array, "..."]


class AbstractRanging(AbstractSensor):
    """Tells how far the first things along its rays are.

    A reading is the answer and noise, cut to the range; without an answer the longest range, not
    valid.
    """

    min_range_m: eqx.AbstractVar[Real]
    max_range_m: eqx.AbstractVar[Real]

    def __check_init__(self) -> None:
        """Refuses ranges of which there is none."""
        nearest_m, farthest_m = self.min_range_m, self.max_range_m
        if not (isinstance(nearest_m, int | float) and isinstance(farthest_m, int | float)):
            return
        if not nearest_m < farthest_m:
            message = (
                f"min_range_m: {nearest_m:g} is not below max_range_m, {farthest_m:g}; write a "
                "smaller one, or leave it out"
            )
            raise ValueError(message)

    @abstractmethod
    def answers_m(self, scene: RayScene, inputs: SensorInputs) -> Ranges:
        """How far what answers is, for each number of a reading; infinite where nothing does."""

    @abstractmethod
    def noise_m(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Ranges:
        """What is added to so many answers."""

    @abstractmethod
    def axes_body(self) -> Float[Array, "ranges 3"] | None:
        """Along which direction each number of a reading is; None if they are no ranges."""

    @override
    def looks_body(self) -> tuple[Vec3, ...] | None:
        # of full precision, also where a fleet of single precision is being compiled
        with jax.enable_x64(True), jax.ensure_compile_time_eval():  # noqa: FBT003  JAX's own
            axes = self.axes_body()
            return None if axes is None else tuple(Vec3.of(row.tolist()) for row in np.array(axes))

    def reach(self) -> Reach:
        """What answers."""
        return Reach(self.min_range_m, self.max_range_m)

    def measurement(self, ranges_m: Ranges, valid: Bool[Array, "..."]) -> Any:
        """A reading of all that it can tell."""
        return self.measures(ranges_m, valid)

    def reported(self, state: Any, now: Any) -> tuple[Any, Any]:
        """The next state, and what it says of a reading; all, if it remembers nothing."""
        return state, now

    @override
    def step(
        self, state: Any, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Any]:
        later, measurement, _ = self.step_beside_ideal(state, inputs, dt_s, key)
        return later, measurement

    @override
    def ideal(self, inputs: SensorInputs) -> Any:
        return self._ideal(self.answers_m(ray_scene(inputs), inputs))

    @override
    def step_beside_ideal(
        self, state: Any, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Any, Any]:
        del dt_s
        answers = self.answers_m(ray_scene(inputs), inputs)
        now = self._reading(answers, self.noise_m(key, answers.shape))
        return *self.reported(state, now), self._ideal(answers)

    def _ideal(self, answers_m: Ranges) -> Any:
        return self._reading(answers_m, jnp.zeros_like(answers_m))

    def _reading(self, answers_m: Ranges, noise_m: Ranges) -> Any:
        ranges_m = self.reach().reported_m(answers_m, noise_m)
        return self.measurement(ranges_m, jnp.isfinite(answers_m))


class AbstractUltrasonic(AbstractRanging):
    """Hears echoes: not of what is too oblique or too fast; its noise has a bound."""

    # some may be without a limit
    max_incidence_rad: eqx.AbstractVar[Any]
    max_range_rate_mps: eqx.AbstractVar[Real | None]
    noise_bound_m: eqx.AbstractVar[Real]

    @override
    def reach(self) -> Reach:
        return Reach(
            self.min_range_m, self.max_range_m, self.max_incidence_rad, self.max_range_rate_mps
        )

    @override
    def noise_m(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Ranges:
        spread = jax.random.uniform(key, shape, jnp.result_type(float), -1.0, 1.0)
        return spread * self.noise_bound_m


class AbstractOptical(AbstractRanging):
    """Sees surfaces at any angle; its noise is white."""

    deviation_m: eqx.AbstractVar[Real]

    @override
    def noise_m(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Ranges:
        return jax.random.normal(key, shape, jnp.result_type(float)) * self.deviation_m
