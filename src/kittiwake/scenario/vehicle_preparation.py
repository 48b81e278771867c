"""Preparation of vehicles' estimators, guidance and avoidance for the world in which they fly."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from kittiwake.core.component import Scheduled
from kittiwake.core.copies import distinct, with_fields
from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.interfaces.build_context import BuildContext, depends_on_start
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractAvoidance, AbstractGuidance
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import trees_equal
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
        every = [*vehicles.values()]
        estimators = self._for_each(vehicle.estimator, common, every, "estimator")
        guidances = self._for_each(vehicle.guidance, common, every, "guidance")
        avoidances = [
            self._for_each(part, common, every, "avoidance", i)
            for i, part in enumerate(vehicle.avoidance)
        ]
        prepared = [estimators, guidances, *avoidances]
        if [] in prepared:
            return {}
        known = (vehicle.estimator, vehicle.guidance, *vehicle.avoidance)
        if all([*distinct(parts)] == [id(one)] for one, parts in zip(known, prepared, strict=True)):
            return vehicles
        together = [*zip(*avoidances, strict=True)] if avoidances else [()] * len(every)
        ready = with_fields(
            every,
            estimator=_merged(estimators),
            guidance=_merged(guidances),
            avoidance=_merged(together),
        )
        return dict(zip(vehicles, ready, strict=True))

    def _for_each(
        self,
        part: Scheduled[Prepared],
        common: BuildContext,
        vehicles: Sequence[AssembledVehicle],
        *key: str | int,
    ) -> list[Scheduled[Prepared]]:
        """Return a part for each vehicle, or an empty list after collecting a mistake.

        A part that does not depend on the start is the same object for all, so that vehicles share
        it.
        """
        with self.problems.collecting((*self.path, *key)):
            if not depends_on_start(part.component):
                return [_prepared(part, common)] * len(vehicles)
            starts = [vehicle.start for vehicle in vehicles]
            return [_prepared(part, common._replace(start=start)) for start in starts]
        return []


def _prepared(part: Scheduled[Prepared], context: BuildContext) -> Scheduled[Prepared]:
    """Return a part prepared for its vehicle, or itself if its component does not change.

    Raises:
        KittiwakeError: if it cannot be flown there.
    """
    component = part.component
    try:
        prepared = component.prepare(context)
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    except KittiwakeError:
        if all(map(is_loaded, context.sensors.values())):
            raise
        # it may lack one that is not loaded, and then it is not flown
        return part
    return part if prepared is component else replace(part, component=prepared)


def _merged(parts: Sequence[Part]) -> list[Part]:
    """Return parts, of which successive equal ones are the same object."""
    merged = [parts[0]]
    for part in parts[1:]:
        merged.append(_shared(merged[-1], part))
    return merged


def _shared(one: Part, other: Part) -> Part:
    """Return the first of two equal parts, so that vehicles share it, else the other."""
    if one is other or trees_equal(one, other):
        return one
    return other
