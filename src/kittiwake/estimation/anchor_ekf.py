"""Kalman filter of position and velocity from ranges to anchors at known positions.

The state is the position p and the velocity v, which is constant except for unknown accelerations:
each is constant for a time T and uniform between -s and s along each axis. Over a step h, with q =
s^2 T / 3,

    p' = p + h v        P' = F P F' + Q
    v' = v              Q = q [h^3 / 3, h^2 / 2; h^2 / 2, h]    along each axis

so that Q does not depend on the step length. With d = p - a, a range to the anchor at a is

    y = |d| + tr(N P) / 2 + n        H = d' / |d|        N = (I - H' H) / |d|
    R = r^2 + tr(N P N P) / 2

where the terms with N, the curvature of the sphere, matter if all anchors are in nearly one
direction and the position across it is not well known. The covariance update is that of
``ekf_updates``. Attitude, body rates and specific force are those of another estimator. The first
estimate is the start with random errors of the filter's initial deviations.

Source: the Matlab drone simulator of R. Coronel: s = 5 m/s^2, one range every 63 ms, no N. Its R =
0.98 m^2 corresponds to a noise of 1 m; its noise, uniform between -0.1 and 0.1 m, has a variance of
0.1^2 / 3 = 0.0033 m^2, which is the default here. The terms with N: Y. Bar-Shalom, X. Li, T.
Kirubarajan (2001), "Estimation with applications to tracking and navigation", section 10.3.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import ArrayTree, as_arrays
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import AnchorMeasurement
from kittiwake.estimation.ekf_updates import MeasurementUpdate, kalman_update
from kittiwake.estimation.truth import Truth
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs, Uncertainty
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module, field

POSITION, VELOCITY = slice(0, 3), slice(3, 6)
ERRORS = 6
# closer to an anchor its direction is undefined
MIN_DISTANCE_M = 1e-3


class AnchorEkfState(Module):
    """Position and velocity, the covariance of their errors, and the base estimator's state."""

    motion: Float[Array, "6"]
    covariance: Float[Array, "6 6"]
    base: ArrayTree
    initialized: Flag


