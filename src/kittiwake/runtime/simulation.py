"""A scenario in a person's hands: fly it, step it with an own controller, or take its functions."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, Literal

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.analysis.flock import flock_metrics
from kittiwake.analysis.log import Log
from kittiwake.analysis.summary import FlownVehicle, summarize
from kittiwake.analysis.survey import survey_metrics
from kittiwake.analysis.table import Table
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.runtime.flight_executor import CompiledExecutor, FlightExecutor
from kittiwake.runtime.loop import Flight, FlightOutcome, Memory
from kittiwake.runtime.program import Program
from kittiwake.runtime.stepper import Commands, Observation, Stepper
from kittiwake.scenario.document import Override
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.tuning import tuned
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState, Snapshot
from kittiwake.tasks.task_commander import fleet_of, task_metrics

Precision = Literal["float64", "float32"]


class Simulation:
    """One scenario, loaded.

    ``run`` flies it to the end. ``reset``, ``observe`` and ``step`` let a controller in plain
    Python fly it. ``init``, ``advance`` and ``rollout`` are pure functions of the state for use
    inside ``jax.jit``, ``vmap`` and ``grad``.
    """

    def __init__(self, scenario: Scenario, precision: Precision = "float64") -> None:
        if precision not in ("float64", "float32"):
            message = f"precision {precision!r} is not allowed; write 'float64' or 'float32'"
            raise ValueError(message)
        self.scenario = scenario
        self.precision = precision
        self.fleet: Fleet = fleet_of(scenario, single_precision=self._is_single)
        self.program = self._program()
        self._stepper: Stepper | None = None

    @override
    def __repr__(self) -> str:
        """The scenario in a line."""
        scenario = self.scenario
        return (
            f"<Simulation '{scenario.name}': {len(self.names)} vehicles, {scenario.duration_s:g} s "
            f"at {scenario.rate_hz:g} Hz, seed {scenario.seed}, {self.precision}>"
        )

    @property
    def dt_s(self) -> float:
        """The physics step."""
        return self.fleet.dt_s

    @property
    def names(self) -> tuple[str, ...]:
        """The vehicles' names in the order of the scenario."""
        return tuple(self.scenario.vehicles)

    def init(self, key: PRNGKeyArray) -> FleetState:
        """The state at the start, drawn with a key such as ``kw.seed_key(0)``; pure."""
        return self.fleet.init(key)

    def advance(self, state: FleetState, commands: Commands | None = None) -> FleetState:
        """The state one step later; commands by vehicle replace what guidance asks for; pure."""
        return self.fleet.advance(state, commands)

    def rollout(
        self,
        state: FleetState,
        steps: int,
        select: Callable[[tuple[Snapshot, ...]], Any] = lambda snapshots: snapshots,
    ) -> tuple[FleetState, Any]:
        """``steps`` steps, and what ``select`` keeps of each group's snapshots, by time; pure."""
        return self.fleet.rollout(state, steps, select)

    def run(self, duration_s: Real | None = None, seed: int | None = None) -> Log:
        """Flies from the start to the end and returns the log, with its summary.

        Args:
            duration_s: simulated time, the scenario's if not given.
            seed: of every random stream, the scenario's if not given.
        """
        flight = self.flight(duration_s, seed)
        memory = Memory()
        outcome = flight.fly(memory)
        return self.finished_log(flight, outcome, memory)

    def flight(
        self,
        duration_s: Real | None = None,
        seed: int | None = None,
        executor: FlightExecutor | None = None,
    ) -> Flight:
        """A flight ready to be flown into a sink, on its own unless an executor is given.

        Raises:
            ScenarioError: if it would have no step, or no room for its log.
        """
        if duration_s is not None:
            duration_s = _duration(duration_s)
        self.scenario.check_flight(duration_s)
        return Flight(
            executor=executor or CompiledExecutor(self.program),
            seed=self.scenario.seed if seed is None else seed,
            duration_s=self.scenario.duration_s if duration_s is None else duration_s,
            log_every=self.scenario.log_every,
            fails_when_lost=self.scenario.fails_when_lost,
        )

    def finished_log(self, flight: Flight, outcome: FlightOutcome, memory: Memory) -> Log:
        """What a flight into memory gave, with its summary."""
        layout = flight.layout
        tables = {
            name: Table(layout.columns[name], memory.values(name), layout.quantities[name])
            for name in self.names
        }
        log = Log(tables, tuple(outcome.events), self.scenario.document.data)
        return replace(log, summary=self.summary(log, flight, outcome))

    def summary(self, log: Log, flight: Flight, outcome: FlightOutcome) -> dict[str, Any]:
        """What ``summary.json`` says of a flight."""
        summary = summarize(
            log,
            scenario=self.scenario.name,
            seed=flight.seed,
            precision=self.precision,
            status=outcome.status,
            reason=outcome.reason,
            duration_s=outcome.steps / self.fleet.rate_hz,
            steps=outcome.steps,
            wall_s=outcome.wall_s,
            compile_s=outcome.compile_s,
            vehicles={name: _flown(vehicle) for name, vehicle in self.scenario.vehicles.items()},
        )
        summarized = replace(log, summary=summary)
        summary["metrics"] |= survey_metrics(summarized, self.scenario, flight.seed)
        summary["metrics"] |= flock_metrics(summarized, self.scenario)
        summary["metrics"] |= task_metrics(self.scenario, flight.state)
        return summary

    def set_gains(self, vehicle: str, controller: str, **gains: Any) -> None:
        """Changes gains of a vehicle's controller, in flight as well as before.

        A loop of ``step`` goes on without a jump of what the controllers remember. Flights by
        ``run`` and the pure functions take the new gains when they are called the next time. Of an
        entry with a ``count`` all vehicles change.

        Args:
            vehicle: its name under ``vehicles`` in the scenario.
            controller: one that it has, named in the scenario or brought by the vehicle.
            gains: by the names that the scenario knows them by, also in other units.

        Raises:
            ScenarioError: for a gain that is not allowed, or not in flight, or a controller that
                it does not have.
        """
        scenario = tuned(self.scenario, vehicle, controller, gains)
        fleet = fleet_of(scenario, single_precision=self._is_single)
        if self._stepper is not None:
            self._stepper.retune(fleet)
        self.scenario, self.fleet = scenario, fleet
        self.program = self._program()

    def reset(self, seed: int | None = None) -> dict[str, Observation]:
        """Back to the start, with another seed if given; what each vehicle sees there."""
        if self._stepper is None:
            self._stepper = Stepper(self.fleet, self.scenario.vehicles)
        self._stepper.reset(self.scenario.seed if seed is None else seed)
        return self.observe()

    def observe(self) -> dict[str, Observation]:
        """What each vehicle is, sees and believes now."""
        return self._started().observe()

    def step(self, commands: Commands | None = None) -> None:
        """One physics step; vehicles without a command follow the scenario's guidance.

        Raises:
            CommandError: for an unknown vehicle, or a command that it cannot take.
            LadderError: for a signal from which no controller leads to the vehicle's native one.
        """
        self._started().step(commands or {})

    def begin_step(self, vehicle: str, step: str) -> None:
        """Makes a vehicle leave what it does for another step of its mission, by name.

        It begins with the next ``step()``; those that follow it in the mission then follow.

        Raises:
            CommandError: if there is no such vehicle, or no such step in its mission.
        """
        self._started().begin_step(vehicle, step)

    def switch(self, vehicle: str, behaviors: Sequence[str]) -> None:
        """Makes only these of a vehicle's behaviors count, from the next ``step()`` on.

        They are named by their kinds, as in ``["separation", "cohesion"]``; the second one of a
        kind has a number, as ``targeting-2``.

        Raises:
            CommandError: if there is no such vehicle, or it has no such behavior.
        """
        self._started().switch(vehicle, behaviors)

    @property
    def _is_single(self) -> bool:
        return self.precision == "float32"

    def _program(self) -> Program:
        """What ``run`` flies: of a task the return counts there, which costs a loop of steps."""
        fleet = fleet_of(self.scenario, single_precision=self._is_single, scored=True)
        return Program(fleet, self.names)

    def _started(self) -> Stepper:
        if self._stepper is None:
            self.reset()
        assert self._stepper is not None
        return self._stepper


