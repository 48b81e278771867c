"""Linear models: of a vehicle's continuous dynamics at trim, and of a flight's closed loop.

Continuous, with the states of ``AbstractDynamics.body_states`` and those of the actuators: p' = v,
theta' = omega + theta x omega / 2 for the rotation vector theta (q = q_0 exp(theta), in body axes),
and the rates of the dynamics. The velocity is in body axes.

Sampled: one step of the whole vehicle, x[k+1] = F(x[k], u[k]), at a state of a flight. x holds the
floating-point numbers of the state of dynamics, sensors, estimator, guidance and controllers, u the
setpoint, held over the period. Random numbers are those of that step. Other vehicles and the world
are as in that step, too.

Both are differentiated by JAX in double precision. At a kink, such as a saturation that is just
reached, a derivative is one-sided; beyond it, it is that of the saturated system.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import lcm
from os import PathLike
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.analysis.command_input import CommandInput
from kittiwake.analysis.coordinates import Coordinates, numbers
from kittiwake.analysis.linear_model import LinearModel, signals
from kittiwake.analysis.state_space import reached_states
from kittiwake.analysis.trim import (
    SETPOINT,
    Trim,
    assemble,
    command_inputs,
    rates_by_name,
    surroundings,
)
from kittiwake.core.arguments import SECONDS, VEHICLE_NAME, WHOLE, checked_arguments
from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import CommandChoice, MotorsOff
from kittiwake.core.errors import ScenarioError, described_value, did_you_mean
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Kinematics, motion_columns
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import (
    POSITION,
    ROTATION,
    ContinuousState,
    StateRates,
    deviated,
)
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.plain_python.hosts import hosts
from kittiwake.sim.state import FleetState, VehicleState

WITHOUT_EFFECT = "without effect on outputs"
# steps of a sampled period, beyond which it is refused
MOST_STEPS = 100_000

# a vector of any length
Vector = Float[Array, " _"]


@checked_arguments(vehicle=VEHICLE_NAME, at_s=SECONDS, steps=WHOLE)
def linearize(
    point: Trim | Scenario | str | PathLike[str] | Mapping[str, Any] | Any,
    *,
    command_type: type | None = None,
    vehicle: str | None = None,
    at_s: float | None = None,
    steps: int | None = None,
) -> LinearModel:
    """Return the linear model at a trim, or of the closed loop of a scenario.

    Args:
        point: a steady state from ``trim``, for the continuous dynamics from the actuator command;
            or a scenario, for the sampled closed loop from the setpoint: also by its name or file,
            as ``load`` takes it, or that of a ``Simulation``.
        command_type: the type of the command whose numbers are the inputs at a trim, such as
            ``kw.ThrustTorque``; the actuator command by default. Controllers below it, such as
            the mixer, are part of the model, and may have no states.
        vehicle: the vehicle of a scenario; the only one by default.
        at_s: the time of the flight with the scenario's own guidance, seed and noise, after which
            the loop is linearized; its whole duration by default.
        steps: the physics steps of a period; by default as few as all controllers and the
            estimator require to run at the same times in each.

    Raises:
        ScenarioError: for anything else, if there is no such vehicle or it follows no setpoint
            then, or if the command type has no controllers without states below it.
    """
    if isinstance(point, Trim):
        # independent of the floating-point mode of the caller
        with jax.enable_x64(True):  # noqa: FBT003  JAX's own
            return linearize_dynamics(point, command_type)
    scenario = _scenario(point)
    if command_type is not None:
        message = (
            f"`command_type`: got {command_type!r} with a scenario, whose input is the setpoint of "
            "its guidance; leave it out, or linearize a steady state, such as kw.trim(...)"
        )
        raise ScenarioError(message)
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        return SampledLoop.at(scenario, vehicle, at_s, steps).linearize()


def _scenario(point: object) -> Scenario:
    """Return the scenario to linearize.

    Raises:
        ScenarioError: for anything else.
    """
    given, name = described_value(point), "vehicle"
    if isinstance(point, str | PathLike | Mapping):
        try:
            return Scenario.load(point)
        except ScenarioError:
            if not _is_model(point):
                raise
        given, name = f"the vehicle model '{point}'", f"'{point}'"
    else:
        # of a simulation, which is above this module
        scenario = getattr(point, "scenario", point)
        if isinstance(scenario, Scenario):
            return scenario
    message = (
        f"`point`: got {given}; must be a steady state, such as kw.trim({name}), or a scenario, "
        "such as 'hover-hummingbird'"
    )
    raise ScenarioError(message)


def _is_model(name: object) -> bool:
    """Return True for the name of a vehicle model."""
    if not isinstance(name, str):
        return False
    try:
        assemble(name, None)
    except ScenarioError:
        return False
    return True


def linearize_dynamics(trim: Trim, command_type: type | None = None) -> LinearModel:
    """Return the model of the continuous dynamics, from a command to the motion."""
    given = CommandInput.of(trim, command_type)
    dynamics, inputs = trim.dynamics, given.coordinates
    states = (*dynamics.body_states, *trim.actuators)

    def state_at(x: Vector) -> ContinuousState:
        deviation = dict(zip(states, x, strict=True))
        motion = deviated(as_arrays(trim.start.kinematics()), deviation)
        steady = dynamics.steady_actuators(trim.command)
        moved = {name: value + deviation[f"act_{name}"] for name, value in steady.items()}
        return ContinuousState(motion, moved)

    def rates_and_outputs(x: Vector, u: Vector) -> tuple[Vector, Vector]:
        state = state_at(x)
        command = given.actuator_command(u, state.motion)
        around = surroundings(trim.world, dynamics, state)
        rates = dynamics.rates(state, command, around)
        deviation = dict(zip(states, x, strict=True))
        slopes = _slopes(state, rates, deviation)
        shown = outputs(
            replace(state.motion, angular_velocity_body_radps=rates.turning_body_radps),
            state.actuators,
        )
        return _stacked({name: slopes[name] for name in states}), _stacked(shown)

    origin = jnp.zeros(len(states)), jnp.zeros(len(inputs.names))
    drift, shown = jax.jit(rates_and_outputs)(*origin)
    (a, b), (c, d) = jax.jit(jax.jacfwd(rates_and_outputs, argnums=(0, 1)))(*origin)
    names = (*motion_names(), *trim.actuators)
    point = {**numbers(names, shown), **_command_numbers(inputs, given.command)}
    return LinearModel(
        *map(np.asarray, (a, b, c, d)),
        states=signals(states),
        inputs=signals(inputs.names),
        outputs=signals(names),
        drift=numbers(states, drift),
        operating_point=point,
        left_out=dynamics.states_without_rates(),
    )


def outputs(motion: Kinematics, actuators: Mapping[str, Real]) -> dict[str, Real]:
    """Return position, ZYX angles, velocity in the world, body rates and actuators by column."""
    columns = motion_columns(motion)
    euler = motion.euler_world_from_body
    angles = {f"{name}_rad": getattr(euler, f"{name}_rad") for name in ("roll", "pitch", "yaw")}
    return {
        **{name: value for name, value in columns.items() if name.endswith("_m")},
        **angles,
        **{name: value for name, value in columns.items() if name.endswith(("_mps", "_radps"))},
        **{f"act_{name}": value for name, value in actuators.items()},
    }


def motion_names() -> tuple[str, ...]:
    """Return the names of the outputs but for actuators."""
    return (
        *(f"{axis}_m" for axis in "xyz"),
        *(f"{angle}_rad" for angle in ("roll", "pitch", "yaw")),
        *(f"v{axis}_mps" for axis in "xyz"),
        *(f"w{axis}_radps" for axis in "xyz"),
    )


@dataclass(frozen=True, eq=False)
class SampledLoop:
    """Period of a flight from a state of one vehicle and its setpoint to its next state."""

    fleet: Fleet
    name: str
    state: FleetState
    setpoint: Any
    steps: int

    @classmethod
    def at(
        cls, scenario: Scenario, name: str | None, at_s: float | None, steps: int | None
    ) -> "SampledLoop":
        """Return the loop after a part of the flight."""
        name = _vehicle_name(scenario, name)
        own = _control_steps(scenario.vehicles[name]) if steps is None else steps
        if not 1 <= own <= MOST_STEPS:
            message = f"`steps`: got {own}; must be from 1 to {MOST_STEPS}"
            raise ScenarioError(message)
        until_s = scenario.duration_s if at_s is None else float(at_s)
        if not 0.0 <= until_s <= scenario.duration_s:
            message = (
                f"`at_s`: got {until_s:g}; must be a time of the flight, at least 0 and at most "
                f"{scenario.duration_s:g}"
            )
            raise ScenarioError(message)
        fleet = _smooth_fleet(scenario)
        # the period begins where all its components are due
        count = max(1, round(until_s * scenario.rate_hz / own)) * own
        group, index = fleet.locate(name)

        def fly(begin: FleetState) -> tuple[FleetState, Any]:
            reached = fleet.rollout(begin, count)[0]
            return reached, fleet.step(reached)[1][group].setpoint

        state, setpoints = jax.jit(fly)(
            jax.jit(lambda key: fleet.init(key))(seed_key(scenario.seed))
        )
        setpoint = jax.tree.map(lambda leaf: leaf[index], setpoints)
        if isinstance(setpoint, CommandChoice):
            setpoint = setpoint.commands[int(setpoint.index)]
        if isinstance(setpoint, MotorsOff):
            message = f"`at_s`: at {count / scenario.rate_hz:g} s the motors of '{name}' are off"
            raise ScenarioError(message)
        return cls(fleet, name, state, setpoint, own)

    def linearize(self) -> LinearModel:
        """Return the linear model of the period."""
        states, inputs = self.coordinates()
        ahead = self.after()

        def period(x: Vector, u: Vector) -> tuple[Vector, Vector]:
            return self.period(states, inputs, ahead, x, u)

        origin = jnp.zeros(len(states.names)), jnp.zeros(len(inputs.names))
        (a, b), (c, d) = jax.jit(jax.jacfwd(period, argnums=(0, 1)))(*origin)
        a, b, c, d = (np.asarray(matrix) for matrix in (a, b, c, d))
        drift = np.asarray(states.deviation(self._own(self.state), ahead))
        kept = np.flatnonzero(reached_states(a.T, c.T)).tolist()
        others = [n for i, n in enumerate(states.names) if i not in kept]
        shown = self._outputs(self._own(self.state))
        kept_names = [states.names[i] for i in kept]
        return LinearModel(
            A=a[np.ix_(kept, kept)],
            B=b[kept],
            C=c[:, kept],
            D=d,
            states=signals(kept_names),
            inputs=signals(inputs.names),
            outputs=signals([*shown]),
            period_s=self.steps * self.fleet.dt_s,
            drift=numbers(kept_names, drift[kept]),
            operating_point=numbers([*shown], np.asarray(_stacked(shown)))
            | _command_numbers(inputs, self.setpoint),
            left_out={**states.left_out, **dict.fromkeys(others, WITHOUT_EFFECT)},
        )

    def coordinates(self) -> tuple[Coordinates, Coordinates]:
        """Return the coordinates of the vehicle's state and of its setpoint."""
        return (
            Coordinates.of(self._own(self.state)),
            command_inputs(self.setpoint, prefix=SETPOINT),
        )

    def after(self) -> VehicleState:
        """Return the state of the vehicle after the period."""
        reached = jax.jit(lambda state: self._later(state, self.setpoint))(self.state)
        return self._own(reached)

    def period(
        self, states: Coordinates, inputs: Coordinates, ahead: VehicleState, x: Vector, u: Vector
    ) -> tuple[Vector, Vector]:
        """Return the deviation after the period, and the outputs at its beginning."""
        own = states.deviated(self._own(self.state), x)
        later = self._later(self._with_own(own), inputs.deviated(self.setpoint, u))
        return states.deviation(ahead, self._own(later)), _stacked(self._outputs(own))

    def _own(self, state: FleetState) -> VehicleState:
        """Return the state of the vehicle."""
        group, index = self.fleet.locate(self.name)
        return jax.tree.map(lambda leaf: leaf[index], state.groups[group])

    def _with_own(self, own: VehicleState) -> FleetState:
        """Return the state of all vehicles with another one of the vehicle."""
        group, index = self.fleet.locate(self.name)
        whole = jax.tree.map(
            lambda leaf, new: leaf.at[index].set(new), self.state.groups[group], own
        )
        groups = (*self.state.groups[:group], whole, *self.state.groups[group + 1 :])
        return replace(self.state, groups=groups)

    def _later(self, state: FleetState, setpoint: Any) -> FleetState:
        def once(_: Any, now: FleetState) -> FleetState:
            return self.fleet.advance(now, {self.name: setpoint})

        return jax.lax.fori_loop(0, self.steps, once, state)

    def _outputs(self, own: VehicleState) -> dict[str, Real]:
        group, index = self.fleet.locate(self.name)
        dynamics = self.fleet.groups[group].member(index).dynamics
        return outputs(dynamics.kinematics(own.dynamics), dynamics.actuators(own.dynamics))


