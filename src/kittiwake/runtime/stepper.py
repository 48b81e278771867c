"""Stepper for a Python loop: its observations and compiled functions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias

import jax
import numpy as np
from jax.tree_util import DictKey
from jaxtyping import Array

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.errors import (
    ControllerError,
    ScenarioError,
    UnknownSensorError,
    did_you_mean,
)
from kittiwake.core.kinematics import Kinematics
from kittiwake.interfaces.estimator import Uncertainty
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.commands import (
    Commands,
    CommandTypes,
    command_values,
    commands_from_values,
    require_cascade,
)
from kittiwake.runtime.host_failures import first_failure, forget_failures, watched
from kittiwake.runtime.live_parameters import cascade_parameters
from kittiwake.runtime.program import Program
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.packing import Packing, RowPacking
from kittiwake.sim.state import FleetState

# floats and words of a state
PackedState: TypeAlias = tuple[Array, Array]


class BySensor(dict[str, Any]):
    """Dictionary by sensor name, whose errors suggest the nearest name."""

    def __missing__(self, name: str) -> NoReturn:
        """Raise an error that suggests the nearest name."""
        message = f"there is no sensor {name!r}. {did_you_mean(str(name), list(self))}"
        raise UnknownSensorError(message)


def _flatten(by_sensor: BySensor) -> tuple[list[tuple[Any, ArrayTree]], tuple[str, ...]]:
    names = tuple(sorted(by_sensor))
    return [(DictKey(name), by_sensor[name]) for name in names], names


def _unflatten(names: tuple[str, ...], values: Iterable[ArrayTree]) -> BySensor:
    return BySensor(zip(names, values, strict=True))


# JAX flattens subclasses of dict only if they are registered
jax.tree_util.register_pytree_with_keys(BySensor, _flatten, _unflatten)


class Observation(NamedTuple):
    """Observation of one vehicle, in plain numbers.

    Attributes:
        time_s: simulated time.
        estimate: the estimated state, which a controller may use.
        measurements: the latest measurement of each sensor, by name.
        fresh: by sensor, True if the measurement is from this step.
        truth: the true state.
        valid: False once the vehicle is lost.
        phase: the part of the vehicle's task, in words.
        uncertainty: the estimator's uncertainty; None if it has none.
    """

    time_s: float
    estimate: Kinematics
    measurements: BySensor
    fresh: BySensor
    truth: Kinematics
    valid: bool
    phase: str
    uncertainty: Uncertainty | None


class Stepper:
    """Stepper of one fleet, whose state is packed into two arrays."""

    def __init__(self, fleet: Fleet, vehicles: Mapping[str, AssembledVehicle]) -> None:
        # the numbers of the cascades are compiled in, too, until a gain is changed
        self._compile(Program(fleet, vehicles))

    def reset(self, seed: int) -> None:
        """Return to the start."""
        state = self._program.start(seed)
        forget_failures(self._program.fleet)
        with self._program.precision_context():
            self._floats, self._words = self._pack(state)
        self._tick = 0

    def step(self, commands: Commands) -> None:
        """Advance by one physics step."""
        program = self._program
        numbers = np.asarray(command_values(commands, program.vehicles), dtype=self._floats.dtype)
        command_types = tuple((name, type(command)) for name, command in commands.items())
        if command_types not in self._accepted:
            require_cascade(command_types, program.vehicles)
            self._accepted.add(command_types)
        arguments = (program.parameters, self._floats, self._words, numbers, command_types)
        with program.precision_context():
            if program.on_host:
                self._floats, self._words = self._advance_watched(arguments)
            else:
                self._floats, self._words = self._advance(*arguments)
        self._tick += 1

    def _advance_watched(
        self, arguments: tuple[ArrayTree, Array, Array, np.ndarray, CommandTypes]
    ) -> PackedState:
        """Advance with controllers in plain Python, whose errors are those of the step.

        Raises:
            ControllerError: if a controller has failed.
        """
        fleet = self._program.fleet
        with watched(fleet):
            later = jax.block_until_ready(self._advance(*arguments))
        failure = first_failure(fleet)
        if failure is not None:
            raise ControllerError(failure.reason()) from failure.cause
        return later

    def jump_to_mission_step(self, vehicle: str, step: str) -> None:
        """Make a vehicle begin a step of its mission with the next physics step."""
        self._change(lambda fleet, state: fleet.jump_to_mission_step(state, vehicle, step))

    def set_active_behaviors(self, vehicle: str, behaviors: Sequence[str]) -> None:
        """Activate only these of a vehicle's behaviors, from the next physics step on."""
        self._change(lambda fleet, state: fleet.with_active_behaviors(state, vehicle, behaviors))

    def observe(self) -> dict[str, Observation]:
        """Return the observation of each vehicle."""
        program = self._program
        with program.precision_context():
            seen = self._see(program.parameters, self._floats, self._words)
            groups = [np.asarray(rows) for rows in seen]
        time_s = self._tick / program.fleet.rate_hz
        observations: dict[str, Observation] = {}
        for name, (g, index) in program.indices.items():
            shown = self._packings[g].unpack(groups[g][index])
            estimate, samples, truth, valid, phase, uncertainty = shown
            measurements = {sensor: sample.measurement for sensor, sample in samples.items()}
            fresh = {sensor: sample.fresh for sensor, sample in samples.items()}
            observations[name] = Observation(
                time_s=time_s,
                estimate=estimate,
                measurements=BySensor(measurements),
                fresh=BySensor(fresh),
                truth=truth,
                valid=valid,
                phase=self._phases[g][int(phase or 0)],
                uncertainty=uncertainty,
            )
        return observations

    def set_parameters(self, fleet: Fleet, vehicles: Mapping[str, AssembledVehicle]) -> None:
        """Continue with a fleet that differs only in the parameters of its control cascades.

        The first call compiles again, with those parameters as arguments; later calls take no time.

        Raises:
            ScenarioError: if the state of the former fleet does not fit this one.
        """
        if self._program.fits(fleet):
            self._program.set_parameters(fleet, vehicles)
            return
        program = Program(fleet, vehicles, live=cascade_parameters)
        if Packing.of(program.shape) != self._packing:
            message = (
                "this changes the controller's state, as its rate and filters do, and is not "
                "possible in flight; set it before reset()"
            )
            raise ScenarioError(message)
        self._compile(program)

    def _compile(self, program: Program) -> None:
        self._program = program
        self._accepted: set[CommandTypes] = set()
        self._phases = [g.vehicle.guidance.component.phases() for g in program.fleet.groups]
        self._packing = Packing.of(program.shape)
        with program.precision_context():
            looked = jax.eval_shape(self._observed, program.parameters, program.shape)
            self._packings = [RowPacking.of(group) for group in looked]
            self._pack: Callable[[FleetState], PackedState] = jax.jit(self._packing.pack)
            self._see = jax.jit(self._packed_observations)
            self._advance = jax.jit(self._advanced, static_argnums=4)

    def _change(self, change: Callable[[Fleet, FleetState], FleetState]) -> None:
        """Continue with a changed state."""
        with self._program.precision_context():
            state = self._packing.unpack(self._floats, self._words)
            self._floats, self._words = self._pack(change(self._program.fleet, state))

    def _observed(self, parameters: ArrayTree, state: FleetState) -> tuple[ArrayTree, ...]:
        snapshots = self._program.step(parameters, self._program.inputs.zeros(), state)[1]
        return tuple(
            (s.estimate, s.samples, s.truth, s.status == 0, s.phase, s.uncertainty)
            for s in snapshots
        )

    def _packed_observations(
        self, parameters: ArrayTree, floats: Array, words: Array
    ) -> list[Array]:
        looked = self._observed(parameters, self._packing.unpack(floats, words))
        seen = zip(self._packings, looked, strict=True)
        return [packing.pack(group, floats.dtype) for packing, group in seen]

    def _advanced(
        self,
        parameters: ArrayTree,
        floats: Array,
        words: Array,
        numbers: Array,
        command_types: CommandTypes,
    ) -> PackedState:
        program, state = self._program, self._packing.unpack(floats, words)
        if not command_types:
            return self._packing.pack(program.step(parameters, program.inputs.zeros(), state)[0])
        commands = commands_from_values(command_types, numbers, program.vehicles)
        return self._packing.pack(program.with_parameters(parameters).advance(state, commands))
