"""An extended Kalman filter of the errors of inertial navigation.

At each step the motion is carried on by the inertial unit, whose last reading holds until there is
a new one (``ekf_motion``); what the other sensors say anew corrects it (``ekf_updates``). Beside
the motion the filter estimates what its sensors are off by: biases, scales and alignment of the
inertial unit, the slow error of the satellites, the drift of the barometer (``ekf_state``). Each
stands for an error that the sensors here have, which is what makes the covariance an honest one.

The first estimate is the start with errors, drawn with the deviations that the filter begins with.

Neglected: that a correction of the attitude turns the axes of its error; where sensors other than
the inertial unit are mounted; magnets on board.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.measurements import (
    GnssMeasurement,
    InertialMeasurement,
    MagneticMeasurement,
    PressureMeasurement,
    RangeMeasurement,
)
from kittiwake.core.noise import GaussMarkov
from kittiwake.core.tree_where import tree_where
from kittiwake.estimation import ekf_updates as updates
from kittiwake.estimation.ekf_motion import (
    InstrumentErrors,
    aged_belief,
    freed,
    mechanised,
    motion_rows,
    propagated,
)
from kittiwake.estimation.ekf_parameters import (
    AccelerometerErrors,
    AltitudeErrors,
    FieldErrors,
    FilterAssumptions,
    GyroscopeErrors,
    RangeErrors,
    SatelliteErrors,
    StartErrors,
)
from kittiwake.estimation.ekf_state import (
    ERRORS,
    MOTION,
    Advance,
    Belief,
    EkfState,
    ImuReading,
    first_covariance,
    motion_of,
)
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs, Uncertainty
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor

# by parameter: what the sensor that it names measures, and a type that does
SENSES: dict[str, tuple[type, str]] = {
    "imu": (InertialMeasurement, "imu"),
    "gnss": (GnssMeasurement, "gnss"),
    "barometer": (PressureMeasurement, "barometer"),
    "magnetometer": (MagneticMeasurement, "magnetometer"),
    "range": (RangeMeasurement, "{type: ultrasonic, direction_body: [0, 0, -1]}"),
}


class Ekf(AbstractEstimator):
    """Position, velocity and attitude with their covariance, out of up to five sensors.

    Attributes:
        imu: the name of the inertial unit.
        gnss: that of the satellite receiver; this one and those below are left out by null, and
            where the vehicle has none of the usual name.
        barometer: of a barometer.
        magnetometer: of a magnetometer.
        range: of a range finder along the body's downward axis.
        imu_position_body_m: where the inertial unit is, from the center of mass.
        gyroscope: what it takes for the gyroscopes' errors; so do the next ones for theirs.
        gate_deviations: a measurement that is off by more of its deviations is not believed.
        start_errors: how well it knows the start.
        told: what it takes for true of its world; null for what is true.
    """

    imu: str = eqx.field(static=True, default="imu")
    gnss: str | None = eqx.field(static=True, default="gnss")
    barometer: str | None = eqx.field(static=True, default="barometer")
    magnetometer: str | None = eqx.field(static=True, default="magnetometer")
    range: str | None = eqx.field(static=True, default=None)
    imu_position_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    gyroscope: GyroscopeErrors = GyroscopeErrors()
    accelerometer: AccelerometerErrors = AccelerometerErrors()
    satellite_errors: SatelliteErrors = SatelliteErrors()
    altitude_errors: AltitudeErrors = AltitudeErrors()
    field_errors: FieldErrors = FieldErrors()
    range_errors: RangeErrors = RangeErrors()
    start_errors: StartErrors = StartErrors()
    gate_deviations: Annotated[Real, POSITIVE] = 5.0
    assumptions: FilterAssumptions | None = None

    @override
    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        needed = {
            parameter: RequiredSensor(name, *SENSES[parameter], optional=parameter != "imu")
            for parameter, name in self._names().items()
            # a sensor that nobody asked for by another name may be missing
            if name in sensors or name != parameter or parameter == "imu"
        }
        require_sensors(sensors, needed)

    @override
    def prepare(self, context: BuildContext) -> "Ekf":
        there = {
            parameter: name if name in context.sensors else None
            for parameter, name in self._names().items()
        }
        told = self.assumptions or FilterAssumptions.of(context, there.get("gnss"))
        return replace(self, **there, assumptions=told)

    @override
    def init(self, key: PRNGKeyArray) -> EkfState:
        return self.begin(as_arrays(Start().kinematics()), key)

    @override
    def begin(self, start: Kinematics, key: PRNGKeyArray) -> EkfState:
        covariance = first_covariance(
            self.start_errors,
            self.gyroscope.triad,
            self.accelerometer.triad,
            self.altitude_errors.drift_m,
        )
        draws = jax.random.normal(key, (MOTION.stop,), covariance.dtype)
        off = jnp.sqrt(jnp.diagonal(covariance)[MOTION]) * draws
        believed = Belief(
            jnp.asarray(start.position_world_m.array),
            jnp.asarray(start.velocity_world_mps.array),
            start.q_world_from_body,
            jnp.zeros(ERRORS - MOTION.stop),
        ).corrected(jnp.zeros(ERRORS).at[MOTION].set(off))
        return EkfState(
            belief=believed,
            covariance=covariance,
            reading=ImuReading(jnp.zeros(3), jnp.zeros(3)),
            begun=jnp.asarray(False),
            advance=Advance.none(),
            periods=(Advance.none(),) * self._told.gnss_delay_periods,
            satellites=jnp.asarray(0, jnp.int32),
        )

    @override
    def uncertainty(self, state: EkfState) -> Uncertainty:
        return Uncertainty(state.covariance[MOTION, MOTION])

    @override
    def step(
        self, state: EkfState, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[EkfState, Kinematics]:
        del key
        state = self._under_these_satellites(self._carried_on(state, inputs, dt_s), inputs)
        belief, covariance = state.belief, state.covariance
        for observed in self._observers(state, inputs):
            told = observed(belief)
            belief, covariance = updates.updated(belief, covariance, told, self.gate_deviations)
        state = replace(state, belief=belief, covariance=covariance)
        return state, motion_of(belief, freed(state.reading, belief))

    def _carried_on(self, state: EkfState, inputs: EstimatorInputs, dt_s: Real) -> EkfState:
        """By the inertial unit; what is fresh of it also says how the step began."""
        reading = self._reading(inputs.measurements[self.imu], state.belief)
        fresh = jnp.asarray(inputs.fresh[self.imu])
        reading = tree_where(fresh, reading, state.reading)
        before = tree_where(state.begun, state.reading, reading)
        span_s = jnp.where(state.begun, dt_s, 0.0)
        gravity_mps2 = self._told.gravity_mps2
        belief, advance, leg = mechanised(state.belief, before, reading, gravity_mps2, span_s)
        rows = motion_rows(leg, state.belief)
        aged = aged_belief(self._instruments, belief.instruments, span_s)
        advance = state.advance.then(advance)
        # a fix is due after a whole period; half a step for rounding
        due = advance.span_s > self._told.gnss_period_s - 0.5 * dt_s
        pushed = (advance, *state.periods)[: len(state.periods)]
        return EkfState(
            belief=replace(belief, instruments=aged),
            covariance=propagated(state.covariance, rows, self._instruments, span_s),
            reading=reading,
            begun=state.begun | fresh,
            advance=tree_where(due, Advance.none(), advance),
            periods=tree_where(due, pushed, state.periods),
            satellites=state.satellites,
        )

    def _reading(self, said: InertialMeasurement, belief: Belief) -> ImuReading:
        """As of a unit at the center of mass."""
        force = jnp.asarray(said.specific_force_body_mps2.array)
        rate = jnp.asarray(said.angular_velocity_body_radps.array)
        omega = Vec3.of(freed(ImuReading(force, rate), belief).angular_velocity_radps)
        centripetal = omega.cross(omega.cross(self.imu_position_body_m))
        return ImuReading(force - jnp.asarray(centripetal.array), rate)

    def _under_these_satellites(self, state: EkfState, inputs: EstimatorInputs) -> EkfState:
        if self.gnss is None:
            return state
        fix: GnssMeasurement = inputs.measurements[self.gnss]
        new = jnp.asarray(inputs.fresh[self.gnss] & fix.valid)
        satellites = jnp.where(new, jnp.asarray(fix.satellites, jnp.int32), state.satellites)
        belief, covariance = updates.with_other_satellites(
            state.belief, state.covariance, state.satellites, satellites
        )
        return replace(state, belief=belief, covariance=covariance, satellites=satellites)

    def _observers(
        self, state: EkfState, inputs: EstimatorInputs
    ) -> list[Callable[[Belief], updates.MeasurementUpdate]]:
        """What each sensor tells, by what is believed before."""
        told, said = self._told, inputs.measurements
        tellers: dict[str, Callable[[Any], Callable[..., updates.MeasurementUpdate]]] = {
            "magnetometer": lambda one: partial(
                updates.from_field,
                field_body_t=jnp.asarray(one.magnetic_field_body_t.array),
                field_world_t=jnp.asarray(told.magnetic_field_world_t.array),
                noise_t=self.field_errors.noise_t,
            ),
            "gnss": lambda one: partial(
                updates.from_fix,
                fix=one,
                periods=state.periods,
                reading=state.reading,
                errors=self.satellite_errors,
            ),
            "barometer": lambda one: partial(
                updates.from_altitude,
                altitude_m=one.altitude_m,
                offset_m=told.altitude_offset_m,
                noise_m=self.altitude_errors.noise_m,
            ),
            "range": lambda one: partial(
                updates.from_range,
                measured=one,
                ground_z_m=told.ground_z_m,
                noise_m=self.range_errors.noise_m,
            ),
        }
        names = self._names()
        return [
            partial(teller(said[names[parameter]]), fresh=inputs.fresh[names[parameter]])
            for parameter, teller in tellers.items()
            if parameter in names
        ]

    @property
    def _told(self) -> FilterAssumptions:
        return self.assumptions or FilterAssumptions.usual()

    def _names(self) -> dict[str, str]:
        """Of the sensors, by parameter."""
        names = {parameter: getattr(self, parameter) for parameter in SENSES}
        return {parameter: name for parameter, name in names.items() if name is not None}

    @property
    def _instruments(self) -> InstrumentErrors:
        return InstrumentErrors(
            self.gyroscope.triad,
            self.accelerometer.triad,
            self.satellite_errors,
            GaussMarkov(self.altitude_errors.drift_m, self.altitude_errors.drift_time_s),
        )
