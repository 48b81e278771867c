"""A Kalman filter of place and velocity by the distances of anchors at known places.

The state is the position p and the velocity v, which goes on as it is but for accelerations that
nobody knows of: each is constant for a time T and evenly spread between -s and s along each axis.
Over a step h, with q = s^2 T / 3,

    p' = p + h v        P' = F P F' + Q
    v' = v              Q = q [h^3 / 3, h^2 / 2; h^2 / 2, h]    along each axis

so that Q does not depend on how fine the steps are. With d = p - a, a range to the anchor at a says

    y = |d| + tr(N P) / 2 + n        H = d' / |d|        N = (I - H' H) / |d|
    R = r^2 + tr(N P N P) / 2

of which the terms with N, the curvature of the sphere, count where all anchors are seen in nearly
one direction and the place across it is not well known. The covariance follows as ``ekf_updates``
has it. Attitude, body rates and specific force are those of another estimator. The first estimate
is the start with errors, drawn with the deviations that the filter begins with.

Source: the Matlab drone simulator of R. Coronel: s = 5 m/s^2, one range each 63 ms, no N. Its R =
0.98 m^2 goes with a noise of 1 m; the noise that it has, evenly spread between -0.1 and 0.1 m, has
a variance of 0.1^2 / 3 = 0.0033 m^2, which is the default here. The terms with N: Y. Bar-Shalom, X.
Li, T. Kirubarajan (2001), "Estimation with applications to tracking and navigation", section 10.3.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.measurements import AnchorMeasurement
from kittiwake.estimation.ekf_updates import MeasurementUpdate, weighed
from kittiwake.estimation.truth import Truth
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs, Uncertainty
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor

PLACE, VELOCITY = slice(0, 3), slice(3, 6)
ERRORS = 6
# nearer to an anchor its direction means nothing
LEAST_DISTANCE_M = 1e-3


class AnchorEkfState(eqx.Module):
    """Position and velocity, the covariance of their errors, and the other estimator's state."""

    motion: Float[Array, "6"]
    covariance: Float[Array, "6 6"]
    base: Any
    begun: Flag


