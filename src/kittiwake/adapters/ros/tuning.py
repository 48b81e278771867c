"""Controller gains of a vehicle that can be changed in flight.

A vehicle with the control laws of uav_gazebo has the gains of its plugin: natural frequencies and
damping ratios of the second-order loops, and gains of the others. Each is set in every law that
uses it. Any other vehicle has all numeric parameters of its controllers, named
controller__parameter; each may grow to a multiple of its initial value.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, fields
from typing import Any

from kittiwake.adapters.ros.gains import Gain
from kittiwake.control import CONTROLLERS
from kittiwake.control.euler_attitude import EulerAttitude
from kittiwake.control.uav_gazebo_velocity import UavGazeboVelocity
from kittiwake.core.errors import CommandError, did_you_mean
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.tuning import with_gains

# name in uav_gazebo by controller and parameter
SYMBOLS = {
    ("position", "natural_frequency_radps"): "Wp",
    ("position", "damping_ratio"): "Xp",
    ("uav-gazebo-velocity", "velocity_gain_per_s"): "Kv",
    ("euler-attitude", "yaw_frequency_radps"): "Wy",
    ("euler-attitude", "yaw_damping"): "Xy",
    ("uav-gazebo-velocity", "yaw_rate_gain_per_s"): "Ky",
    ("euler-attitude", "tilt_frequency_radps"): "Wa",
    ("euler-attitude", "tilt_damping"): "Xa",
    ("rates", "gain_per_s"): "Kw",
}
# upper limits of frequencies and gains, and of damping ratios, as in uav_gazebo
MAX_GAIN, MAX_DAMPING = 10.0, 5.0
# upper limit of a gain of any other controller, as a multiple of its initial value
MAX_FACTOR = 10.0

# controller of the cascade, then the fields that lead to a number
Path = tuple[str, ...]


@dataclass
class LiveGains:
    """Gains of one vehicle.

    Attributes:
        vehicle: its name.
        entry: the scenario entry that it belongs to, with all its vehicles.
        gains: names, values and ranges.
        paths: the controller parameters that each gain sets.
    """

    vehicle: str
    entry: str
    gains: list[Gain]
    paths: Mapping[str, list[Path]]

    @classmethod
    def of_vehicle(cls, scenario: Scenario, vehicle: str) -> "LiveGains":
        """Return the gains of a vehicle, which are those of all vehicles of its entry."""
        paths: dict[str, list[Path]] = defaultdict(list)
        values: dict[str, float] = {}
        found = [*_parameters(scenario, vehicle)]
        is_uav_gazebo = any(
            isinstance(law, EulerAttitude | UavGazeboVelocity) for law, _, _ in found
        )
        for law, path, value in found:
            symbol = SYMBOLS.get((CONTROLLERS.name_of(type(law)), path[-1]))
            name = symbol if is_uav_gazebo else "__".join(path).replace("-", "_")
            if name is not None:
                paths[name].append(path)
                values.setdefault(name, value)
        order = [*values]
        if is_uav_gazebo:
            order = [name for name in SYMBOLS.values() if name in values]
        gains = [_gain(name, values[name], paths[name]) for name in order]
        entries: dict[str, Any] = scenario.document.data["vehicles"]
        entry = vehicle if vehicle in entries else vehicle.rpartition("-")[0]
        return cls(vehicle, entry, gains, paths)

    def change(self, executor: LiveExecutor, requested: Mapping[str, float]) -> dict[str, float]:
        """Change some gains, and return the values of all; they take effect in a later block.

        Raises:
            CommandError: for a gain that the vehicle does not have, or a value outside its range.
            ScenarioError: for a value that a controller refuses.
        """
        known, current = {gain.name: gain for gain in self.gains}, self.values(executor)
        changes: dict[str, dict[str, Any]] = defaultdict(dict)
        for name, value in requested.items():
            if name not in known:
                message = f"'{self.vehicle}' has no gain '{name}'. {did_you_mean(name, [*known])}"
                raise CommandError(message)
            low, high = known[name].low, known[name].high
            if not low <= value <= high:
                message = f"{name}: got {value:g}; must be from {low:g} to {high:g}"
                raise CommandError(message)
            if value != current[name]:
                for controller, *path in self.paths[name]:
                    _set_nested(changes[controller], path, value)
        scenario = executor.requested_scenario
        for controller, parameters in changes.items():
            scenario = with_gains(scenario, self.entry, controller, parameters)
        for controller, parameters in changes.items():
            executor.set_gains(self.entry, controller, **parameters)
        return current | dict(requested)

    def values(self, executor: LiveExecutor) -> dict[str, float]:
        """Return the values requested last, by any client."""
        found = {
            path: value for _, path, value in _parameters(executor.requested_scenario, self.vehicle)
        }
        return {gain.name: found[self.paths[gain.name][0]] for gain in self.gains}


def _parameters(
    scenario: Scenario, vehicle: str
) -> Iterator[tuple[AbstractController, Path, float]]:
    """Yield the numeric parameters of a vehicle's controllers, each with its control law."""
    flown = scenario.vehicles[vehicle]
    # mass, gravity and the like come from the vehicle and are no gains
    excluded = frozenset(flown.dynamics.vehicle_parameters(scenario.world.gravity_mps2))
    for level in flown.cascade:
        law = level.component
        name = CONTROLLERS.registered_name(type(law))
        if name is not None:
            yield from _parameters_of(law, (name,), excluded)


def _parameters_of(
    law: AbstractController, path: Path, excluded: Set[str]
) -> Iterator[tuple[AbstractController, Path, float]]:
    for field in fields(law):
        value = getattr(law, field.name)
        if field.name in excluded:
            continue
        if isinstance(value, AbstractController):
            yield from _parameters_of(value, (*path, field.name), excluded)
        elif isinstance(value, int | float) and not isinstance(value, bool | Module):
            yield law, (*path, field.name), float(value)


def _gain(name: str, value: float, paths: list[Path]) -> Gain:
    description = ", ".join(".".join(path) for path in paths)
    if name in SYMBOLS.values():
        high = MAX_DAMPING if name.startswith("X") else MAX_GAIN
        return Gain(name, value, 0.0, max(high, value), description)
    limit = MAX_FACTOR * abs(value) or 1.0
    return Gain(name, value, -limit if value < 0.0 else 0.0, limit, description)


def _set_nested(tree: dict[str, Any], path: list[str], value: float) -> None:
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = value
