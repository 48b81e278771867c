"""Trim: the steady state of a vehicle, and the command that holds it.

Newton's method solves f(x, u) = 0 for the attitude and the command u, where f are the rates of the
attitude, the velocity and the body rates (``AbstractDynamics.rates``), at a given position and
velocity without rotation. A vessel also finds its heading, and its sinkage where it has one. Steps
have the smallest norm (``newton``), so that a vehicle with more actuators than needed stays close
to equal ones.

The world is that of the beginning of the flight, without gusts, decks and other vehicles. A wind
that changes with height is that at the position.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.analysis.coordinates import Coordinates, numbers
from kittiwake.analysis.newton import newton
from kittiwake.core.arguments import NUMBER, VECTOR, ArgumentRule, checked_arguments
from kittiwake.core.arrays import as_arrays
from kittiwake.core.columns import from_columns, to_columns
from kittiwake.core.errors import ScenarioError, TrimError, described_value
from kittiwake.core.html import column_table, fact_table, heading
from kittiwake.core.kinematics import Start
from kittiwake.core.specification import ComponentSpec
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import (
    POSITION,
    RATES,
    ROTATION,
    VELOCITY,
    ContinuousState,
    StateRates,
)
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module, field
from kittiwake.scenario.definition import Vehicle, World
from kittiwake.scenario.scenario import IN_PYTHON, Scenario
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.waves import WAVES
from kittiwake.world.world import WorldModel

# largest rate of a steady state, in SI units
TOLERANCE = 1e-9
# height over the ground where a flying vehicle is trimmed by default
CLEAR_M = 10.0
# shares of the command's range at which the search begins, after that of a vehicle switched off
SHARES = (0.5, 0.75)
# no vehicle's feet or shafts are too fast for this rate, at which nothing is stepped
BUILD_RATE_HZ = 1e5
NAME = "vehicle"
# beginnings of the names of actuator commands, and of other commands
COMMAND, SETPOINT = "cmd_", "setpoint."
UNITS = {
    **dict.fromkeys(ROTATION, "rad/s"),
    **dict.fromkeys(VELOCITY, "m/s2"),
    **dict.fromkeys(RATES, "rad/s2"),
}

Tree = TypeVar("Tree")
# a vector of any length
Vector = Float[Array, " _"]


@dataclass(frozen=True, eq=False)
class Trim:
    """Steady state of a vehicle and its command.

    Attributes:
        vehicle: the vehicle.
        world: the world.
        start: position, attitude and velocity, as a scenario's ``start`` takes them.
        command: the actuator command.
        actuators: states of the actuators by log column.
        residual: the remaining rates of the states by name, in SI units.
    """

    vehicle: AssembledVehicle = dataclasses.field(repr=False)
    world: WorldModel = dataclasses.field(repr=False)
    start: Start
    command: Any
    actuators: dict[str, float]
    residual: dict[str, float]

    def _repr_html_(self) -> str:
        place = {f"start.{name}": value for name, value in to_columns(self.start).items()}
        command = {f"cmd_{name}": value for name, value in to_columns(self.command).items()}
        rows = [
            (name, f"{float(value):.6g}")
            for name, value in {**place, **command, **self.actuators}.items()
        ]
        facts = {"largest rate": f"{max(map(abs, self.residual.values()), default=0.0):.2g}"}
        return (
            heading("Trim", self.vehicle.model)
            + fact_table(facts)
            + column_table(("number", "value"), rows)
        )

    @property
    def dynamics(self) -> AbstractDynamics:
        """Dynamics of the vehicle."""
        return self.vehicle.dynamics


class TrimProblem(Module):
    """Equations of a steady state, and the values that are given.

    The unknowns are ``free`` of the start, in this order, and deviations from ``command``.
    """

    dynamics: AbstractDynamics
    world: WorldModel
    start: Start
    command: Module
    inputs: Coordinates = field(static=True)
    free: tuple[str, ...] = field(static=True)

    def start_at(self, unknowns: Vector) -> Start:
        """Return the start with its free values."""
        values = dict(zip(self.free, unknowns, strict=False))
        start = self.start
        if "z_m" in values:
            place = replace(start.position_world_m, z=values.pop("z_m"))
            start = replace(start, position_world_m=place)
        return replace(start, **values)

    def command_at(self, unknowns: Vector) -> Module:
        """Return the command."""
        deviation = unknowns[len(self.free) :]
        return self.inputs.deviated(self.command, deviation)

    def residual(self, unknowns: Vector) -> Vector:
        """Return the rates that vanish in a steady state."""
        return self._rates(self.start_at(unknowns), self.command_at(unknowns))

    def limited_residual(self, unknowns: Vector) -> Vector:
        """Return the rates with the command within its bounds."""
        command = self.dynamics.limit_command(self.command_at(unknowns))
        return self._rates(self.start_at(unknowns), command)

    def _rates(self, start: Start, command: Module) -> Vector:
        motion = start.kinematics()
        state = ContinuousState(motion, self.dynamics.steady_actuators(command))
        around = surroundings(self.world, self.dynamics, state)
        by_name = rates_by_name(self.dynamics.rates(state, command, around))
        return jnp.stack([jnp.asarray(by_name[name], float) for name in self.equations])

    @property
    def equations(self) -> tuple[str, ...]:
        """Names of the states whose rates vanish."""
        return tuple(name for name in self.dynamics.body_states if name not in POSITION)


@checked_arguments(
    world=ArgumentRule(lambda value: isinstance(value, World | WorldModel), "a kw.World"),
    position_world_m=VECTOR,
    velocity_world_mps=VECTOR,
    yaw_rad=NUMBER,
)
def trim(
    vehicle: str | Vehicle | ComponentSpec | AssembledVehicle,
    world: World | WorldModel | None = None,
    *,
    position_world_m: Sequence[float] | Vec3 | None = None,
    velocity_world_mps: Sequence[float] | Vec3 = (0.0, 0.0, 0.0),
    yaw_rad: float | None = None,
) -> Trim:
    """Return the steady state of a vehicle at a velocity, and the command that holds it.

    Args:
        vehicle: a model's name, such as ``"hummingbird"``, the model with parameters, or a vehicle
            of a scenario, of which only the dynamics count.
        world: its world; still air over flat ground by default.
        position_world_m: position; 10 m over the ground, or on the water, by default.
        velocity_world_mps: velocity over ground.
        yaw_rad: heading, 0 by default. A vessel finds its own: this is where the search begins, by
            default along the velocity.

    Raises:
        TrimError: if there is no steady state within the command's bounds and the model's limits;
            says which rates remain, and what is missing.
        ScenarioError: if vehicle or world are invalid.
    """
    assembled, model = assemble(vehicle, world)
    dynamics = assembled.dynamics
    start = _start(dynamics, model, position_world_m, velocity_world_mps, yaw_rad)
    _check_world(model, dynamics, start)
    # independent of the floating-point mode of the caller
    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        best = min(
            (_solve(problem) for problem in _problems(dynamics, model, start)),
            key=_Solution.rank,
        )
        return _checked(best, assembled)


def assemble(
    vehicle: object, world: World | WorldModel | None
) -> tuple[AssembledVehicle, WorldModel]:
    """Return the vehicle and the world as built."""
    written = Vehicle(model="rigid-body")
    if isinstance(vehicle, str):
        written = Vehicle(model=vehicle)
    elif isinstance(vehicle, ComponentSpec):
        written = Vehicle(dynamics=vehicle)
    elif isinstance(vehicle, Vehicle):
        # sensors and others may require more of the world and of the rate than is known here
        written = Vehicle(model=vehicle.model, dynamics=vehicle.dynamics)
    elif not isinstance(vehicle, AssembledVehicle):
        message = (
            f"`vehicle`: got {described_value(vehicle)}; must be the name of a model, such as "
            "'hummingbird', or a kittiwake.Vehicle"
        )
        raise ScenarioError(message)
    try:
        scenario = Scenario(
            None if isinstance(world, WorldModel) else world,
            {NAME: written},
            rate_hz=BUILD_RATE_HZ,
            duration_s=1.0,
        )
    except ScenarioError as error:
        # as the caller wrote it
        place = f"{IN_PYTHON}: vehicles.{NAME}"
        message = str(error).replace(f"{place}.model:", "`vehicle`:")
        message = message.replace(f"{place}.parameters.", "`vehicle`: ")
        raise ScenarioError(message) from None
    return (
        vehicle if isinstance(vehicle, AssembledVehicle) else scenario.vehicles[NAME],
        world if isinstance(world, WorldModel) else scenario.world,
    )


def surroundings(
    world: WorldModel, dynamics: AbstractDynamics, state: ContinuousState
) -> Surroundings:
    """Return the surroundings of a vehicle at the beginning of the flight, without others."""
    return world.surroundings(
        state.motion, dynamics.size_body_m, air_height_m=dynamics.air_height_m
    )


def rates_by_name(rates: StateRates) -> dict[str, Real]:
    """Return the rates of rotation, velocity and body rates by the name of the state."""
    vectors = {
        ROTATION: rates.turning_body_radps,
        VELOCITY: rates.velocity_rate_body_mps2,
        RATES: rates.angular_acceleration_body_radps2,
    }
    return {
        name: getattr(vector, axis)
        for names, vector in vectors.items()
        for name, axis in zip(names, "xyz", strict=True)
    }


def command_inputs(
    command: Module, given: Sequence[str] = (), prefix: str = COMMAND
) -> Coordinates:
    """Return the coordinates of a command, without given fields and those for feed-forward."""
    feed_forward = [one.name for one in fields(command) if one.default is not MISSING]
    return Coordinates.of(command, prefix, without=[*feed_forward, *given])


def _start(
    dynamics: AbstractDynamics,
    world: WorldModel,
    position: Sequence[float] | Vec3 | None,
    velocity: Sequence[float] | Vec3,
    yaw_rad: float | None,
) -> Start:
    along = _vector(velocity)
    if position is None:
        up = 0.0 if dynamics.is_vessel else float(world.ground_z_m) + CLEAR_M
        place = Vec3(0.0, 0.0, up)
    else:
        place = _vector(position)
    yaw = yaw_rad
    if yaw is None:
        yaw = float(np.arctan2(along.y, along.x)) if dynamics.is_vessel else 0.0
    return Start(place, yaw_rad=float(yaw), velocity_world_mps=along)


def _vector(given: Sequence[float] | Vec3) -> Vec3:
    return Vec3.of([float(part) for part in given])


def _check_world(world: WorldModel, dynamics: AbstractDynamics, start: Start) -> None:
    """Raise TrimError for a place where forces are not those of a steady state."""
    if WAVES in world.processes and dynamics.is_vessel:
        message = "there is no steady state in waves; leave `waves` out of the world"
        raise TrimError(message)
    if dynamics.is_vessel and start.velocity_world_mps.z != 0.0:
        message = (
            f"`velocity_world_mps`: got {start.velocity_world_mps.z:g} m/s upwards; a vessel stays "
            "on the water, write 0"
        )
        raise TrimError(message)
    reach = 0.0 if dynamics.reach_m is None else float(dynamics.reach_m)
    height = float(start.position_world_m.z) - float(world.ground_z_m)
    if not dynamics.is_vessel and height <= reach:
        message = (
            f"`position_world_m`: got {height:g} m over the ground; must be above {reach:.3g}, "
            "since trim is for a vehicle that touches nothing"
        )
        raise TrimError(message)


def _problems(dynamics: AbstractDynamics, world: WorldModel, start: Start) -> Iterator[TrimProblem]:
    """Return the same equations with different beginnings of the search."""
    free = [name for name in ("roll_rad", "pitch_rad") if _turns(dynamics, name)]
    if dynamics.is_vessel:
        free.append("yaw_rad")
        free += ["z_m"] if POSITION[2] in dynamics.body_states else []
    for command in _first_commands(dynamics):
        yield TrimProblem(
            dynamics=dynamics,
            world=world,
            start=as_arrays(start),
            command=as_arrays(command),
            inputs=command_inputs(command, given_fields(dynamics.off())),
            free=tuple(free),
        )


def _turns(dynamics: AbstractDynamics, angle: str) -> bool:
    rotation = {"roll_rad": ROTATION[0], "pitch_rad": ROTATION[1]}
    return rotation[angle] in dynamics.body_states


def _first_commands(dynamics: AbstractDynamics) -> Iterator[Module]:
    """Return commands from which Newton's method may converge."""
    off, given = dynamics.off(), given_fields(dynamics.off())
    yield off
    bounds = {
        name: (float(low), float(high))
        for name, (low, high) in dynamics.command_bounds.items()
        if np.isfinite([float(low), float(high)]).all()
    }
    for share in SHARES if bounds else ():
        inside = {
            name: low + share * (high - low)
            for name, (low, high) in bounds.items()
            if name not in given
        }
        yield from_columns(type(off), to_columns(off) | inside)


