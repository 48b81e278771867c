"""A simulation stepped from a Python loop: what it shows, and its compiled functions."""

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
from kittiwake.runtime.commands import Kinds, commands_of, numbers_of, refuse_dead_ends
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.packing import Packing, RowPacking
from kittiwake.sim.state import FleetState

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
    False when the vehicle is lost. ``phase`` is the part of its task in words, and ``uncertainty``
    what the estimator believes of its errors, None if nothing.
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
    """Steps one fleet, its state packed into two arrays."""

    def __init__(self, fleet: Fleet, vehicles: Mapping[str, Vehicle]) -> None:
        self._vehicles = vehicles
        self._places = {name: fleet.place(name) for name in fleet.names}
        self._compile(fleet)

    def reset(self, seed: int) -> None:
        """Back to the start."""
        with self._mode():
            self._floats, self._words = self._pack(self._init(seed_key(seed)))
        self._tick = 0

    def step(self, commands: Commands) -> None:
        """One physics step."""
        numbers = np.asarray(numbers_of(commands, self._vehicles), dtype=self._floats.dtype)
        kinds = tuple((name, type(signal)) for name, signal in commands.items())
        if kinds not in self._accepted:
            refuse_dead_ends(kinds, self._vehicles)
            self._accepted.add(kinds)
        with self._mode():
            self._floats, self._words = self._advance(
                self._cascades, self._floats, self._words, numbers, kinds
            )
        self._tick += 1

    def begin_step(self, vehicle: str, step: str) -> None:
        """A vehicle begins a step of its mission with the next physics step."""
        with self._mode():
            state = self._packing.unpack(self._floats, self._words)
            self._floats, self._words = self._pack(self._fleet.jump_to_step(state, vehicle, step))

    def switch(self, vehicle: str, behaviors: Sequence[str]) -> None:
        """From the next physics step on only these of a vehicle's behaviors count."""
        with self._mode():
            state = self._packing.unpack(self._floats, self._words)
            switched = self._fleet.with_active_behaviors(state, vehicle, behaviors)
            self._floats, self._words = self._pack(switched)

    def observe(self) -> dict[str, Observation]:
        """What each vehicle is, sees and believes now."""
        with self._mode():
            seen = self._see(self._cascades, self._floats, self._words)
            groups = [np.asarray(rows) for rows in seen]
        time_s = self._tick / self._fleet.rate_hz
        observations: dict[str, Observation] = {}
        for name, (g, lane) in self._places.items():
            shown = self._seen[g].unpack(groups[g][lane])
            estimate, samples, truth, valid, phase, uncertainty = shown
            measurements = {sensor: sample.measurement for sensor, sample in samples.items()}
            fresh = {sensor: sample.fresh for sensor, sample in samples.items()}
            observations[name] = Observation(
                *(time_s, estimate, BySensor(measurements), BySensor(fresh), truth, valid),
                *(self._phases[g][int(phase or 0)], uncertainty),
            )
        return observations

    def retune(self, fleet: Fleet) -> None:
        """Goes on with this fleet, which differs in the numbers of its ladders at most.

        The first time it compiles anew, with those numbers as arguments; from then on a change
        takes no time.

        Raises:
            ScenarioError: if a state of the one before does not fit it.
        """
        if jax.tree.structure(fleet) != jax.tree.structure(self._fleet):
            with self._mode():
                form = Packing.of(jax.eval_shape(fleet.init, seed_key(0)))
            if form != self._packing:
                message = (
                    "this changes what the controller remembers, as its rate and filters do, and "
                    "cannot be changed in flight; set it before reset()"
                )
                raise ScenarioError(message)
            self._compile(fleet)
        with self._mode():
            self._cascades = as_arrays(_cascades(fleet))

    def _compile(self, fleet: Fleet) -> None:
        self._fleet = fleet
        # the fleet's own, which are compiled in, until somebody changes them
        self._cascades: Any = None
        self._accepted: set[Kinds] = set()
        self._phases = [group.vehicle.guidance.component.phases() for group in fleet.groups]
        with self._mode():
            self._init = jax.jit(lambda key: fleet.init(key))
            shape = jax.eval_shape(fleet.init, seed_key(0))
            self._packing = Packing.of(shape)
            # traced once, for what it leads to and for what there is to see at it
            self._step = jax.jit(lambda cascades, state: self._with(cascades).step(state))
            looked = jax.eval_shape(self._look, None, shape)
            self._seen = [RowPacking.of(group) for group in looked]
            self._pack: Callable[..., Any] = jax.jit(self._packing.pack)
            self._see = jax.jit(self._sight)
            self._advance = jax.jit(self._advanced, static_argnums=4)

    def _with(self, cascades: Any) -> Fleet:
        return self._fleet if cascades is None else eqx.tree_at(_cascades, self._fleet, cascades)

    def _mode(self) -> Any:
        return jax.enable_x64(not self._fleet.single_precision)

    def _look(self, cascades: Any, state: FleetState) -> Any:
        snapshots = self._step(cascades, state)[1]
        return tuple(
            (s.estimate, s.samples, s.truth, s.status == 0, s.phase, s.uncertainty)
            for s in snapshots
        )

    def _sight(self, cascades: Any, floats: Any, words: Any) -> list[Any]:
        looked = self._look(cascades, self._packing.unpack(floats, words))
        seen = zip(self._seen, looked, strict=True)
        return [packing.pack(group, floats.dtype) for packing, group in seen]

    def _advanced(
        self, cascades: Any, floats: Any, words: Any, numbers: Any, kinds: Kinds
    ) -> tuple[Any, Any]:
        state = self._packing.unpack(floats, words)
        if not kinds:
            return self._packing.pack(self._step(cascades, state)[0])
        later = self._with(cascades).advance(state, commands_of(kinds, numbers))
        return self._packing.pack(later)


def _cascades(fleet: Fleet) -> list[Any]:
    return [group.vehicle.cascade for group in fleet.groups]
