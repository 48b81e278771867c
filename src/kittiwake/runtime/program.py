"""A fleet's compiled functions, kept from flight to flight."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float64

from kittiwake.core.columns import column_names
from kittiwake.core.keys import seed_key
from kittiwake.core.measurements import GnssMeasurement
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.runtime.command_source import VehicleReport
from kittiwake.runtime.commands import Kinds, commands_of
from kittiwake.runtime.watch import Block, RowLayout, Violation
from kittiwake.sim.fleet import Fleet, rolled
from kittiwake.sim.record import columns, rows
from kittiwake.sim.state import FleetState, Snapshot

RunBlock = Callable[[FleetState], tuple[FleetState, list[np.ndarray]]]
Accelerations = Mapping[str, Float64[np.ndarray, "3"]]
RunCommanded = Callable[
    [FleetState, Sequence[float]], tuple[FleetState, list[np.ndarray], Accelerations]
]


@dataclass(eq=False)
class Program:
    """What the host calls of a fleet; ``order`` is that of the scenario's vehicles."""

    fleet: Fleet
    order: tuple[str, ...]

    def __post_init__(self) -> None:
        self._init = jax.jit(lambda key: self.fleet.init(key))
        # traced once, for the layout of rows and for blocks of any length
        self._step = jax.jit(lambda state: self.fleet.step(state))
        self._limits = jax.jit(lambda state: self.fleet.limits(state))
        self._blocks: dict[int, RunBlock] = {}
        self._commanded: dict[tuple[int, Kinds], RunCommanded] = {}

    def start(self, seed: int) -> FleetState:
        """The state at the start."""
        with self._mode():
            return self._init(seed_key(seed))

    def block(self, steps: int) -> RunBlock:
        """Many steps as one function, compiled: the state after them, and each group's rows."""
        if steps not in self._blocks:
            kept = partial(rows, self.fleet)

            def flown(state: FleetState) -> tuple[FleetState, Any]:
                return rolled(self._step, state, steps, kept)

            with self._mode():
                compiled = jax.jit(flown).lower(self._shape).compile()
            self._blocks[steps] = partial(self._flown, compiled)
        return self._blocks[steps]

    def commanded(self, steps: int, kinds: Kinds) -> RunCommanded:
        """The same under commands of these kinds, whose numbers hold in all steps.

        Beside state and rows it returns the acceleration of each vehicle by its estimate of the
        last step, world axes, gravity not counted.
        """
        if (steps, kinds) not in self._commanded:

            def kept(snapshots: tuple[Snapshot, ...]) -> tuple[Any, Any]:
                return rows(self.fleet, snapshots), [*map(jax.vmap(_acceleration), snapshots)]

            def flown(state: FleetState, numbers: Any) -> tuple[FleetState, Any, Any]:
                step = partial(self.fleet.step, commands=commands_of(kinds, numbers))
                later, (recorded, accelerations) = rolled(step, state, steps, kept)
                return later, recorded, [each[-1] for each in accelerations]

            with self._mode():
                numbers = jnp.zeros(sum(len(column_names(kind)) for _, kind in kinds))
                compiled = jax.jit(flown).lower(self._shape, numbers).compile()
            self._commanded[steps, kinds] = partial(self._flown_commanded, compiled)
        return self._commanded[steps, kinds]

    def reports(
        self, state: FleetState, accelerations: Accelerations = MappingProxyType({})
    ) -> dict[str, VehicleReport]:
        """What each vehicle believes: what it did at the step before, carried on straight ahead.

        It is at rest, or begins, where no acceleration is given.
        """
        found: dict[str, VehicleReport] = {}
        for group, own in zip(self.fleet.groups, state.groups, strict=True):
            told = own.broadcast
            assert told is not None, "only those with a radio tell anything"
            place, velocity = (
                np.stack([np.asarray(part, float) for part in (v.x, v.y, v.z)], axis=1)
                for v in (told.position_world_m, told.velocity_world_mps)
            )
            yaw_rad = np.asarray(told.yaw_rad, float)
            for lane, name in enumerate(group.names):
                here_m = place[lane] + velocity[lane] * self.fleet.dt_s
                acceleration = accelerations.get(name, np.zeros(3))
                found[name] = VehicleReport(
                    here_m, velocity[lane], float(yaw_rad[lane]), acceleration
                )
        return found

    @cached_property
    def layout(self) -> RowLayout:
        """What each vehicle's rows hold."""
        with self._mode():
            names = columns(self.fleet, jax.eval_shape(self._step, self._shape)[1])
            limits = jax.eval_shape(self.fleet.limits, self._shape)
        column_names: dict[str, tuple[str, ...]] = {}
        quantities: dict[str, tuple[str, ...]] = {}
        faults: dict[str, tuple[str, ...]] = {}
        phases: dict[str, tuple[str, ...]] = {}
        receivers: dict[str, tuple[str, ...]] = {}
        for group, group_names, judged in zip(self.fleet.groups, names, limits, strict=True):
            for name in group.names:
                column_names[name] = ("time_s", *group_names)
                phases[name] = group.vehicle.guidance.component.phases()
                receivers[name] = _receivers(group.vehicle)
                quantities[name] = tuple(limit.name for limit in judged)
            if group.vehicle.faults:
                for lane, name in enumerate(group.names):
                    faults[name] = tuple(fault.event() for fault in group.member(lane).faults)
        return RowLayout(
            {name: column_names[name] for name in self.order},
            {name: quantities[name] for name in self.order},
            faults,
            phases,
            receivers,
        )

    def by_vehicle(self, times: np.ndarray, groups: list[np.ndarray]) -> Block:
        """Groups' rows, with the time before them, by vehicle."""
        lanes: dict[str, np.ndarray] = {}
        for group, array in zip(self.fleet.groups, groups, strict=True):
            for lane, name in enumerate(group.names):
                lanes[name] = np.column_stack([times, array[:, lane]])
        return {name: lanes[name] for name in self.order}

    def violations(self, state: FleetState) -> Violation:
        """A function of a vehicle and a status that says which limit it has left."""
        with self._mode():
            return violation_among(self.fleet, self._limits(state))

    @cached_property
    def _shape(self) -> FleetState:
        with self._mode():
            return jax.eval_shape(self._init, seed_key(0))

    def _flown(
        self, compiled: Callable[..., Any], state: FleetState
    ) -> tuple[FleetState, list[np.ndarray]]:
        with self._mode():
            later, recorded = compiled(state)
            return later, [np.asarray(group, np.float64) for group in recorded]

    def _flown_commanded(
        self, compiled: Callable[..., Any], state: FleetState, numbers: Sequence[float]
    ) -> tuple[FleetState, list[np.ndarray], Accelerations]:
        with self._mode():
            later, *both = compiled(state, jnp.asarray(numbers, float))
            recorded, found = ([np.asarray(one, np.float64) for one in each] for each in both)
        groups = zip(self.fleet.groups, found, strict=True)
        accelerations = {
            name: own for group, each in groups for name, own in zip(group.names, each, strict=True)
        }
        return later, recorded, accelerations

    def _mode(self) -> Any:
        return jax.enable_x64(not self.fleet.single_precision)


def violation_among(fleet: Fleet, limits: Sequence[Any]) -> Violation:
    """A function of a vehicle and a status that says which of these limits it has left."""
    groups = jax.tree.map(np.asarray, limits)

    def violation(name: str, status: int) -> str:
        group, lane = fleet.place(name)
        limit = jax.tree.map(lambda leaf: float(leaf[lane]), groups[group][status - 1])
        return limit.violation()

    return violation


def _acceleration(snapshot: Snapshot) -> Array:
    """How a vehicle's velocity changes by its estimate, m/s^2 in world axes."""
    estimate, gravity_mps2 = snapshot.estimate, snapshot.surroundings.gravity_mps2
    force = estimate.q_world_from_body.rotate(estimate.specific_force_body_mps2)
    return jnp.asarray((force - Vec3(0.0, 0.0, gravity_mps2)).array)


def _receivers(vehicle: Vehicle) -> tuple[str, ...]:
    """The sensors that find their place by satellites."""
    return tuple(
        name
        for name, sensor in vehicle.sensors.items()
        if sensor.component.sensor.measures is GnssMeasurement
    )
