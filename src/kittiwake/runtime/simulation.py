"""Simulation: run a scenario, step it with a custom controller, or use its pure functions."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import jax
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.analysis.flown_scenario import portable
from kittiwake.analysis.log import Log
from kittiwake.analysis.run_folder import run_folder, save_picture
from kittiwake.core.arguments import (
    FILE,
    FUNCTION,
    SECONDS,
    TEXT,
    VEHICLE_NAME,
    WHOLE,
    ArgumentRule,
    checked_arguments,
)
from kittiwake.core.errors import ScenarioError, StateError
from kittiwake.core.parameters import Parameters
from kittiwake.core.precision import Precision
from kittiwake.geometry.scalar import Real
from kittiwake.runtime.batch import Batch
from kittiwake.runtime.checkpoint import (
    CheckpointWriter,
    checkpoint_steps,
    require_scenario,
    require_unfinished,
    resume_flight,
)
from kittiwake.runtime.commands import Commands
from kittiwake.runtime.engine import EngineName, require_engine
from kittiwake.runtime.flight_executor import BLOCK_STEPS, CompiledExecutor, FlightExecutor
from kittiwake.runtime.flight_record import FlownFlight, Memory
from kittiwake.runtime.flight_results import FlightResults
from kittiwake.runtime.loop import Flight
from kittiwake.runtime.observation import Observations
from kittiwake.runtime.placement import require_room
from kittiwake.runtime.program import Program
from kittiwake.runtime.pure_functions import PureFunctions
from kittiwake.runtime.recorded_flight import fly_into
from kittiwake.runtime.step_score import StepScore
from kittiwake.runtime.stepper import RecordSettings, Stepper
from kittiwake.scenario.definition import Vehicle
from kittiwake.scenario.randomization import drawn, is_randomized, parts_of
from kittiwake.scenario.scenario import RANDOMIZE, Scenario
from kittiwake.scenario.scenario_html import scenario_html
from kittiwake.scenario.tuning import with_gains
from kittiwake.scenario.vehicle_changes import (
    require_new_name,
    with_vehicle,
    with_vehicles_of,
    without_vehicle,
)
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.plain_python.hosts import with_hosts_of, with_new_hosts
from kittiwake.sim.state import FleetState, Snapshot
from kittiwake.tasks.task_commander import commander_of, is_scored

SCENARIO = ArgumentRule(
    lambda value: isinstance(value, Scenario),
    "a kw.Scenario",
    lambda value: f"kw.load({value!r})" if isinstance(value, str) else "",
)
VEHICLE = ArgumentRule(
    lambda value: isinstance(value, Vehicle | Mapping),
    "a kw.Vehicle, or a mapping as in a scenario file",
    lambda value: f"kw.Vehicle(model={value!r})" if isinstance(value, str) else "",
)
KEY = ArgumentRule(
    lambda value: isinstance(value, jax.Array),
    "a key, such as kw.seed_key(0)",
    lambda value: f"kw.seed_key({value})" if WHOLE.allows(value) else "",
)
STATE = ArgumentRule(
    lambda value: isinstance(value, FleetState), "a state, such as sim.init(kw.seed_key(0))"
)
SAVED = FILE._replace(allowed="the path of a file that sim.save has written", error=StateError)
UNTIL_DONE_IN_STEPS = (
    "time.until_done has no effect on step(): `done` is True after time.duration_s, by default an "
    "hour, and in run() when all guidance is done"
)


class Simulation:
    """Simulation of one scenario.

    ``run`` flies it to the end. ``reset``, ``observe`` and ``step`` let a controller in plain
    Python fly it. ``init``, ``advance`` and ``rollout`` are pure functions of the state for use
    inside ``jax.jit``, ``vmap`` and ``grad``. Called outside of these they are compiled, and run in
    the simulation's precision whatever JAX's mode is.

    A scenario with ``randomize`` draws its values anew for each seed. The pure functions fly the
    scenario as it is written.

    Attributes:
        engine: what compiles ``run`` and ``step``; None for the one that suits the scenario.
        flown: the scenario that a loop of ``step`` flies: with the values that its seed draws, and
            the vehicles that have been removed in flight.
    """

    @checked_arguments("Simulation", scenario=SCENARIO)
    def __init__(
        self,
        scenario: Scenario,
        precision: Precision = "float64",
        engine: EngineName | None = None,
    ) -> None:
        if precision not in ("float64", "float32"):
            message = f"`precision`: got {precision!r}; must be 'float64' or 'float32'"
            raise ValueError(message)
        self.precision: Precision = precision
        self.engine: EngineName | None = require_engine(engine)
        parts_of(scenario, RANDOMIZE)
        self._set(scenario, self._fleet(scenario))
        self._stepper: Stepper | None = None
        self._score: StepScore | None = None
        # of a loop of ``step``: its seed, its scenario with drawn values, and the same with the
        # vehicles that have been removed
        self._seed = scenario.seed
        self._stepped = self.flown = scenario

    @override
    def __repr__(self) -> str:
        return f"<Simulation {self.scenario.summary_line()}, {self.precision}>"

    def _repr_html_(self) -> str:
        return scenario_html(self.scenario, "Simulation", {"precision": self.precision})

    @property
    def dt_s(self) -> float:
        """The physics step in seconds."""
        return self.fleet.dt_s

    @property
    def names(self) -> tuple[str, ...]:
        """The vehicles' names in the order of the scenario."""
        return tuple(self.scenario.vehicles)

    @checked_arguments(key=KEY)
    def init(self, key: PRNGKeyArray) -> FleetState:
        """Return the initial state, drawn with a key such as ``kw.seed_key(0)``; pure."""
        return self._functions.init(key)

    @checked_arguments(state=STATE)
    def advance(self, state: FleetState, commands: Commands | None = None) -> FleetState:
        """Return the next state; commands by vehicle replace those of guidance; pure."""
        return self._functions.advance(state, commands)

    @checked_arguments(state=STATE, steps=WHOLE, select=FUNCTION)
    def rollout(
        self,
        state: FleetState,
        steps: int,
        select: Callable[[tuple[Snapshot, ...]], Any] = lambda snapshots: snapshots,
    ) -> tuple[FleetState, Any]:
        """Advance by ``steps`` steps; pure.

        Args:
            state: the state to begin with.
            steps: number of physics steps.
            select: returns the values to keep of each step, from the groups' snapshots.

        Returns:
            The last state, and the kept values with time as leading axis.
        """
        return self._functions.rollout(state, steps, select)

    @checked_arguments(count=WHOLE, seed=WHOLE)
    def batch(self, count: int, seed: int | None = None) -> Batch:
        """Return many worlds of the scenario at their start, to be stepped together.

        Args:
            count: number of worlds.
            seed: seed of the first world, from which those of the others count up; the scenario's
                by default.

        Raises:
            ValueError: for less than one world.
            ScenarioError: if a component in plain Python flies, which cannot be batched, or a
                flight would end when its guidance is done.
        """
        if count < 1:
            message = f"`count`: got {count}; must be at least 1"
            raise ValueError(message)
        if self.scenario.until_done:
            message = "`time.until_done`: worlds of a batch fly equally long; write duration_s"
            raise ScenarioError(message)
        first = self.scenario.seed if seed is None else seed
        seeds = range(first, first + count)
        if not is_randomized(self.scenario):
            return Batch(self.program, seeds, [self.program.numbers])
        programs = [self.drawn(own).program for own in seeds]
        _require_one_structure(programs)
        return Batch(programs[0], seeds, [program.numbers for program in programs])

    def drawn(self, seed: int) -> "Simulation":
        """Return the simulation with the values that a seed draws; itself without ``randomize``.

        ``run``, ``reset`` and ``batch`` draw by themselves.

        Raises:
            ScenarioError: for values that cannot be drawn, or that cannot be flown.
        """
        if not is_randomized(self.scenario):
            return self
        return Simulation(drawn(self.scenario, seed), self.precision, self.engine)

    @checked_arguments(duration_s=SECONDS, out=FILE, progress=FUNCTION, checkpoint_every_s=SECONDS)
    def run(
        self,
        duration_s: Real | None = None,
        seed: int | None = None,
        out: str | PathLike[str] | None = None,
        progress: Callable[[float], None] = lambda _: None,
        checkpoint_every_s: Real | None = None,
    ) -> Log:
        """Fly from the start to the end and return the log, with its summary.

        Args:
            duration_s: simulated time; the scenario's by default.
            seed: seed of all random streams; the scenario's by default.
            out: folder for scenario, log, summary and picture, as ``kittiwake run`` writes them;
                the log is written as it is flown. By default nothing is written.
            progress: called with the simulated time in seconds after each block of steps.
            checkpoint_every_s: simulated time between checkpoints in ``out``, from which
                ``kw.resume`` continues a run that was cut off; by default none is written. One is
                written after the block of steps in which it is due, unless that is the last one. A
                block has 500 steps, or those of a shorter interval.

        Raises:
            ScenarioError: if the flight would have no step, or its log would be too large.
            LogError: if the folder cannot be written, or holds files that no run has written.
            OwnComponentError: if checkpoints are requested and a component in plain Python has no
                ``state()``.
        """
        if checkpoint_every_s is not None and (out is None or not checkpoint_every_s > 0.0):
            message = (
                f"`checkpoint_every_s`: got {checkpoint_every_s!r}; must be a positive number of "
                "seconds, with a folder `out`"
            )
            raise ScenarioError(message)
        seed = self.scenario.seed if seed is None else seed
        if (simulation := self.drawn(seed)) is not self:
            return simulation.run(duration_s, seed, out, progress, checkpoint_every_s)
        flight = self.flight(duration_s, seed, checkpoint_every_s=checkpoint_every_s)
        if out is None:
            memory = Memory()
            flight.fly(memory, progress)
            return self.finished_log(flight, memory)
        with run_folder(Path(out), self.scenario) as folder:
            if checkpoint_every_s is not None:
                every_s = float(checkpoint_every_s)
                flight.after_block = CheckpointWriter(folder, self.program.fleet, every_s)
            log = fly_into(self, flight, folder, progress)
            save_picture(log, folder)
        return log

    @checked_arguments(folder=FILE, progress=FUNCTION, checkpoint_every_s=SECONDS)
    def resume(
        self,
        folder: str | PathLike[str],
        progress: Callable[["Flight"], Callable[[float], None]] = lambda _: lambda _: None,
        checkpoint_every_s: Real | None = None,
    ) -> Log:
        """Continue a run of this scenario from the checkpoint in its folder to its end.

        The log is bit for bit that of a run that was not interrupted.

        Args:
            folder: the folder of the run.
            progress: called with the flight, and its result with the simulated time after each
                block.
            checkpoint_every_s: simulated time between checkpoints; as before by default.

        Raises:
            LogError: if there is no run in the folder, or it cannot be written.
            StateError: if the run is complete, has no checkpoint, or the checkpoint does not fit.
        """
        unfinished = require_unfinished(Path(folder))
        seed, duration_s = unfinished.seed, unfinished.duration_s
        if (simulation := self.drawn(seed)) is not self:
            return simulation.resume(folder, progress, checkpoint_every_s)
        require_scenario(Path(folder), portable(self.scenario, seed, duration_s))
        with run_folder(Path(folder), self.scenario) as run:
            given_s = unfinished.every_s if checkpoint_every_s is None else checkpoint_every_s
            flight = self.flight(duration_s, seed, checkpoint_every_s=given_s)
            flown = resume_flight(flight, self.program.fleet, run)
            every_s = flown.every_s if checkpoint_every_s is None else float(checkpoint_every_s)
            fleet = self.program.fleet
            flight.after_block = CheckpointWriter(run, fleet, every_s, continues=True)
            log = fly_into(self, flight, run, progress(flight), before=flown.rows)
            save_picture(log, run)
        return log

    @checked_arguments(duration_s=SECONDS)
    def flight(
        self,
        duration_s: Real | None = None,
        seed: int | None = None,
        executor: FlightExecutor | None = None,
        checkpoint_every_s: Real | None = None,
    ) -> Flight:
        """Return a flight ready to be flown into a sink, by its own executor unless one is given.

        It flies the scenario as it is written; ``drawn`` returns that of a seed. Blocks of its own
        executor are not longer than the time between checkpoints.

        Raises:
            ScenarioError: if the flight would have no step, or its log would be too large.
        """
        if duration_s is not None:
            duration_s = float(duration_s)
        self.scenario.check_flight(duration_s)
        most_steps = BLOCK_STEPS
        if checkpoint_every_s is not None:
            most_steps = checkpoint_steps(float(checkpoint_every_s), self.scenario.rate_hz)
        return Flight(
            executor=executor or CompiledExecutor(self.program, most_steps=most_steps),
            seed=self.scenario.seed if seed is None else seed,
            duration_s=self.scenario.duration_s if duration_s is None else duration_s,
            log_every=self.scenario.log_every,
            fails_when_lost=self.scenario.fails_when_lost,
            until_done=self.scenario.until_done,
        )

    def finished_log(self, flight: FlownFlight, memory: Memory) -> Log:
        """Return the log of a flight into memory, with its summary."""
        return self._results.log(flight, memory)

    def summary(self, log: Log, flight: FlownFlight) -> Parameters:
        """Return the contents of a flight's ``summary.json``."""
        return self._results.summary(log, flight)

    @checked_arguments(vehicle=VEHICLE_NAME, controller=TEXT)
    def set_gains(self, vehicle: str, controller: str, **gains: Any) -> None:
        """Change gains of a vehicle's controller, before or during a flight.

        A loop of ``step`` continues with the states of its controllers. ``run`` and the pure
        functions use the new gains from their next call on. For an entry with a ``count`` all its
        vehicles change.

        Args:
            vehicle: name of the entry under ``vehicles`` in the scenario.
            controller: one of the vehicle's controllers, from the scenario or built into the model.
            gains: new values by their names in the scenario, also in other units.

        Raises:
            ScenarioError: for a gain that is not allowed or cannot change in flight, or for a
                controller that the vehicle does not have.
        """
        scenario = with_gains(self.scenario, vehicle, controller, gains)
        stepped = drawn(scenario, self._seed)
        fleet = with_hosts_of(self._fleet(scenario), self.fleet)
        if self._stepper is not None:
            own = fleet if stepped is scenario else self._fleet(stepped)
            self._stepper.set_parameters(own, stepped.vehicles)
        flown = with_vehicles_of(stepped, self.flown)
        self._set(scenario, fleet)
        self._score = None
        self._stepped, self.flown = stepped, flown

    @checked_arguments(name=VEHICLE_NAME, vehicle=VEHICLE)
    def add_vehicle(self, name: str, vehicle: Vehicle | Mapping[str, Any]) -> Observations:
        """Add a vehicle to a loop of ``step``; it begins at its start, now.

        Its guidance, components and faults count their time from now on, and its random streams
        follow from the seed and its name. So it flies as it would from the beginning of a flight.
        The others continue with their states. ``scenario`` is then the one with the vehicle,
        so that ``reset`` and ``run`` begin with it, and ``log`` has a table of the time it flew.

        Args:
            name: its name, or that of an entry with a ``count``.
            vehicle: the vehicle, or a mapping as in a scenario file.

        Returns:
            The observation of each vehicle, by name.

        Raises:
            ScenarioError: if the name was used before in this flight, the vehicle is not allowed or
                would be lost at its start, or the scenario has a task.
            CommandError: if another vehicle is too close to its start.
        """
        stepper = self._running_stepper()
        require_new_name(self.flown, name)
        scenario = with_vehicle(self.scenario, name, vehicle)
        flown = with_vehicles_of(drawn(scenario, self._seed), self.flown)
        added = {key: own for key, own in scenario.vehicles.items() if key not in self.names}
        require_room(scenario.world, added, stepper.positions())
        self._change_vehicles(scenario, flown)
        return self.observe()

    @checked_arguments(name=VEHICLE_NAME)
    def remove_vehicle(self, name: str) -> Observations:
        """Remove a vehicle from a loop of ``step``; the others continue with their states.

        ``log`` keeps its table up to now.

        Args:
            name: its name, or that of its entry if that has a ``count``.

        Returns:
            The observation of each vehicle that is left, by name.

        Raises:
            ScenarioError: if there is no such vehicle or no other one, if another vehicle depends
                on it, or if the scenario has a task.
        """
        stepper = self._running_stepper()
        scenario = without_vehicle(self.scenario, name)
        gone = [own for own in self.names if own not in scenario.vehicles]
        flown = self.flown
        if not any(map(stepper.has_flown, gone)):
            flown = without_vehicle(flown, name)
        self._change_vehicles(scenario, flown)
        return self.observe()

    def _change_vehicles(self, scenario: Scenario, flown: Scenario) -> None:
        fleet, stepped = self._fleet(scenario), drawn(scenario, self._seed)
        own = fleet if stepped is scenario else self._fleet(stepped)
        self._running_stepper().change_vehicles(with_new_hosts(own), stepped.vehicles)
        self._set(scenario, fleet)
        self._stepped, self.flown = stepped, flown

    @checked_arguments()
    def reset(self, seed: int | None = None, *, record: bool = True) -> Observations:
        """Return to the start, and return the observations there.

        Args:
            seed: seed of all random streams; the scenario's by default.
            record: False to keep no rows for ``log``, which saves memory in long loops.
        """
        if self.scenario.until_done:
            # past the checks of the arguments
            warnings.warn(UNTIL_DONE_IN_STEPS, UserWarning, stacklevel=3)
        seed = self.scenario.seed if seed is None else seed
        stepped = drawn(self.scenario, seed)
        fleet = self.fleet if stepped is self.scenario else self._fleet(stepped)
        if self._stepper is None or stepped is not self.scenario:
            # apart from the pure functions, whose flight may be another one
            self._stepper = Stepper(with_new_hosts(fleet), stepped.vehicles, self.engine)
        recording = self._recording(record=record)
        self._seed, self._stepped, self.flown = seed, stepped, stepped
        self._stepper.reset(seed, recording)
        # without the commander of a task nothing is scored
        self._score = None
        if record and self.program.fleet.commander is not None:
            scored = self.program.fleet
            scored = scored if stepped is self.scenario else self._fleet(stepped, scored=True)
            self._score = StepScore(scored, stepped, seed)
        return self.observe()

    def observe(self) -> Observations:
        """Return the observation of each vehicle, by name."""
        return self._running_stepper().observe()

    @property
    def time_s(self) -> float:
        """Simulated time of a loop of ``step``."""
        return self._running_stepper().time_s

    @property
    def done(self) -> bool:
        """True once a loop of ``step`` has reached the end of the scenario, or ended early.

        It ends early where ``run`` does: if a state is not finite, or if a vehicle is lost and the
        scenario calls that a failure.
        """
        return self._running_stepper().done(self.scenario)

    def log(self) -> Log:
        """Return the log of a loop of ``step`` up to now, as ``run`` returns it.

        Its rows are those of ``run`` to rounding. The last one holds the command of the step to
        come, for which copies of components in plain Python are called; where they cannot be
        copied, the log ends with the step before. For the return of a task the commands are flown
        again; it is None after changes beside commands, such as those of ``set_state``.

        Raises:
            LogError: if nothing was recorded, since ``reset`` was called with ``record=False``.
        """
        flight, memory = self._running_stepper().flown()
        if self._score is not None:
            flight = replace(flight, state=self._score.state())
        return FlightResults(self._stepped, self.flown, self.precision).log(flight, memory)

    @checked_arguments(path=FILE)
    def save(self, path: str | PathLike[str]) -> None:
        """Write the state of a loop of ``step`` into a file, from which ``restore`` continues.

        The file is a NumPy archive, readable by ``numpy.load``.

        Raises:
            LogError: if the file cannot be written.
            OwnComponentError: if a component in plain Python has no ``state()``.
        """
        self._running_stepper().save(Path(path), self.scenario.name)

    @checked_arguments(path=SAVED)
    def restore(self, path: str | PathLike[str]) -> Observations:
        """Continue a loop of ``step`` from a file that ``save`` has written.

        The flight that follows is bit for bit that of the saved simulation; its log begins here.
        Parameters may differ from those of the saved one, vehicles and components may not.

        Raises:
            StateError: if the file is no such file, or holds the state of other vehicles or
                components.
        """
        self._score = None
        self._running_stepper().restore(Path(path), self._recording(record=True))
        self.flown = self._stepped
        return self.observe()

    @property
    def state(self) -> FleetState:
        """State of a loop of ``step``, as the pure functions take it; it can be set.

        Its leaves are arrays of JAX; those of NumPy may be set as well. Outside of JAX's 64-bit
        mode JAX's functions round them to float32, which is refused: change them with NumPy.

        Time follows the state; if it jumps, the log begins there. Components in plain Python have
        their states apart from it, and continue with ``save`` and ``restore`` alone.
        """
        return self._running_stepper().state

    @state.setter
    def state(self, state: FleetState) -> None:
        self._running_stepper().set_state(state)
        self._score = None

    @checked_arguments(vehicle=VEHICLE_NAME)
    def set_state(self, vehicle: str, **motion: Any) -> None:
        """Place a vehicle of a loop of ``step`` elsewhere, or in another motion.

        What is not given stays as it is. Its actuators, sensors, estimator and controllers begin
        anew there; its guidance and all random streams continue.

        Args:
            vehicle: its name.
            motion: keys of a scenario's ``start``, such as ``position_world_m=[0, 0, 5]`` and
                ``yaw_deg=90``.

        Raises:
            CommandError: if there is no such vehicle, or if it would be lost there.
            ScenarioError: if there is no such key, or its value is not allowed.
        """
        self._running_stepper().place(self._stepped, vehicle, motion)
        self._score = None

    def step(self, commands: Commands | None = None) -> Observations:
        """Advance by a physics step; vehicles without a command follow the scenario's guidance.

        Returns:
            The observation of each vehicle, by name; computed when first used.

        Raises:
            CommandError: for an unknown vehicle, or a command that it does not accept.
            CascadeError: for a command type from which no controller of the vehicle leads to its
                actuator command.
            OwnComponentError: if a controller in plain Python raises an exception, or returns
                something else than a command.
        """
        stepper = self._running_stepper()
        given = {} if commands is None else commands
        stepper.step(given)
        if self._score is not None:
            self._score.add(given)
        return stepper.observe()

    @checked_arguments(vehicle=VEHICLE_NAME, step=TEXT)
    def jump_to_mission_step(self, vehicle: str, step: str) -> None:
        """Make a vehicle jump to another step of its mission, by name.

        It begins with the next ``step()``, and the mission continues from there.

        Raises:
            CommandError: if there is no such vehicle, or no such step in its mission.
        """
        self._running_stepper().jump_to_mission_step(vehicle, step)
        self._score = None

    @checked_arguments(vehicle=VEHICLE_NAME)
    def set_active_behaviors(self, vehicle: str, behaviors: Sequence[str]) -> None:
        """Activate only these of a vehicle's behaviors, from the next ``step()`` on.

        They are named by their types, as in ``["separation", "cohesion"]``; the second one of a
        type has a number, as ``targeting-2``.

        Raises:
            CommandError: if there is no such vehicle, or it has no such behavior.
        """
        self._running_stepper().set_active_behaviors(vehicle, behaviors)
        self._score = None

    @property
    def _results(self) -> FlightResults:
        return FlightResults(self.scenario, self.flown, self.precision)

    def _set(self, scenario: Scenario, fleet: Fleet) -> None:
        self.scenario, self.fleet = scenario, fleet
        # the program of ``run`` scores a task, which is too slow for ``step``
        scored = (
            self._fleet(scenario, scored=True) if is_scored(scenario) else with_new_hosts(fleet)
        )
        self.program = Program(scored, scenario.vehicles, engine=self.engine)
        self._functions = PureFunctions(fleet)

    def _fleet(self, scenario: Scenario, *, scored: bool = False) -> Fleet:
        single = self.precision == "float32"
        commander = commander_of(scenario, single_precision=single, scored=scored)
        return scenario.fleet(commander, single_precision=single)

    def _recording(self, *, record: bool) -> RecordSettings | None:
        scenario = self.scenario
        return RecordSettings(scenario.log_every, scenario.fails_when_lost) if record else None

    def _running_stepper(self) -> Stepper:
        if self._stepper is None:
            self.reset()
        assert self._stepper is not None
        return self._stepper


def _require_one_structure(programs: Sequence[Program]) -> None:
    """Check that the fleets of a batch differ in their numbers alone.

    Raises:
        ScenarioError: if they do not.
    """
    if any(not programs[0].fits(program.fleet) for program in programs[1:]):
        message = (
            "randomize: its values change more than numbers, such as components or whether a "
            "number is zero; such worlds cannot fly in one batch, but one after another"
        )
        raise ScenarioError(message)
