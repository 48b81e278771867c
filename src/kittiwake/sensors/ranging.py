"""Base classes of ranging sensors: from detected ranges to readings, with and without noise."""

from abc import abstractmethod
from typing import Any, Generic

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.component import Output, State
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.beam import Beam
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import AbstractVar
from kittiwake.sensors.ranging_pose import DetectionLimits
from kittiwake.sensors.ray_scene import RayScene, ray_scene

Ranges = Float[Array, "..."]


class AbstractRanging(AbstractSensor[State, Output], Generic[State, Output]):
    """Sensor that measures the distances of the first surfaces along its rays.

    A reading is the detected range plus noise, clipped to the limits; without a detection it is the
    longest range, not valid.

    Attributes:
        min_range_m: distance below which a reading is not valid.
        max_range_m: range; the reading without a detection.
    """

    min_range_m: AbstractVar[Real]
    max_range_m: AbstractVar[Real]

    def __post_init__(self) -> None:
        """Raise ValueError if the range is empty."""
        nearest_m, farthest_m = self.min_range_m, self.max_range_m
        if not (isinstance(nearest_m, int | float) and isinstance(farthest_m, int | float)):
            return
        if not nearest_m < farthest_m:
            message = (
                f"min_range_m: got {nearest_m:g}; must be below max_range_m, {farthest_m:g}. "
                "Write a smaller value or omit it"
            )
            raise ValueError(message)

    @abstractmethod
    def detected_ranges_m(self, scene: RayScene, inputs: SensorInputs) -> Ranges:
        """Return the detected range for each value of a reading; infinite without a detection."""

    @abstractmethod
    def noise_m(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Ranges:
        """Return the noise to add to detected ranges of this shape."""

    @abstractmethod
    def axes_body(self) -> Float[Array, "ranges 3"] | None:
        """Return the direction of each value of a reading; None if the values are not ranges."""

    @override
    def beam_directions_body(self) -> tuple[Vec3, ...] | None:
        # in double precision even if a fleet in single precision is being compiled
        with jax.enable_x64(True), jax.ensure_compile_time_eval():  # noqa: FBT003  JAX's own
            axes = self.axes_body()
            return None if axes is None else tuple(Vec3.of(row.tolist()) for row in np.array(axes))

    def detection_limits(self) -> DetectionLimits:
        """Return the limits of detection."""
        return DetectionLimits(self.min_range_m, self.max_range_m)

    def measurement(self, ranges_m: Ranges, valid: Bool[Array, "..."]) -> Output:
        """Return a reading from ranges and their validity."""
        return self.measures(ranges_m, valid)

    def reported(self, state: State, now: Output) -> tuple[State, Output]:
        """Return the next state and the reported reading, by default the whole present one."""
        return state, now

    @override
    def step(
        self, state: State, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[State, Output]:
        next_state, measurement, _ = self.step_with_ideal(state, inputs, dt_s, key)
        return next_state, measurement

    @override
    def ideal(self, inputs: SensorInputs) -> Output:
        return self._ideal(self.detected_ranges_m(ray_scene(inputs), inputs))

    @override
    def step_with_ideal(
        self, state: State, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[State, Output, Output]:
        del dt_s
        detected = self.detected_ranges_m(ray_scene(inputs), inputs)
        now = self._reading(detected, self.noise_m(key, detected.shape))
        return *self.reported(state, now), self._ideal(detected)

    def _ideal(self, detected_ranges_m: Ranges) -> Output:
        return self._reading(detected_ranges_m, jnp.zeros_like(detected_ranges_m))

    def _reading(self, detected_ranges_m: Ranges, noise_m: Ranges) -> Output:
        ranges_m = self.detection_limits().reported_m(detected_ranges_m, noise_m)
        return self.measurement(ranges_m, jnp.isfinite(detected_ranges_m))


class AbstractUltrasonic(AbstractRanging[State, Output], Generic[State, Output]):
    """Ultrasonic sensor: limits of incidence and range rate for echoes, and bounded noise.

    Attributes:
        max_incidence_rad: largest angle of incidence that echoes.
        max_range_rate_mps: largest relative speed along the line that echoes; no limit by default.
        noise_bound_m: bound of the uniform noise.
    """

    # None without a limit
    max_incidence_rad: AbstractVar[Any]
    max_range_rate_mps: AbstractVar[Real | None]
    noise_bound_m: AbstractVar[Real]

    @override
    def detection_limits(self) -> DetectionLimits:
        return DetectionLimits(
            self.min_range_m, self.max_range_m, self.max_incidence_rad, self.max_range_rate_mps
        )

    @override
    def noise_m(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Ranges:
        spread = jax.random.uniform(key, shape, jnp.result_type(float), -1.0, 1.0)
        return spread * self.noise_bound_m

    @property
    def opening_rad(self) -> Real:
        """Opening angle of each beam; 0 for a line."""
        return 0.0

    @override
    def beam_geometry(self) -> dict[str, Beam]:
        opening = self.opening_rad
        return {
            name: beam._replace(sound=True, opening_rad=opening)
            for name, beam in super().beam_geometry().items()
        }


class AbstractOptical(AbstractRanging[tuple[()], Output], Generic[Output]):
    """Optical sensor: detects surfaces at any angle, with white noise.

    Attributes:
        deviation_m: standard deviation of the white noise.
    """

    deviation_m: AbstractVar[Real]

    @override
    def noise_m(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Ranges:
        return jax.random.normal(key, shape, jnp.result_type(float)) * self.deviation_m