def given_fields(off: Module) -> list[str]:
    """Return the fields that are no means of control, such as a voltage: not zero when off."""
    numbers_off = {one.name: getattr(off, one.name) for one in fields(off)}
    return [
        name
        for name, value in numbers_off.items()
        if isinstance(value, int | float) and value != 0.0
    ]


@dataclass(frozen=True, eq=False)
class _Solution:
    problem: TrimProblem
    unknowns: np.ndarray
    rates: np.ndarray

    @property
    def size(self) -> float:
        return float(np.abs(self.rates).max())

    def rank(self) -> tuple[bool, bool, float]:
        """Return a key for sorting: steady states within bounds come first."""
        beyond = _beyond_bounds(self.problem.dynamics, self.command)
        return not self.size < TOLERANCE, bool(beyond), self.size

    @property
    def command(self) -> Module:
        return _plain(self.problem.command_at(jnp.asarray(self.unknowns)))


@jax.jit
def _residual_and_jacobian(
    problem: TrimProblem, unknowns: Vector
) -> tuple[Vector, Float[Array, "_ _"]]:
    return problem.residual(unknowns), jax.jacfwd(problem.residual)(unknowns)


@jax.jit
def _limited_residual(problem: TrimProblem, unknowns: Vector) -> Vector:
    return problem.limited_residual(unknowns)