def _vehicle_name(scenario: Scenario, name: str | None) -> str:
    """Return the name of the vehicle, that of the only one by default."""
    names = [*scenario.vehicles]
    if name is None and len(names) == 1:
        return names[0]
    if name is None or name not in names:
        given = "is missing" if name is None else f"got {name}"
        message = (
            f"`vehicle`: {given}; must be one of the scenario. {did_you_mean(name or '', names)}"
        )
        raise ScenarioError(message)
    return name


def _smooth_fleet(scenario: Scenario) -> Fleet:
    """Return the fleet of a scenario.

    Raises:
        ScenarioError: if a part of its step cannot be differentiated.
    """
    fleet = scenario.fleet()
    for vehicle, components in hosts(fleet).items():
        for host in components.values():
            message = (
                f"{host.title} of '{vehicle}' is plain Python, which cannot be differentiated; "
                "write it as a component in JAX (examples/own_component.py)"
            )
            raise ScenarioError(message)
    if fleet.engine is None and fleet.renderer is None:
        return fleet
    what = "the pictures of cameras" if fleet.engine is None else "contact by MuJoCo"
    message = f"{what} cannot be differentiated; write physics: compliant, and leave out cameras"
    raise ScenarioError(message)


def _control_steps(vehicle: AssembledVehicle) -> int:
    """Return the physics steps after which estimator, guidance and controllers repeat."""
    parts = (vehicle.estimator, vehicle.guidance, *vehicle.cascade, *vehicle.avoidance)
    return lcm(*(part.every for part in parts))


def _slopes(
    state: ContinuousState, rates: StateRates, deviation: Mapping[str, Real]
) -> dict[str, Real]:
    """Return the rate of each state by name."""
    turning = rates.turning_body_radps
    theta = Vec3.of([deviation.get(name, 0.0) for name in ROTATION])
    rotation = turning + theta.cross(turning) * 0.5
    vectors = {POSITION: state.motion.velocity_world_mps, ROTATION: rotation}
    moving = {
        name: getattr(vector, axis)
        for names, vector in vectors.items()
        for name, axis in zip(names, "xyz", strict=True)
    }
    actuators = {f"act_{name}": rate for name, rate in rates.actuators.items()}
    return rates_by_name(rates) | moving | actuators


def _command_numbers(inputs: Coordinates, command: Any) -> dict[str, float]:
    """Return the numbers of a command by input; those of rotations are zero."""
    zero = jax.tree.map(jnp.zeros_like, as_arrays(command))
    return numbers(inputs.names, np.asarray(inputs.deviation(zero, as_arrays(command))))


def _stacked(values: Mapping[str, Real]) -> Vector:
    return jnp.stack([jnp.asarray(value, float) for value in values.values()])