class AnchorEkf(AbstractEstimator):
    """Position and velocity by ranges to anchors; all else by another estimator.

    Attributes:
        base: the other estimator.
        anchors: the name of the sensor.
        anchors_world_m: where it takes the anchors to be; where the sensor has them if not given.
        max_acceleration_mps2: s.
        acceleration_time_s: T.
        range_deviation_m: r.
        gate_deviations: a range that is off by more of its deviations is not believed.
        start_position_m: how well it knows the start, as a deviation along each axis.
        start_velocity_mps: the same of the velocity.
    """

    base: AbstractEstimator = Truth()
    anchors: str = eqx.field(static=True, default="anchor-ranging")
    anchors_world_m: tuple[Vec3, ...] | None = None
    max_acceleration_mps2: Annotated[Real, POSITIVE] = 5.0
    acceleration_time_s: Annotated[Real, POSITIVE] = 1.0 / 16.0
    range_deviation_m: Annotated[Real, POSITIVE] = 0.0577
    gate_deviations: Annotated[Real, POSITIVE] = 5.0
    start_position_m: Annotated[Real, NOT_NEGATIVE] = 0.5
    start_velocity_mps: Annotated[Real, NOT_NEGATIVE] = 0.1

    @override
    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        needed = RequiredSensor(self.anchors, AnchorMeasurement, "anchor-ranging")
        require_sensors(sensors, {"anchors": needed})
        self.base.check(sensors)

    @override
    def prepare(self, context: BuildContext) -> "AnchorEkf":
        there: tuple[Vec3, ...] = vars(context.sensors[self.anchors])["anchors_world_m"]
        places = there if self.anchors_world_m is None else self.anchors_world_m
        if len(places) != len(there):
            message = (
                f"anchors_world_m: {len(places)} places, and the sensor '{self.anchors}' has "
                f"{len(there)} anchors; write as many, or leave them out"
            )
            raise ScenarioError(message)
        return replace(self, base=self.base.prepare(context), anchors_world_m=places)

    @override
    def init(self, key: PRNGKeyArray) -> AnchorEkfState:
        return self.begin(as_arrays(Start().kinematics()), key)

    @override
    def begin(self, start: Kinematics, key: PRNGKeyArray) -> AnchorEkfState:
        mine, others = jax.random.split(key)
        deviations = jnp.stack(
            [jnp.asarray(self.start_position_m, jnp.result_type(float))] * 3
            + [jnp.asarray(self.start_velocity_mps, jnp.result_type(float))] * 3
        )
        true = [
            jnp.asarray(vector.array)
            for vector in (start.position_world_m, start.velocity_world_mps)
        ]
        off = deviations * jax.random.normal(mine, (ERRORS,), deviations.dtype)
        return AnchorEkfState(
            motion=jnp.concatenate(true) + off,
            covariance=jnp.diag(deviations**2),
            base=as_arrays(self.base.begin(start, others)),
            begun=jnp.asarray(False),
        )

    @override
    def uncertainty(self, state: AnchorEkfState) -> Uncertainty:
        return Uncertainty(jnp.zeros((9, 9)).at[:ERRORS, :ERRORS].set(state.covariance))

    @override
    def step(
        self, state: AnchorEkfState, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[AnchorEkfState, Kinematics]:
        base, estimate = self.base.step(state.base, inputs, dt_s, key)
        span_s = jnp.where(state.begun, dt_s, 0.0)
        lead = by_axis(1.0, span_s, 0.0, 1.0)
        density = self.max_acceleration_mps2**2 * self.acceleration_time_s / 3.0
        covariance = lead @ state.covariance @ lead.T + density * wandering(span_s)
        motion = lead @ state.motion
        told = self._told(motion, covariance[PLACE, PLACE], inputs)
        error, covariance = weighed(covariance, told, self.gate_deviations)
        motion = motion + error
        later = AnchorEkfState(motion, covariance, base, jnp.asarray(True))
        velocity = Vec3.of(motion[VELOCITY])
        return later, replace(
            estimate,
            position_world_m=Vec3.of(motion[PLACE]),
            velocity_world_mps=velocity,
            velocity_body_mps=estimate.q_world_from_body.inverse().rotate(velocity),
        )

    def _told(
        self, motion: Float[Array, "6"], places: Float[Array, "3 3"], inputs: EstimatorInputs
    ) -> MeasurementUpdate:
        """What a range says of the errors; ``places`` is the covariance of the position's."""
        said: AnchorMeasurement = inputs.measurements[self.anchors]
        anchors = jnp.stack([jnp.asarray(anchor.array) for anchor in self._anchors()])
        away = Vec3.of(motion[PLACE] - anchors[said.anchor])
        near = away.norm() < LEAST_DISTANCE_M
        distance = jnp.where(near, 1.0, away.norm())
        towards = jnp.asarray((away / distance).array)
        curved = (jnp.eye(3) - towards[:, None] * towards[None, :]) @ places / distance
        expected = distance + 0.5 * jnp.trace(curved)
        variance = self.range_deviation_m**2 + 0.5 * jnp.trace(curved @ curved)
        return MeasurementUpdate(
            innovation=jnp.asarray(said.range_m - expected)[None],
            by_error=jnp.concatenate([towards, jnp.zeros(3)])[None],
            noise=jnp.asarray(variance)[None, None],
            counts=jnp.asarray(inputs.fresh[self.anchors] & said.valid) & jnp.logical_not(near),
        )

    def _anchors(self) -> tuple[Vec3, ...]:
        """Where they are; one that nobody has told of is at the origin."""
        return self.anchors_world_m or (Vec3.zero(),)


def by_axis(to_place: Real, speed: Real, to_speed: Real, kept: Real) -> Float[Array, "6 6"]:
    """The same for place and velocity along each axis."""
    rows = [[to_place, speed], [to_speed, kept]]
    own = jnp.stack([jnp.stack([jnp.asarray(number, float) for number in row]) for row in rows])
    return jnp.kron(own, jnp.eye(3))


def wandering(span_s: Real) -> Float[Array, "6 6"]:
    """What white acceleration of unit density does to the covariance."""
    h = span_s
    return by_axis(h**3 / 3.0, h**2 / 2.0, h**2 / 2.0, h)