def _solve(problem: TrimProblem) -> _Solution:
    """Return the result of Newton's method, converged or not."""
    begin = {name: float(getattr(problem.start, name, 0.0)) for name in problem.free}
    if "z_m" in begin:
        begin["z_m"] = float(problem.start.position_world_m.z)
    unknowns = np.array([*begin.values(), *[0.0] * len(problem.inputs.names)])

    def equations(unknowns: np.ndarray) -> tuple[Vector, Float[Array, "_ _"]]:
        return _residual_and_jacobian(problem, jnp.asarray(unknowns))

    unknowns, rates = newton(equations, unknowns)
    return _Solution(problem, unknowns, rates)


def _checked(solution: _Solution, vehicle: AssembledVehicle) -> Trim:
    """Return the steady state.

    Raises:
        TrimError: if it is none, or beyond the bounds of the command or the limits of the model.
    """
    problem, dynamics = solution.problem, vehicle.dynamics
    residual = numbers(problem.equations, solution.rates)
    start, command = _plain(problem.start_at(jnp.asarray(solution.unknowns))), solution.command
    velocity = start.velocity_world_mps
    what = f"{vehicle.model} at ({velocity.x:g}, {velocity.y:g}, {velocity.z:g}) m/s"
    if not solution.size < TOLERANCE:
        message = (
            f"{what}: no attitude and command within reach of the search hold this velocity. "
            f"Remaining: {_largest(residual)}; no command of type {type(command).__name__} "
            "balances it. Try another velocity, position or wind"
        )
        raise TrimError(message)
    beyond = _beyond_bounds(dynamics, command)
    if beyond:
        left = _limited_residual(problem, jnp.asarray(solution.unknowns))
        message = (
            f"{what}: a steady state requires {beyond}. With the command at its bounds remains "
            f"{_largest(numbers(problem.equations, np.asarray(left)))}"
        )
        raise TrimError(message)
    motion = start.kinematics()
    state = ContinuousState(motion, dynamics.steady_actuators(command))
    around = surroundings(problem.world, dynamics, state)
    for limit in map(_plain, dynamics.limits(dynamics.init(motion, around))):
        if not limit.is_satisfied:
            message = f"{what}: beyond the model's limits, {limit.violation()}"
            raise TrimError(message)
    actuators = {f"act_{name}": float(value) for name, value in state.actuators.items()}
    return Trim(vehicle, problem.world, start, command, actuators, residual)


def _plain(tree: Tree) -> Tree:
    return jax.tree.map(float, tree)


def _beyond_bounds(dynamics: AbstractDynamics, command: Module) -> str:
    """Return the numbers of a command that are out of bounds, with their bounds."""
    columns = to_columns(command)
    found: list[str] = []
    for name, (low, high) in dynamics.command_bounds.items():
        value, slack = float(columns[name]), TOLERANCE * max(1.0, abs(float(columns[name])))
        if not float(low) - slack <= value <= float(high) + slack:
            found.append(
                f"`{name}` of {value:.6g}, which must be from {float(low):g} to {float(high):g}"
            )
    return ", ".join(found)


def _largest(residual: dict[str, float]) -> str:
    """Return the largest rate in words."""
    name = max(residual, key=lambda one: abs(residual[one]))
    return f"{name} changes by {residual[name]:.3g} {UNITS[name]}"
