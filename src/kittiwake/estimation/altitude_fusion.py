"""Height from a downward range finder, a barometer and the specific force.

The readings of both sensors are weighted: with the height O_u above the surface from the range
finder, range times cosine of the tilt, and O_p from the barometer,

    Alt = W_u O_u + W_p O_p
    W_u = sqrt(M_u^2 - (O_u + R_u)^2) / M_u,  0 if that is imaginary           W_p = 1 - W_u

M_u is the longest range; the offset R_u reduces the weight of long ranges. Without an echo, above
its threshold, or with the barometer above the other threshold, the range finder has no weight.

Height z and vertical velocity v follow from that and from the vertical acceleration a, the specific
force less gravity, by a complementary filter without overshoot:

    z' = v + 2 f e        v' = a + f^2 e        e = Alt - z = W_u e_u + W_p e_p

where each sensor's e is that at its time of measurement, so that the age of a reading is no error.
Below the frequency f the sensors dominate, above it the acceleration, whose bias b causes a height
error b / f^2. The barometer measures heights from the start: its zero is the mean difference from
the estimated height over its first second.

Source: Micklisch et al. (2021), equations 35 to 37, after Gageik et al. (2012). Theirs is imaginary
from M_u - R_u on. They calculate weights below the thresholds; above 15 m only the barometer is
used here, as without an echo. They do not filter. Neglected: the position of the range finder.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import ArrayTree, as_arrays
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import PressureMeasurement, RangeMeasurement
from kittiwake.core.tree_where import tree_where
from kittiwake.core.units import STANDARD_GRAVITY_MPS2
from kittiwake.estimation.truth import Truth
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module, field

# tolerance of the range finder's direction from straight down: 0.1 deg
MAX_DOWNWARD_Z = -0.9999985
# time over which the barometer's zero is determined
ZEROING_S = 1.0


class Heights(Module):
    """Last readings: difference of each sensor from the height estimated then, and O_u and O_p.

    ``zero_m`` is the barometer's reading at a height of 0, the mean of ``zero_readings`` readings.
    """

    range_error_m: Real
    pressure_error_m: Real
    range_height_m: Real
    echoes: Flag
    pressure_height_m: Real
    zero_m: Real
    zero_readings: Real


class AltitudeFusionState(Module):
    """States of the base estimator and of the filter; the acceleration is that of the last step."""

    base: ArrayTree
    heights: Heights
    height_world_m: Real
    climb_mps: Real
    acceleration_mps2: Real
    age_s: Real
    initialized: Flag


class AltitudeFusion(AbstractEstimator[AltitudeFusionState]):
    """Height and vertical velocity from two sensors; all else from a base estimator.

    Attributes:
        base: base estimator.
        range: name of the range finder, which looks straight down.
        barometer: name of the barometer.
        surface_z_m: height in the world of the surface below the range finder; the ground's by
            default.
        longest_range_m: M_u.
        offset_m: R_u.
        range_threshold_m: height above the surface from which the range finder has no weight.
        pressure_threshold_m: barometric height from which the range finder has no weight.
        frequency_radps: f.
        gravity_mps2: assumed gravity; the world's by default.
    """

    base: AbstractEstimator = Truth()
    range: str = field(static=True, default="ultrasonic")
    barometer: str = field(static=True, default="barometer")
    surface_z_m: Real | None = None
    longest_range_m: Annotated[Real, POSITIVE] = 5.0
    offset_m: Annotated[Real, NOT_NEGATIVE] = 1.0
    range_threshold_m: Annotated[Real, POSITIVE] = 5.0
    pressure_threshold_m: Annotated[Real, POSITIVE] = 15.0
    frequency_radps: Annotated[Real, POSITIVE] = 1.5
    gravity_mps2: Annotated[Real, POSITIVE] | None = None

    @override
    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        example = "{type: ultrasonic, direction_body: [0, 0, -1]}"
        required = {
            "range": RequiredSensor(self.range, RangeMeasurement, example),
            "barometer": RequiredSensor(self.barometer, PressureMeasurement, "barometer"),
        }
        require_sensors(sensors, required)
        directions = sensors[self.range].beam_directions_body()
        if directions is None or len(directions) != 1 or directions[0].z > MAX_DOWNWARD_Z:
            message = (
                f"range: the sensor '{self.range}' does not look straight down; write {example}, "
                "or the name of another sensor here"
            )
            raise ScenarioError(message)
        self.base.check(sensors)

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "AltitudeFusion":
        ground, gravity = context.world.ground_z_m, context.world.gravity_mps2
        return replace(
            self,
            base=self.base.prepare(context),
            surface_z_m=ground if self.surface_z_m is None else self.surface_z_m,
            gravity_mps2=gravity if self.gravity_mps2 is None else self.gravity_mps2,
        )

    @override
    def init(self, start: Kinematics, key: PRNGKeyArray) -> AltitudeFusionState:
        zero = jnp.zeros(())
        return AltitudeFusionState(
            base=as_arrays(self.base.init(start, key)),
            heights=Heights(zero, zero, zero, jnp.asarray(False), zero, zero, zero),
            height_world_m=jnp.asarray(start.position_world_m.z),
            climb_mps=jnp.asarray(start.velocity_world_mps.z),
            acceleration_mps2=zero,
            age_s=zero,
            initialized=jnp.asarray(False),
        )

    @override
    def step(
        self, state: AltitudeFusionState, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[AltitudeFusionState, Kinematics]:
        base, estimate = self.base.step(state.base, inputs, dt_s, key)
        q = estimate.q_world_from_body
        gravity = STANDARD_GRAVITY_MPS2 if self.gravity_mps2 is None else self.gravity_mps2
        acceleration = q.rotate(estimate.specific_force_body_mps2).z - gravity
        before = jnp.where(state.initialized, state.acceleration_mps2, acceleration)
        mean, span_s = 0.5 * (before + acceleration), jnp.where(state.initialized, dt_s, 0.0)
        f, error_m = self.frequency_radps, self.error_m(state.heights)
        climb = state.climb_mps + span_s * (mean + f * f * error_m)
        height = state.height_world_m + span_s * (
            0.5 * (state.climb_mps + climb) + 2.0 * f * error_m
        )
        next_state = AltitudeFusionState(
            base=base,
            heights=self._updated_heights(state, inputs, height, q.rotate(Vec3(0.0, 0.0, 1.0)).z),
            height_world_m=height,
            climb_mps=climb,
            acceleration_mps2=acceleration,
            age_s=state.age_s + span_s,
            initialized=jnp.asarray(True),
        )
        position, motion = estimate.position_world_m, estimate.velocity_world_mps
        velocity = Vec3(motion.x, motion.y, climb)
        return next_state, replace(
            estimate,
            position_world_m=Vec3(position.x, position.y, height),
            velocity_world_mps=velocity,
            velocity_body_mps=q.inverse().rotate(velocity),
        )

    def error_m(self, heights: Heights) -> Real:
        """Return the fused altitude less the height estimated at the measurements."""
        weight = self.weight(heights)
        return weight * heights.range_error_m + (1.0 - weight) * heights.pressure_error_m

    def weight(self, heights: Heights) -> Real:
        """Return the weight of the range finder, W_u."""
        longest, height = self.longest_range_m, heights.range_height_m
        square = longest * longest - (height + self.offset_m) ** 2
        low = (height < self.range_threshold_m) & (
            heights.pressure_height_m < self.pressure_threshold_m
        )
        counts = heights.echoes & low & (square > 0.0)
        return jnp.where(counts, jnp.sqrt(jnp.where(counts, square, 1.0)) / longest, 0.0)

    def _updated_heights(
        self, state: AltitudeFusionState, inputs: EstimatorInputs, height_m: Real, cosine: Real
    ) -> Heights:
        """Return the readings, updated by fresh measurements at an estimated height."""
        distance: RangeMeasurement = inputs.measurements[self.range]
        pressure: PressureMeasurement = inputs.measurements[self.barometer]
        heights, surface_m = state.heights, 0.0 if self.surface_z_m is None else self.surface_z_m
        above_m = distance.range_m * cosine
        by_range = replace(
            heights,
            range_error_m=surface_m + above_m - height_m,
            range_height_m=above_m,
            # no height from a range finder tilted by more than a right angle
            echoes=jnp.asarray(distance.valid) & (cosine > 0.0),
        )
        heights = tree_where(inputs.fresh[self.range], by_range, heights)
        difference_m = pressure.altitude_m - height_m
        zeroing = (state.age_s < ZEROING_S) | (heights.zero_readings == 0.0)
        zero_readings = heights.zero_readings + jnp.where(zeroing, 1.0, 0.0)
        zero = heights.zero_m + jnp.where(
            zeroing, (difference_m - heights.zero_m) / zero_readings, 0.0
        )
        by_pressure = replace(
            heights,
            pressure_error_m=difference_m - zero,
            pressure_height_m=height_m + difference_m - zero - surface_m,
            zero_m=zero,
            zero_readings=zero_readings,
        )
        return tree_where(inputs.fresh[self.barometer], by_pressure, heights)
