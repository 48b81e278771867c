"""A scenario in a person's hands: fly it, step it with an own controller, or take its functions."""

import json
from collections.abc import Callable, Iterable, Mapping
from os import PathLike, fspath
from typing import Any, Literal, NamedTuple

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from kittiwake.analysis.log import Log
from kittiwake.analysis.summary import Flown, summarise
from kittiwake.analysis.table import Table
from kittiwake.core.errors import ScenarioError, UnknownSensorError, did_you_mean
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.vehicle import Vehicle
from kittiwake.geometry.scalar import Real
from kittiwake.runtime.commands import Kinds, commands_of, numbers_of, refuse_dead_ends
from kittiwake.runtime.loop import Flight, Memory, Outcome
from kittiwake.runtime.program import Program
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.packing import Packing, RowPacking
from kittiwake.sim.state import FleetState, Snapshot

Precision = Literal["float64", "float32"]
Commands = Mapping[str, Any]


class BySensor(dict[str, Any]):
    """What there is of each sensor, by name; another name is refused with the nearest one."""

    def __missing__(self, name: object) -> Any:
        """Refuses a name that no sensor has."""
        message = f"there is no sensor {name!r}. {did_you_mean(str(name), list(self))}"
        raise UnknownSensorError(message)


def _parts(by_sensor: BySensor) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
    names = tuple(sorted(by_sensor))
    return [(jax.tree_util.DictKey(name), by_sensor[name]) for name in names], names


def _joined(names: Any, values: Iterable[Any]) -> BySensor:
    return BySensor(zip(names, values, strict=True))


# JAX takes a dictionary apart, and a subclass only if it is told how
jax.tree_util.register_pytree_with_keys(BySensor, _parts, _joined)


