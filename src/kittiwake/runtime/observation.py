"""Observations of the vehicles that are stepped from Python, computed when they are used."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.errors import UnknownVehicleError, did_you_mean
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import BySensor
from kittiwake.interfaces.estimator import Uncertainty
from kittiwake.runtime.engine import AnyArray
from kittiwake.runtime.program import Program
from kittiwake.sim.packing import Packing, RowPacking
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers


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


if TYPE_CHECKING:
    ByVehicle = Mapping[str, Observation]
else:
    # of a base with types of its entries a check at run time reads one, which computes them all
    ByVehicle = Mapping


class Observations(ByVehicle):
    """Observation of each vehicle at one time, by name; computed when first used."""

    # made at every step, and seldom read
    __slots__ = ("_by_vehicle", "_look", "_place")

    def __init__(
        self, look: Callable[[AnyArray, AnyArray, int], dict[str, Observation]], *place: Any
    ) -> None:
        """Prepare to look at a place: the arrays of a state, and its tick."""
        self._look, self._place = look, place
        self._by_vehicle: dict[str, Observation] | None = None

    def _computed(self) -> dict[str, Observation]:
        if self._by_vehicle is None:
            self._by_vehicle = self._look(*self._place)
        return self._by_vehicle

    @override
    def __getitem__(self, name: str) -> Observation:
        found = self._computed()
        if name not in found:
            message = f"there is no vehicle {name!r}. {did_you_mean(str(name), list(found))}"
            raise UnknownVehicleError(message)
        return found[name]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._computed())

    @override
    def __len__(self) -> int:
        return len(self._computed())

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)})"


class Observer:
    """Observer of the packed states of a program."""

    def __init__(self, program: Program, packing: Packing) -> None:
        """Prepare to compile, when first used; ``packing`` is that of the states."""
        self._program, self._packing = program, packing
        self._phases = [g.vehicle.guidance.component.phases() for g in program.fleet.groups]

    @cached_property
    def _packings(self) -> list[RowPacking]:
        """Packing of each group's rows."""
        program = self._program
        with program.precision_context():
            looked = jax.eval_shape(self._observed, program.numbers, program.shape)
        return [RowPacking.of(group) for group in looked]

    @cached_property
    def _see(self) -> Callable[..., list[AnyArray]]:
        """Compiled observation of a packed state."""
        floats, words = self._packing.buffers()
        functions = self._program.functions
        return functions.compiled("observation", self._packed_observations, floats, words)

    def look(self, floats: AnyArray, words: AnyArray, tick: int) -> dict[str, Observation]:
        """Return the observation of each vehicle in a packed state at a tick."""
        program = self._program
        with program.precision_context():
            seen = self._see(program.numbers, floats, words)
            groups = [np.asarray(rows) for rows in seen]
        time_s = tick / program.fleet.rate_hz
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

    def _observed(self, numbers: Numbers, state: FleetState) -> tuple[ArrayTree, ...]:
        snapshots = self._program.functions.snapshots(numbers, state)
        return tuple(
            (s.estimate, s.samples, s.truth, s.status == 0, s.phase, s.uncertainty)
            for s in snapshots
        )

    def _packed_observations(self, numbers: Numbers, floats: Array, words: Array) -> list[Array]:
        looked = self._observed(numbers, self._packing.unpack(floats, words))
        seen = zip(self._packings, looked, strict=True)
        return [packing.pack(group, floats.dtype) for packing, group in seen]