class AnchorEkf(AbstractEstimator[AnchorEkfState]):
    """Position and velocity from ranges to anchors; all else from a base estimator.

    Attributes:
        base: base estimator.
        anchors: name of the sensor.
        anchors_world_m: assumed positions of the anchors; the sensor's by default.
        max_acceleration_mps2: s.
        acceleration_time_s: T.
        range_deviation_m: r.
        gate_deviations: a range with a larger normalized innovation is rejected.
        start_position_m: standard deviation of the start along each axis.
        start_velocity_mps: standard deviation of the velocity along each axis.
    """

    base: AbstractEstimator = Truth()
    anchors: str = field(static=True, default="anchor-ranging")
    anchors_world_m: tuple[Vec3, ...] | None = None
    max_acceleration_mps2: Annotated[Real, POSITIVE] = 5.0
    acceleration_time_s: Annotated[Real, POSITIVE] = 1.0 / 16.0
    range_deviation_m: Annotated[Real, POSITIVE] = 0.0577
    gate_deviations: Annotated[Real, POSITIVE] = 5.0
    start_position_m: Annotated[Real, NOT_NEGATIVE] = 0.5
    start_velocity_mps: Annotated[Real, NOT_NEGATIVE] = 0.1

    @override
    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        required = RequiredSensor(self.anchors, AnchorMeasurement, "anchor-ranging")
        require_sensors(sensors, {"anchors": required})
        self.base.check(sensors)

    @override
    def prepare(self, context: BuildContext) -> "AnchorEkf":
        true_positions: tuple[Vec3, ...] = vars(context.sensors[self.anchors])["anchors_world_m"]
        positions = true_positions if self.anchors_world_m is None else self.anchors_world_m
        if len(positions) != len(true_positions):
            message = (
                f"anchors_world_m: got {len(positions)} positions; the sensor '{self.anchors}' has "
                f"{len(true_positions)} anchors. Write as many or omit them"
            )
            raise ScenarioError(message)
        return replace(self, base=self.base.prepare(context), anchors_world_m=positions)

    @override
    def init(self, start: Kinematics, key: PRNGKeyArray) -> AnchorEkfState:
        own_key, base_key = jax.random.split(key)
        deviations = jnp.stack(
            [jnp.asarray(self.start_position_m, jnp.result_type(float))] * 3
            + [jnp.asarray(self.start_velocity_mps, jnp.result_type(float))] * 3
        )
        true = [
            jnp.asarray(vector.array)
            for vector in (start.position_world_m, start.velocity_world_mps)
        ]
        error = deviations * jax.random.normal(own_key, (ERRORS,), deviations.dtype)
        return AnchorEkfState(
            motion=jnp.concatenate(true) + error,
            covariance=jnp.diag(deviations**2),
            base=as_arrays(self.base.init(start, base_key)),
            initialized=jnp.asarray(False),
        )

    @override
    def uncertainty(self, state: AnchorEkfState) -> Uncertainty:
        return Uncertainty(jnp.zeros((9, 9)).at[:ERRORS, :ERRORS].set(state.covariance))

    @override
    def step(
        self, state: AnchorEkfState, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[AnchorEkfState, Kinematics]:
        base, estimate = self.base.step(state.base, inputs, dt_s, key)
        span_s = jnp.where(state.initialized, dt_s, 0.0)
        transition = by_axis(1.0, span_s, 0.0, 1.0)
        density = self.max_acceleration_mps2**2 * self.acceleration_time_s / 3.0
        covariance = transition @ state.covariance @ transition.T + density * acceleration_noise(
            span_s
        )
        motion = transition @ state.motion
        update = self._range_update(motion, covariance[POSITION, POSITION], inputs)
        error, covariance = kalman_update(covariance, update, self.gate_deviations)
        motion = motion + error
        next_state = AnchorEkfState(motion, covariance, base, jnp.asarray(True))
        velocity = Vec3.of(motion[VELOCITY])
        return next_state, replace(
            estimate,
            position_world_m=Vec3.of(motion[POSITION]),
            velocity_world_mps=velocity,
            velocity_body_mps=estimate.q_world_from_body.inverse().rotate(velocity),
        )

    def _range_update(
        self, motion: Float[Array, "6"], covariance: Float[Array, "3 3"], inputs: EstimatorInputs
    ) -> MeasurementUpdate:
        """Return the update by a range; ``covariance`` is that of the position error."""
        measured: AnchorMeasurement = inputs.measurements[self.anchors]
        anchors = jnp.stack([jnp.asarray(anchor.array) for anchor in self._anchors()])
        offset = Vec3.of(motion[POSITION] - anchors[measured.anchor])
        near = offset.norm() < MIN_DISTANCE_M
        distance = jnp.where(near, 1.0, offset.norm())
        direction = jnp.asarray((offset / distance).array)
        curved = (jnp.eye(3) - direction[:, None] * direction[None, :]) @ covariance / distance
        expected = distance + 0.5 * jnp.trace(curved)
        variance = self.range_deviation_m**2 + 0.5 * jnp.trace(curved @ curved)
        return MeasurementUpdate(
            innovation=jnp.asarray(measured.range_m - expected)[None],
            by_error=jnp.concatenate([direction, jnp.zeros(3)])[None],
            noise=jnp.asarray(variance)[None, None],
            counts=jnp.asarray(inputs.fresh[self.anchors] & measured.valid) & jnp.logical_not(near),
        )

    def _anchors(self) -> tuple[Vec3, ...]:
        """Return the anchors' positions; a single one at the origin if they are unknown."""
        return self.anchors_world_m or (Vec3.zero(),)


def by_axis(pp: Real, pv: Real, vp: Real, vv: Real) -> Float[Array, "6 6"]:
    """Return the matrix with the same block of position and velocity along each axis."""
    rows = [[pp, pv], [vp, vv]]
    block = jnp.stack([jnp.stack([jnp.asarray(number, float) for number in row]) for row in rows])
    return jnp.kron(block, jnp.eye(3))


def acceleration_noise(span_s: Real) -> Float[Array, "6 6"]:
    """Return the covariance that white acceleration of unit density adds."""
    h = span_s
    return by_axis(h**3 / 3.0, h**2 / 2.0, h**2 / 2.0, h)
