"""The height out of a range finder that looks down, a barometer and the specific force.

What the two sensors say is weighed: with the height O_u over the surface that the range finder
tells, range times cosine of the tilt, and the O_p that the barometer does,

    Alt = W_u O_u + W_p O_p
    W_u = sqrt(M_u^2 - (O_u + R_u)^2) / M_u,  0 where that is imaginary        W_p = 1 - W_u

M_u is the longest range; the offset R_u makes less of long ones. Without an echo, from its
threshold on, or with the barometer above the other threshold, the range finder has no weight.

Height z and vertical velocity v follow from that and from the vertical acceleration a, the specific
force less gravity, by a complementary filter without overshoot:

    z' = v + 2 f e        v' = a + f^2 e        e = Alt - z = W_u e_u + W_p e_p

where each sensor's e is of the moment when it measured, so that the age of a reading is no error.
Slower than f counts what the sensors say, faster the acceleration, whose bias b makes the height b
/ f^2 wrong. The barometer tells heights from the start: the mean of what it says beside the height
believed, over its first second, is its zero.

Source: Micklisch et al. (2021), equations 35 to 37, after Gageik et al. (2012). Theirs is imaginary
from M_u - R_u on. Of the thresholds they say that weights are calculated below them; above 15 m the
barometer is taken to stand alone, as it does without an echo. They filter nothing. Neglected: where
the range finder is mounted.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.measurements import PressureMeasurement, RangeMeasurement
from kittiwake.core.tree_where import tree_where
from kittiwake.core.units import STANDARD_GRAVITY_MPS2
from kittiwake.estimation.truth import Truth
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor

# how far from straight down a range finder may look: 0.1 deg
STRAIGHT_DOWN = -0.9999985
# a barometer is set for so long
SETTING_S = 1.0


class Heights(eqx.Module):
    """What was said last: how far each sensor is from the height believed then, and O_u and O_p.

    ``zero_m`` is what the barometer says at a height of 0, the mean of ``settings`` readings.
    """

    off_by_range_m: Real
    off_by_pressure_m: Real
    over_surface_m: Real
    echoes: Flag
    by_pressure_m: Real
    zero_m: Real
    settings: Real


class AltitudeFusionState(eqx.Module):
    """Of the other estimator, and of the filter; the acceleration is that of the last step."""

    base: Any
    heights: Heights
    height_world_m: Real
    climb_mps: Real
    acceleration_mps2: Real
    age_s: Real
    begun: Flag


class AltitudeFusion(AbstractEstimator):
    """Height and vertical velocity by two sensors; all else, and the attitude, by another one.

    Attributes:
        base: the other estimator.
        range: the name of the range finder, which looks straight down.
        barometer: the name of the barometer.
        surface_z_m: the height in the world of what the range finder sees; the ground's if not
            given.
        longest_range_m: M_u.
        offset_m: R_u.
        range_threshold_m: from this height over the surface on the range finder has no weight.
        pressure_threshold_m: nor from this one on, as the barometer tells it.
        frequency_radps: f.
        gravity_mps2: what it takes for the world's; that itself if not given.
    """

    base: AbstractEstimator = Truth()
    range: str = eqx.field(static=True, default="ultrasonic")
    barometer: str = eqx.field(static=True, default="barometer")
    surface_z_m: Real | None = None
    longest_range_m: Annotated[Real, POSITIVE] = 5.0
    offset_m: Annotated[Real, NOT_NEGATIVE] = 1.0
    range_threshold_m: Annotated[Real, POSITIVE] = 5.0
    pressure_threshold_m: Annotated[Real, POSITIVE] = 15.0
    frequency_radps: Annotated[Real, POSITIVE] = 1.5
    gravity_mps2: Annotated[Real, POSITIVE] | None = None

    @override
    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        below = "{type: ultrasonic, direction_body: [0, 0, -1]}"
        needed = {
            "range": RequiredSensor(self.range, RangeMeasurement, below),
            "barometer": RequiredSensor(self.barometer, PressureMeasurement, "barometer"),
        }
        require_sensors(sensors, needed)
        looks = sensors[self.range].looks_body()
        if looks is None or len(looks) != 1 or looks[0].z > STRAIGHT_DOWN:
            message = (
                f"range: the sensor '{self.range}' does not look straight down; write {below}, or "
                "the name of another one here"
            )
            raise ScenarioError(message)
        self.base.check(sensors)

    @override
    def prepare(self, context: BuildContext) -> "AltitudeFusion":
        ground, gravity = context.world.ground_z_m, context.world.gravity_mps2
        return replace(
            self,
            base=self.base.prepare(context),
            surface_z_m=ground if self.surface_z_m is None else self.surface_z_m,
            gravity_mps2=gravity if self.gravity_mps2 is None else self.gravity_mps2,
        )

    @override
    def init(self, key: PRNGKeyArray) -> AltitudeFusionState:
        return self.begin(as_arrays(Start().kinematics()), key)

    @override
    def begin(self, start: Kinematics, key: PRNGKeyArray) -> AltitudeFusionState:
        nil = jnp.zeros(())
        return AltitudeFusionState(
            base=as_arrays(self.base.begin(start, key)),
            heights=Heights(nil, nil, nil, jnp.asarray(False), nil, nil, nil),
            height_world_m=jnp.asarray(start.position_world_m.z),
            climb_mps=jnp.asarray(start.velocity_world_mps.z),
            acceleration_mps2=nil,
            age_s=nil,
            begun=jnp.asarray(False),
        )

    @override
    def step(
        self, state: AltitudeFusionState, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[AltitudeFusionState, Kinematics]:
        base, estimate = self.base.step(state.base, inputs, dt_s, key)
        q = estimate.q_world_from_body
        gravity = STANDARD_GRAVITY_MPS2 if self.gravity_mps2 is None else self.gravity_mps2
        acceleration = q.rotate(estimate.specific_force_body_mps2).z - gravity
        before = jnp.where(state.begun, state.acceleration_mps2, acceleration)
        mean, span_s = 0.5 * (before + acceleration), jnp.where(state.begun, dt_s, 0.0)
        f, off_m = self.frequency_radps, self.off_m(state.heights)
        climb = state.climb_mps + span_s * (mean + f * f * off_m)
        height = state.height_world_m + span_s * (0.5 * (state.climb_mps + climb) + 2.0 * f * off_m)
        later = AltitudeFusionState(
            base=base,
            heights=self._heard(state, inputs, height, q.rotate(Vec3(0.0, 0.0, 1.0)).z),
            height_world_m=height,
            climb_mps=climb,
            acceleration_mps2=acceleration,
            age_s=state.age_s + span_s,
            begun=jnp.asarray(True),
        )
        place, motion = estimate.position_world_m, estimate.velocity_world_mps
        velocity = Vec3(motion.x, motion.y, climb)
        return later, replace(
            estimate,
            position_world_m=Vec3(place.x, place.y, height),
            velocity_world_mps=velocity,
            velocity_body_mps=q.inverse().rotate(velocity),
        )

    def off_m(self, heights: Heights) -> Real:
        """By how much the fused altitude is above the height that was believed."""
        weight = self.weight(heights)
        return weight * heights.off_by_range_m + (1.0 - weight) * heights.off_by_pressure_m

    def weight(self, heights: Heights) -> Real:
        """W_u."""
        longest, told = self.longest_range_m, heights.over_surface_m
        square = longest * longest - (told + self.offset_m) ** 2
        low = (told < self.range_threshold_m) & (heights.by_pressure_m < self.pressure_threshold_m)
        counts = heights.echoes & low & (square > 0.0)
        return jnp.where(counts, jnp.sqrt(jnp.where(counts, square, 1.0)) / longest, 0.0)

    def _heard(
        self, state: AltitudeFusionState, inputs: EstimatorInputs, height_m: Real, cosine: Real
    ) -> Heights:
        """What the sensors say anew, beside the height at which they say it."""
        ranged: RangeMeasurement = inputs.measurements[self.range]
        pressed: PressureMeasurement = inputs.measurements[self.barometer]
        heights, surface_m = state.heights, 0.0 if self.surface_z_m is None else self.surface_z_m
        over_m = ranged.range_m * cosine
        by_range = replace(
            heights,
            off_by_range_m=surface_m + over_m - height_m,
            over_surface_m=over_m,
            # one that lies on its side tells no height
            echoes=jnp.asarray(ranged.valid) & (cosine > 0.0),
        )
        heights = tree_where(inputs.fresh[self.range], by_range, heights)
        said_m = pressed.altitude_m - height_m
        setting = (state.age_s < SETTING_S) | (heights.settings == 0.0)
        settings = heights.settings + jnp.where(setting, 1.0, 0.0)
        zero = heights.zero_m + jnp.where(setting, (said_m - heights.zero_m) / settings, 0.0)
        by_pressure = replace(
            heights,
            off_by_pressure_m=said_m - zero,
            by_pressure_m=height_m + said_m - zero - surface_m,
            zero_m=zero,
            settings=settings,
        )
        return tree_where(inputs.fresh[self.barometer], by_pressure, heights)
