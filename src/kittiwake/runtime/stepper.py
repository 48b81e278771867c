"""Stepper for a Python loop: its observations and compiled functions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError, UnknownSensorError, did_you_mean
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Kinematics
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.runtime.commands import Kinds, command_values, commands_from_values, require_cascade
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.packing import Packing, RowPacking
from kittiwake.sim.state import FleetState

Commands = Mapping[str, Any]


class BySensor(dict[str, Any]):
    """Dictionary by sensor name, whose errors suggest the nearest name."""

    def __missing__(self, name: object) -> Any:
        """Raise an error that suggests the nearest name."""
        message = f"there is no sensor {name!r}. {did_you_mean(str(name), list(self))}"
        raise UnknownSensorError(message)


def _flatten(by_sensor: BySensor) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
    names = tuple(sorted(by_sensor))
    return [(jax.tree_util.DictKey(name), by_sensor[name]) for name in names], names


def _unflatten(names: Any, values: Iterable[Any]) -> BySensor:
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
    uncertainty: Any


class Stepper:
    """Stepper of one fleet, whose state is packed into two arrays."""

    def __init__(self, fleet: Fleet, vehicles: Mapping[str, Vehicle]) -> None:
        self._vehicles = vehicles
        self._indices = {name: fleet.locate(name) for name in fleet.names}
        self._compile(fleet)

    def reset(self, seed: int) -> None:
        """Return to the start."""
        with self._mode():
            self._floats, self._words = self._pack(self._init(seed_key(seed)))
        self._tick = 0

    def step(self, commands: Commands) -> None:
        """Advance by one physics step."""
        numbers = np.asarray(command_values(commands, self._vehicles), dtype=self._floats.dtype)
        kinds = tuple((name, type(command)) for name, command in commands.items())
        if kinds not in self._accepted:
            require_cascade(kinds, self._vehicles)
            self._accepted.add(kinds)
        with self._mode():
            self._floats, self._words = self._advance(
                self._cascades, self._floats, self._words, numbers, kinds
            )
        self._tick += 1

    def begin_step(self, vehicle: str, step: str) -> None:
        """Make a vehicle begin a step of its mission with the next physics step."""
        with self._mode():
            state = self._packing.unpack(self._floats, self._words)
            self._floats, self._words = self._pack(self._fleet.jump_to_step(state, vehicle, step))

    def switch(self, vehicle: str, behaviors: Sequence[str]) -> None:
        """Activate only these of a vehicle's behaviors, from the next physics step on."""
        with self._mode():
            state = self._packing.unpack(self._floats, self._words)
            switched = self._fleet.with_active_behaviors(state, vehicle, behaviors)
            self._floats, self._words = self._pack(switched)

    def observe(self) -> dict[str, Observation]:
        """Return the observation of each vehicle."""
        with self._mode():
            seen = self._see(self._cascades, self._floats, self._words)
            groups = [np.asarray(rows) for rows in seen]
        time_s = self._tick / self._fleet.rate_hz
        observations: dict[str, Observation] = {}
        for name, (g, index) in self._indices.items():
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

    def retune(self, fleet: Fleet) -> None:
        """Continue with a fleet that differs only in the parameters of its control cascades.

        The first call compiles again, with those parameters as arguments; later calls take no time.

        Raises:
            ScenarioError: if the state of the former fleet does not fit this one.
        """
        if jax.tree.structure(fleet) != jax.tree.structure(self._fleet):
            with self._mode():
                form = Packing.of(jax.eval_shape(fleet.init, seed_key(0)))
            if form != self._packing:
                message = (
                    "this changes the controller's state, as its rate and filters do, and is not "
                    "possible in flight; set it before reset()"
                )
                raise ScenarioError(message)
            self._compile(fleet)
        with self._mode():
            self._cascades = as_arrays(_cascades(fleet))

    def _compile(self, fleet: Fleet) -> None:
        self._fleet = fleet
        # None: the fleet's own, which are compiled in, until a gain is changed
        self._cascades: Any = None
        self._accepted: set[Kinds] = set()
        self._phases = [group.vehicle.guidance.component.phases() for group in fleet.groups]
        with self._mode():
            self._init = jax.jit(lambda key: fleet.init(key))
            shape = jax.eval_shape(fleet.init, seed_key(0))
            self._packing = Packing.of(shape)
            # traced once, for the next state and for the observations
            self._step = jax.jit(lambda cascades, state: self._with(cascades).step(state))
            looked = jax.eval_shape(self._observed, None, shape)
            self._packings = [RowPacking.of(group) for group in looked]
            self._pack: Callable[..., Any] = jax.jit(self._packing.pack)
            self._see = jax.jit(self._packed_observations)
            self._advance = jax.jit(self._advanced, static_argnums=4)

    def _with(self, cascades: Any) -> Fleet:
        return self._fleet if cascades is None else eqx.tree_at(_cascades, self._fleet, cascades)

    def _mode(self) -> Any:
        return jax.enable_x64(not self._fleet.single_precision)

    def _observed(self, cascades: Any, state: FleetState) -> Any:
        snapshots = self._step(cascades, state)[1]
        return tuple(
            (s.estimate, s.samples, s.truth, s.status == 0, s.phase, s.uncertainty)
            for s in snapshots
        )

    def _packed_observations(self, cascades: Any, floats: Any, words: Any) -> list[Any]:
        looked = self._observed(cascades, self._packing.unpack(floats, words))
        seen = zip(self._packings, looked, strict=True)
        return [packing.pack(group, floats.dtype) for packing, group in seen]

    def _advanced(
        self, cascades: Any, floats: Any, words: Any, numbers: Any, kinds: Kinds
    ) -> tuple[Any, Any]:
        state = self._packing.unpack(floats, words)
        if not kinds:
            return self._packing.pack(self._step(cascades, state)[0])
        later = self._with(cascades).advance(
            state, commands_from_values(kinds, numbers, self._vehicles)
        )
        return self._packing.pack(later)


def _cascades(fleet: Fleet) -> list[Any]:
    return [group.vehicle.cascade for group in fleet.groups]