class Observation(NamedTuple):
    """What one vehicle is, sees and believes now; in plain numbers.

    ``estimate`` is what a controller may use, ``measurements`` what the sensors say by name, or
    said last where ``fresh`` is False, and ``truth`` what only a simulator knows. ``valid`` turns
    False when the vehicle is lost.
    """

    time_s: float
    estimate: Kinematics
    measurements: BySensor
    fresh: BySensor
    truth: Kinematics
    valid: bool


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
        self.fleet: Fleet = scenario.fleet(single_precision=precision == "float32")
        self._program = Program(self.fleet, self.names)
        self._stepper: _Stepper | None = None

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

    def flight(self, duration_s: Real | None = None, seed: int | None = None) -> Flight:
        """A flight ready to be flown into a sink.

        Raises:
            ScenarioError: if it would have no step, or no room for its log.
        """
        if duration_s is not None:
            duration_s = _duration(duration_s)
        self.scenario.check_flight(duration_s)
        return Flight(
            program=self._program,
            seed=self.scenario.seed if seed is None else seed,
            duration_s=self.scenario.duration_s if duration_s is None else duration_s,
            log_every=self.scenario.log_every,
            fails_when_lost=self.scenario.fails_when_lost,
        )

    def finished_log(self, flight: Flight, outcome: Outcome, memory: Memory) -> Log:
        """What a flight into memory gave, with its summary."""
        layout = flight.layout
        tables = {
            name: Table(layout.columns[name], memory.values(name), layout.quantities[name])
            for name in self.names
        }
        log = Log(tables, tuple(outcome.events), self.scenario.document.data)
        return Log(log.tables, log.events, log.scenario, self.summary(log, flight, outcome))

    def summary(self, log: Log, flight: Flight, outcome: Outcome) -> dict[str, Any]:
        """What ``summary.json`` says of a flight."""
        return summarise(
            log,
            scenario=self.scenario.name,
            seed=flight.seed,
            status=outcome.status,
            reason=outcome.reason,
            duration_s=outcome.steps / self.fleet.rate_hz,
            steps=outcome.steps,
            wall_s=outcome.wall_s,
            compile_s=outcome.compile_s,
            vehicles={name: _flown(vehicle) for name, vehicle in self.scenario.vehicles.items()},
        )

    def reset(self, seed: int | None = None) -> dict[str, Observation]:
        """Back to the start, with another seed if given; what each vehicle sees there."""
        if self._stepper is None:
            self._stepper = _Stepper(self.fleet, self.scenario.vehicles)
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

    def _started(self) -> "_Stepper":
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

    Raises:
        ScenarioError: one line for each mistake, with file and line.
    """
    _refuse_other(scenario, str | PathLike, "scenario", "a library name or a file's path")
    example = 'a mapping such as {"vehicles.pelican.start.yaw_deg": 90}'
    _refuse_other(overrides, Mapping | None, "overrides", example)
    items = [f"{path}={_written(value)}" for path, value in (overrides or {}).items()]
    return Simulation(load_scenario(fspath(scenario), items), precision)


def _flown(vehicle: Vehicle) -> Flown:
    guidance = vehicle.guidance.component
    return Flown(vehicle.model, guidance.tracked, guidance.planned_legs())


def _refuse_other(given: object, kind: Any, name: str, wanted: str) -> None:
    if not isinstance(given, kind):
        message = f"{name} {given!r} is not allowed; give {wanted}"
        raise ScenarioError(message)


def _duration(duration_s: Any) -> float:
    if isinstance(duration_s, str | bool) or not hasattr(duration_s, "__float__"):
        message = f"duration_s {duration_s!r} is not allowed; give seconds, such as 20"
        raise ScenarioError(message)
    return float(duration_s)


class _Stepper:
    """Steps one simulation from a Python loop, its state packed into two arrays."""

    def __init__(self, fleet: Fleet, vehicles: Mapping[str, Vehicle]) -> None:
        self.fleet = fleet
        self._vehicles = vehicles
        self._accepted: set[Kinds] = set()
        with self._mode():
            self._init = jax.jit(lambda key: fleet.init(key))
            shape = jax.eval_shape(fleet.init, seed_key(0))
            self._packing = Packing.of(shape)
            # traced once, for what it leads to and for what there is to see at it
            self._step = jax.jit(lambda state: fleet.step(state))
            self._seen = [RowPacking.of(group) for group in jax.eval_shape(self._look, shape)]
            self._pack = jax.jit(self._packing.pack)
            self._see = jax.jit(self._sight)
            self._advance = jax.jit(self._advanced, static_argnums=3)
        self._places = {name: fleet.place(name) for name in fleet.names}

    def reset(self, seed: int) -> None:
        with self._mode():
            self._floats, self._words = self._pack(self._init(seed_key(seed)))
        self._tick = 0

    def step(self, commands: Commands) -> None:
        numbers = np.asarray(numbers_of(commands, self._vehicles), dtype=self._floats.dtype)
        kinds = tuple((name, type(signal)) for name, signal in commands.items())
        if kinds not in self._accepted:
            refuse_dead_ends(kinds, self._vehicles)
            self._accepted.add(kinds)
        with self._mode():
            self._floats, self._words = self._advance(self._floats, self._words, numbers, kinds)
        self._tick += 1

    def observe(self) -> dict[str, Observation]:
        with self._mode():
            groups = [np.asarray(rows) for rows in self._see(self._floats, self._words)]
        time_s = self._tick / self.fleet.rate_hz
        observations: dict[str, Observation] = {}
        for name, (g, lane) in self._places.items():
            estimate, samples, truth, valid = self._seen[g].unpack(groups[g][lane])
            measurements = {sensor: sample.measurement for sensor, sample in samples.items()}
            fresh = {sensor: sample.fresh for sensor, sample in samples.items()}
            observations[name] = Observation(
                time_s, estimate, BySensor(measurements), BySensor(fresh), truth, valid
            )
        return observations

    def _mode(self) -> Any:
        return jax.enable_x64(not self.fleet.single_precision)

    def _look(self, state: FleetState) -> Any:
        snapshots = self._step(state)[1]
        return tuple((s.estimate, s.samples, s.truth, s.status == 0) for s in snapshots)

    def _sight(self, floats: Any, words: Any) -> list[Any]:
        seen = zip(self._seen, self._look(self._packing.unpack(floats, words)), strict=True)
        return [packing.pack(group, floats.dtype) for packing, group in seen]

    def _advanced(self, floats: Any, words: Any, numbers: Any, kinds: Kinds) -> tuple[Any, Any]:
        state = self._packing.unpack(floats, words)
        if not kinds:
            return self._packing.pack(self._step(state)[0])
        return self._packing.pack(self.fleet.advance(state, commands_of(kinds, numbers)))


def _written(value: Any) -> str:
    """A Python value as it is written in a file."""
    if isinstance(value, np.ndarray | np.generic):
        return _written(value.tolist())
    if isinstance(value, Mapping):
        pairs = (f"{_written(str(key))}: {_written(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    # JSON is YAML: text in quotes stays text, whatever it looks like
    return json.dumps(
        value if value is None or isinstance(value, bool | int | float) else str(value),
        ensure_ascii=False,
    )
