"""Compiled functions of a fleet, reused from flight to flight."""

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
from kittiwake.runtime.commands import Kinds, commands_from_values
from kittiwake.runtime.watch import Block, RowLayout, Violation
from kittiwake.sim.fleet import Fleet, scan_steps
from kittiwake.sim.record import columns, rows
from kittiwake.sim.state import FleetState, Snapshot

RunBlock = Callable[[FleetState], tuple[FleetState, list[np.ndarray]]]
Accelerations = Mapping[str, Float64[np.ndarray, "3"]]
RunCommanded = Callable[
    [FleetState, Sequence[float]], tuple[FleetState, list[np.ndarray], Accelerations]
]


@dataclass(eq=False)
class Program:
    """Compiled functions of a fleet; ``order`` holds the vehicles in the scenario's order."""

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
        """Return the initial state."""
        with self._mode():
            return self._init(seed_key(seed))

    def block(self, steps: int) -> RunBlock:
        """Return a compiled function of many steps; it returns the state and each group's rows."""
        if steps not in self._blocks:
            kept = partial(rows, self.fleet)

            def flown(state: FleetState) -> tuple[FleetState, Any]:
                return scan_steps(self._step, state, steps, kept)

            with self._mode():
                compiled = jax.jit(flown).lower(self._shape).compile()
            self._blocks[steps] = partial(self._flown, compiled)
        return self._blocks[steps]

    def commanded(self, steps: int, kinds: Kinds) -> RunCommanded:
        """Return a compiled function of many steps under constant commands of these types.

        In addition to state and rows it returns each vehicle's estimated acceleration at the last
        step, in world axes and without gravity.
        """
        if (steps, kinds) not in self._commanded:

            def kept(snapshots: tuple[Snapshot, ...]) -> tuple[Any, Any]:
                return rows(self.fleet, snapshots), [*map(jax.vmap(_acceleration), snapshots)]

            def flown(state: FleetState, numbers: Any) -> tuple[FleetState, Any, Any]:
                step = partial(self.fleet.step, commands=commands_from_values(kinds, numbers))
                later, (recorded, accelerations) = scan_steps(step, state, steps, kept)
                return later, recorded, [each[-1] for each in accelerations]

            with self._mode():
                numbers = jnp.zeros(sum(len(column_names(kind)) for _, kind in kinds))
                compiled = jax.jit(flown).lower(self._shape, numbers).compile()
            self._commanded[steps, kinds] = partial(self._flown_commanded, compiled)
        return self._commanded[steps, kinds]

    def reports(
        self, state: FleetState, accelerations: Accelerations = MappingProxyType({})
    ) -> dict[str, VehicleReport]:
        """Return each vehicle's estimate, extrapolated from its last broadcast by one step.

        Accelerations that are not given are zero, as at rest and at the start.
        """
        found: dict[str, VehicleReport] = {}
        for group, own in zip(self.fleet.groups, state.groups, strict=True):
            broadcast = own.broadcast
            assert broadcast is not None, "vehicles without a radio do not broadcast"
            position, velocity = (
                np.stack([np.asarray(part, float) for part in (v.x, v.y, v.z)], axis=1)
                for v in (broadcast.position_world_m, broadcast.velocity_world_mps)
            )
            yaw_rad = np.asarray(broadcast.yaw_rad, float)
            for index, name in enumerate(group.names):
                here_m = position[index] + velocity[index] * self.fleet.dt_s
                acceleration = accelerations.get(name, np.zeros(3))
                found[name] = VehicleReport(
                    here_m, velocity[index], float(yaw_rad[index]), acceleration
                )
        return found

    @cached_property
    def layout(self) -> RowLayout:
        """Columns of each vehicle's rows."""
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
                for index, name in enumerate(group.names):
                    faults[name] = tuple(fault.event() for fault in group.member(index).faults)
        return RowLayout(
            {name: column_names[name] for name in self.order},
            {name: quantities[name] for name in self.order},
            faults,
            phases,
            receivers,
        )

    def by_vehicle(self, times: np.ndarray, groups: list[np.ndarray]) -> Block:
        """Return groups' rows by vehicle, with the time as first column."""
        by_name: dict[str, np.ndarray] = {}
        for group, array in zip(self.fleet.groups, groups, strict=True):
            for index, name in enumerate(group.names):
                by_name[name] = np.column_stack([times, array[:, index]])
        return {name: by_name[name] for name in self.order}

    def violations(self, state: FleetState) -> Violation:
        """Return a function from a vehicle and its status to the limit that it has left."""
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
    """Return a function from a vehicle and its status to the one of these limits it has left."""
    groups = jax.tree.map(np.asarray, limits)

    def violation(name: str, status: int) -> str:
        group, index = fleet.locate(name)
        limit = jax.tree.map(lambda leaf: float(leaf[index]), groups[group][status - 1])
        return limit.violation()

    return violation


def _acceleration(snapshot: Snapshot) -> Array:
    """Return a vehicle's estimated acceleration, m/s^2 in world axes."""
    estimate, gravity_mps2 = snapshot.estimate, snapshot.surroundings.gravity_mps2
    force = estimate.q_world_from_body.rotate(estimate.specific_force_body_mps2)
    return jnp.asarray((force - Vec3(0.0, 0.0, gravity_mps2)).array)


def _receivers(vehicle: Vehicle) -> tuple[str, ...]:
    """Return the names of a vehicle's satellite receivers."""
    return tuple(
        name
        for name, sensor in vehicle.sensors.items()
        if sensor.component.sensor.measures is GnssMeasurement
    )
