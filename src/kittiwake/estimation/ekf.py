"""Error-state extended Kalman filter of inertial navigation.

At each step the motion is propagated by the inertial unit, whose last reading is held until there
is a new one (``ekf_motion``); fresh measurements of the other sensors correct it (``ekf_updates``).
In addition the filter estimates errors of its sensors: biases, scale and alignment of the inertial
unit, the slow error of the satellites, the drift of the barometer (``ekf_state``). Each is an error
of the sensor models here, so that the covariance is consistent.

The first estimate is the start with random errors of the filter's initial deviations.

Neglected: rotation of the error's axes by an attitude correction; positions of sensors other than
the inertial unit; magnets on board.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.kinematics import Kinematics
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
    corrected_reading,
    decay_instruments,
    mechanize,
    motion_rows,
    propagate,
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
    EkfState,
    ImuReading,
    MotionIncrement,
    NominalState,
    first_covariance,
    motion_of,
)
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs, Uncertainty
from kittiwake.interfaces.required_sensors import RequiredSensor, require_sensors
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import field

# by parameter: the measurement of the sensor that it names, and a sensor type
SENSOR_TYPES: dict[str, tuple[type, str]] = {
    "imu": (InertialMeasurement, "imu"),
    "gnss": (GnssMeasurement, "gnss"),
    "barometer": (PressureMeasurement, "barometer"),
    "magnetometer": (MagneticMeasurement, "magnetometer"),
    "range": (RangeMeasurement, "{type: ultrasonic, direction_body: [0, 0, -1]}"),
}


class Ekf(AbstractEstimator[EkfState]):
    """Position, velocity and attitude with their covariance, from up to five sensors.

    Attributes:
        imu: name of the inertial unit.
        gnss: name of the satellite receiver; this one and those below are disabled by null, and if
            the vehicle has none of the default name.
        barometer: name of a barometer.
        magnetometer: name of a magnetometer.
        range: name of a range finder along the body's downward axis.
        imu_position_body_m: position of the inertial unit relative to the center of mass.
        gyroscope: assumed errors of the gyroscopes; likewise the following parameters.
        gate_deviations: a measurement with a larger normalized innovation is rejected.
        start_errors: assumed errors of the start.
        assumptions: assumptions about its world; null for the true values.
    """

    imu: str = field(static=True, default="imu")
    gnss: str | None = field(static=True, default="gnss")
    barometer: str | None = field(static=True, default="barometer")
    magnetometer: str | None = field(static=True, default="magnetometer")
    range: str | None = field(static=True, default=None)
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
        required = {
            parameter: RequiredSensor(name, *SENSOR_TYPES[parameter], optional=parameter != "imu")
            for parameter, name in self._names().items()
            # a sensor of the default name may be missing
            if name in sensors or name != parameter or parameter == "imu"
        }
        require_sensors(sensors, required)

    @override
    def prepare(self, context: BuildContext) -> "Ekf":
        names = {
            parameter: name if name in context.sensors else None
            for parameter, name in self._names().items()
        }
        assumptions = self.assumptions or FilterAssumptions.of(context, names.get("gnss"))
        return replace(self, **names, assumptions=assumptions)

    @override
    def init(self, start: Kinematics, key: PRNGKeyArray) -> EkfState:
        covariance = first_covariance(
            self.start_errors,
            self.gyroscope.triad,
            self.accelerometer.triad,
            self.altitude_errors.drift_m,
        )
        draws = jax.random.normal(key, (MOTION.stop,), covariance.dtype)
        error = jnp.sqrt(jnp.diagonal(covariance)[MOTION]) * draws
        nominal = NominalState(
            jnp.asarray(start.position_world_m.array),
            jnp.asarray(start.velocity_world_mps.array),
            start.q_world_from_body,
            jnp.zeros(ERRORS - MOTION.stop),
        ).corrected(jnp.zeros(ERRORS).at[MOTION].set(error))
        return EkfState(
            nominal=nominal,
            covariance=covariance,
            reading=ImuReading(jnp.zeros(3), jnp.zeros(3)),
            initialized=jnp.asarray(False),
            increment=MotionIncrement.none(),
            periods=(MotionIncrement.none(),) * self._assumed.gnss_delay_periods,
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
        state = self._with_satellite_changes(self._propagated(state, inputs, dt_s), inputs)
        nominal, covariance = state.nominal, state.covariance
        for observer in self._observers(state, inputs):
            update = observer(nominal)
            nominal, covariance = updates.apply_update(
                nominal, covariance, update, self.gate_deviations
            )
        state = replace(state, nominal=nominal, covariance=covariance)
        return state, motion_of(nominal, corrected_reading(state.reading, nominal))

    def _propagated(self, state: EkfState, inputs: EstimatorInputs, dt_s: Real) -> EkfState:
        """Propagate the state by the inertial unit; the first reading also begins the step."""
        reading = self._reading(inputs.measurements[self.imu], state.nominal)
        fresh = jnp.asarray(inputs.fresh[self.imu])
        reading = tree_where(fresh, reading, state.reading)
        before = tree_where(state.initialized, state.reading, reading)
        span_s = jnp.where(state.initialized, dt_s, 0.0)
        gravity_mps2 = self._assumed.gravity_mps2
        nominal, increment, interval = mechanize(
            state.nominal, before, reading, gravity_mps2, span_s
        )
        rows = motion_rows(interval, state.nominal)
        instruments = decay_instruments(self._instruments, nominal.instruments, span_s)
        increment = state.increment.then(increment)
        # a fix is due after a whole period; half a step of tolerance for rounding
        due = increment.span_s > self._assumed.gnss_period_s - 0.5 * dt_s
        shifted = (increment, *state.periods)[: len(state.periods)]
        return EkfState(
            nominal=replace(nominal, instruments=instruments),
            covariance=propagate(state.covariance, rows, self._instruments, span_s),
            reading=reading,
            initialized=state.initialized | fresh,
            increment=tree_where(due, MotionIncrement.none(), increment),
            periods=tree_where(due, shifted, state.periods),
            satellites=state.satellites,
        )

    def _reading(self, measured: InertialMeasurement, nominal: NominalState) -> ImuReading:
        """Return the reading of a unit at the center of mass."""
        force = jnp.asarray(measured.specific_force_body_mps2.array)
        rate = jnp.asarray(measured.angular_velocity_body_radps.array)
        omega = Vec3.of(corrected_reading(ImuReading(force, rate), nominal).angular_velocity_radps)
        centripetal = omega.cross(omega.cross(self.imu_position_body_m))
        return ImuReading(force - jnp.asarray(centripetal.array), rate)

    def _with_satellite_changes(self, state: EkfState, inputs: EstimatorInputs) -> EkfState:
        if self.gnss is None:
            return state
        fix: GnssMeasurement = inputs.measurements[self.gnss]
        new = jnp.asarray(inputs.fresh[self.gnss] & fix.valid)
        satellites = jnp.where(new, jnp.asarray(fix.satellites, jnp.int32), state.satellites)
        nominal, covariance = updates.with_other_satellites(
            state.nominal, state.covariance, state.satellites, satellites
        )
        return replace(state, nominal=nominal, covariance=covariance, satellites=satellites)

    def _observers(
        self, state: EkfState, inputs: EstimatorInputs
    ) -> list[Callable[[NominalState], updates.MeasurementUpdate]]:
        """Return the update of each sensor as a function of the nominal state."""
        assumed, measurements = self._assumed, inputs.measurements
        builders: dict[str, Callable[[Any], Callable[..., updates.MeasurementUpdate]]] = {
            "magnetometer": lambda one: partial(
                updates.from_field,
                field_body_t=jnp.asarray(one.magnetic_field_body_t.array),
                field_world_t=jnp.asarray(assumed.magnetic_field_world_t.array),
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
                offset_m=assumed.altitude_offset_m,
                noise_m=self.altitude_errors.noise_m,
            ),
            "range": lambda one: partial(
                updates.from_range,
                measured=one,
                ground_z_m=assumed.ground_z_m,
                noise_m=self.range_errors.noise_m,
            ),
        }
        names = self._names()
        return [
            partial(builder(measurements[names[parameter]]), fresh=inputs.fresh[names[parameter]])
            for parameter, builder in builders.items()
            if parameter in names
        ]

    @property
    def _assumed(self) -> FilterAssumptions:
        return self.assumptions or FilterAssumptions.default()

    def _names(self) -> dict[str, str]:
        """Return the names of the sensors, by parameter."""
        names = {parameter: getattr(self, parameter) for parameter in SENSOR_TYPES}
        return {parameter: name for parameter, name in names.items() if name is not None}

    @property
    def _instruments(self) -> InstrumentErrors:
        return InstrumentErrors(
            self.gyroscope.triad,
            self.accelerometer.triad,
            self.satellite_errors,
            GaussMarkov(self.altitude_errors.drift_m, self.altitude_errors.drift_time_s),
        )
