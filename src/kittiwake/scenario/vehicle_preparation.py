"""Preparation of vehicles' estimators, guidance and avoidance for the world in which they fly."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import equinox as eqx

from kittiwake.core.component import Scheduled
from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractAvoidance, AbstractGuidance
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.problems import KeyPath, ProblemList
from kittiwake.sim.plain_python.hosts import is_loaded
from kittiwake.world.world import WorldModel

Part = TypeVar("Part")
Prepared = TypeVar("Prepared", AbstractEstimator, AbstractGuidance, AbstractAvoidance)


@dataclass
class VehiclePreparation:
    """Preparation of the vehicles of one entry, which collects their mistakes.

    Attributes:
        world: the world in which they fly.
        rate_hz: physics steps per second.
        problems: list that collects the mistakes.
        path: place of the entry.
    """

    world: WorldModel
    rate_hz: float
    problems: ProblemList
    path: KeyPath

    def prepared(self, vehicles: dict[str, AssembledVehicle]) -> dict[str, AssembledVehicle]:
        """Return the vehicles with prepared parts, or none of them after collecting a mistake."""
        vehicle = next(iter(vehicles.values()))
        common = BuildContext(
            self.world,
            vehicle.dynamics,
            vehicle.start,
            {key: part.component.sensor for key, part in vehicle.sensors.items()},
            {key: part.every / self.rate_hz for key, part in vehicle.sensors.items()},
        )
        contexts = [common._replace(start=one.start) for one in vehicles.values()]
        estimators = self._for_each(vehicle.estimator, contexts, "estimator")
        guidances = self._for_each(vehicle.guidance, contexts, "guidance")
        avoidances = [
            self._for_each(part, contexts, "avoidance", i)
            for i, part in enumerate(vehicle.avoidance)
        ]
        prepared = [estimators, guidances, *avoidances]
        if [] in prepared:
            return {}
        known = (vehicle.estimator, vehicle.guidance, *vehicle.avoidance)
        if all(each is one for one, parts in zip(known, prepared, strict=True) for each in parts):
            return vehicles
        ready: dict[str, AssembledVehicle] = {}
        before: AssembledVehicle | None = None
        for i, (name, one) in enumerate(vehicles.items()):
            avoidance = tuple(parts[i] for parts in avoidances)
            parts = {"estimator": estimators[i], "guidance": guidances[i], "avoidance": avoidance}
            if before is not None:
                parts = {key: _shared(getattr(before, key), own) for key, own in parts.items()}
            before = ready[name] = replace(one, **parts)
        return ready

    def _for_each(
        self, part: Scheduled[Prepared], contexts: Sequence[BuildContext], *key: str | int
    ) -> list[Scheduled[Prepared]]:
        """Return a part for each context, or an empty list after collecting a mistake.

        A part without preparation is the same object, so that vehicles still share it.
        """
        ready: list[Scheduled[Prepared]] = []
        component = part.component
        prepare = component.prepare  # equinox creates a bound method at each access
        with self.problems.collecting((*self.path, *key)):
            for context in contexts:
                try:
                    prepared = prepare(context)
                except ValueError as error:
                    raise ScenarioError(str(error)) from None
                except KittiwakeError:
                    if all(map(is_loaded, context.sensors.values())):
                        raise
                    # it may lack one that is not loaded, and then it is not flown
                    prepared = component
                unchanged = prepared is component
                ready.append(part if unchanged else replace(part, component=prepared))
            return ready
        return []


def _shared(one: Part, other: Part) -> Part:
    """Return the first of two equal parts, so that vehicles share it, else the other."""
    return one if eqx.tree_equal(one, other, typematch=True) else other