def load(
    scenario: str | PathLike[str],
    overrides: Mapping[str, Any] | None = None,
    precision: Precision = "float64",
) -> Simulation:
    """Loads a library scenario by name, or a YAML file.

    Args:
        scenario: a library name or the path of a file.
        overrides: values by path, such as ``{"vehicles.pelican.start.yaw_deg": 90}``.
        precision: the floating-point format to compute in; single precision suits large batches.

    Warns:
        UserWarning: if it draws numbers for the episodes of a task, which no flight does.

    Raises:
        ScenarioError: one line for each mistake, with file and line.
    """
    _refuse_other(scenario, str | PathLike, "scenario", "a library name or a file's path")
    example = 'a mapping such as {"vehicles.pelican.start.yaw_deg": 90}'
    _refuse_other(overrides, Mapping | None, "overrides", example)
    items = [Override.from_python(str(path), value) for path, value in (overrides or {}).items()]
    loaded = load_scenario(fspath(scenario), items)
    for said in loaded.undrawn():
        warnings.warn(said, UserWarning, stacklevel=2)
    return Simulation(loaded, precision)


def _flown(vehicle: Vehicle) -> FlownVehicle:
    guidance = vehicle.guidance.component
    return FlownVehicle(vehicle.model, guidance.tracked, guidance.planned_legs())


def _refuse_other(given: object, kind: Any, name: str, wanted: str) -> None:
    if not isinstance(given, kind):
        message = f"{name} {given!r} is not allowed; give {wanted}"
        raise ScenarioError(message)


def _duration(duration_s: Any) -> float:
    if isinstance(duration_s, str | bool) or not hasattr(duration_s, "__float__"):
        message = f"duration_s {duration_s!r} is not allowed; give seconds, such as 20"
        raise ScenarioError(message)
    return float(duration_s)
