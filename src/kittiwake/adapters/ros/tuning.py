"""The gains of a vehicle that can be changed while it flies.

A vehicle with the laws of uav_gazebo has the gains of its plugin: natural frequencies and dampings
of the second-order loops, gains of the others, each wherever a law uses it. Any other has all the
numbers of its controllers, named controller__number, up to some times what they are.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, fields
from typing import Any

import equinox as eqx

from kittiwake.adapters.ros.gains import Gain
from kittiwake.control import CONTROLLERS
from kittiwake.control.euler_attitude import EulerAttitude
from kittiwake.control.uav_gazebo_velocity import UavGazeboVelocity
from kittiwake.core.errors import CommandError, did_you_mean
from kittiwake.interfaces.controller import AbstractController
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.tuning import tuned

# by law and number what uav_gazebo calls it; its frequencies and gains go to 10, dampings to 5
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
MOST, MOST_DAMPING = 10.0, 5.0
# of a gain of another law, how many times what it is
MOST_TIMES = 10.0

# controller of the ladder, then the fields on the way to a number
Path = tuple[str, ...]


@dataclass
class LiveGains:
    """The gains of one vehicle, with all places where each of them stands."""

    vehicle: str
    entry: str
    shown: list[Gain]
    places: Mapping[str, list[Path]]

    @classmethod
    def of(cls, scenario: Scenario, vehicle: str) -> "LiveGains":
        """Those of a vehicle of a scenario, and of all others of its entry."""
        places: dict[str, list[Path]] = defaultdict(list)
        values: dict[str, float] = {}
        found = [*_numbers(scenario, vehicle)]
        own = any(isinstance(law, EulerAttitude | UavGazeboVelocity) for law, _, _ in found)
        for law, path, value in found:
            symbol = SYMBOLS.get((CONTROLLERS.name_of(type(law)), path[-1]))
            name = symbol if own else "__".join(path).replace("-", "_")
            if name is not None:
                places[name].append(path)
                values.setdefault(name, value)
        order = [name for name in SYMBOLS.values() if name in values] if own else [*values]
        shown = [_shown(name, values[name], places[name]) for name in order]
        entries: dict[str, Any] = scenario.document.data["vehicles"]
        entry = vehicle if vehicle in entries else vehicle.rpartition("-")[0]
        return cls(vehicle, entry, shown, places)

    def change(self, executor: LiveExecutor, wanted: Mapping[str, float]) -> dict[str, float]:
        """The values that hold after some were asked for; they do with one of the next blocks.

        Raises:
            CommandError: for a gain that it does not have, or a number outside its range.
            ScenarioError: for a number that a controller refuses.
        """
        known, now = {gain.name: gain for gain in self.shown}, self.values(executor)
        given: dict[str, dict[str, Any]] = defaultdict(dict)
        for name, value in wanted.items():
            if name not in known:
                message = f"'{self.vehicle}' has no gain '{name}'. {did_you_mean(name, [*known])}"
                raise CommandError(message)
            low, high = known[name].low, known[name].high
            if not low <= value <= high:
                message = f"{name} {value:g} is not allowed; must be from {low:g} to {high:g}"
                raise CommandError(message)
            if value != now[name]:
                for controller, *way, last in self.places[name]:
                    _put(given[controller], [*way, last], value)
        scenario = executor.wanted
        for controller, numbers in given.items():
            scenario = tuned(scenario, self.entry, controller, numbers)
        for controller, numbers in given.items():
            executor.set_gains(self.entry, controller, **numbers)
        return now | dict(wanted)

    def values(self, executor: LiveExecutor) -> dict[str, float]:
        """Those that are wanted now, by whomever."""
        found = {path: value for _, path, value in _numbers(executor.wanted, self.vehicle)}
        return {gain.name: found[self.places[gain.name][0]] for gain in self.shown}


def _numbers(scenario: Scenario, vehicle: str) -> Iterator[tuple[AbstractController, Path, float]]:
    """The numbers of the controllers that a vehicle flies by, each with the law that uses it."""
    flown = scenario.vehicles[vehicle]
    # what a vehicle tells its controllers of itself is no gain of theirs
    facts = frozenset(flown.dynamics.vehicle_parameters(scenario.world.gravity_mps2))
    for level in flown.cascade:
        law = level.component
        yield from _inside(law, (CONTROLLERS.name_of(type(law)),), facts)


def _inside(
    law: AbstractController, path: Path, facts: Set[str]
) -> Iterator[tuple[AbstractController, Path, float]]:
    for one in fields(law):
        value = getattr(law, one.name)
        if one.name in facts:
            continue
        if isinstance(value, AbstractController):
            yield from _inside(value, (*path, one.name), facts)
        elif isinstance(value, int | float) and not isinstance(value, bool | eqx.Module):
            yield law, (*path, one.name), float(value)


def _shown(name: str, value: float, places: list[Path]) -> Gain:
    said = ", ".join(".".join(path) for path in places)
    if name in SYMBOLS.values():
        high = MOST_DAMPING if name.startswith("X") else MOST
        return Gain(name, value, 0.0, max(high, value), said)
    reach = MOST_TIMES * abs(value) or 1.0
    return Gain(name, value, -reach if value < 0.0 else 0.0, reach, said)


def _put(tree: dict[str, Any], way: list[str], value: float) -> None:
    for part in way[:-1]:
        tree = tree.setdefault(part, {})
    tree[way[-1]] = value
