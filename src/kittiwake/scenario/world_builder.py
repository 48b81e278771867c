"""From a scenario's ``world`` to the world."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from kittiwake.core.component import AbstractTurbulence
from kittiwake.core.errors import did_you_mean
from kittiwake.core.vehicle import Scheduled
from kittiwake.core.world import World
from kittiwake.environment import (
    ATMOSPHERES,
    CURRENTS,
    INTERACTIONS,
    PLATFORMS,
    REGIONS,
    TURBULENCE,
    WINDS,
)
from kittiwake.environment.proximity import Proximity
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.parameters import parameters_model
from kittiwake.scenario.schema import WorldSettings

SINGLE = {
    "wind": (WINDS, "none"),
    "current": (CURRENTS, "none"),
    "atmosphere": (ATMOSPHERES, "isa"),
}
NAMED = {"regions": REGIONS, "platforms": PLATFORMS}


class BuiltWorld(NamedTuple):
    """The last two are None where something was refused."""

    settings: WorldSettings
    world: World | None
    turbulence: Scheduled[AbstractTurbulence] | None


@dataclass
class WorldBuilder:
    """Builds the world of one document."""

    components: ComponentBuilder

    def build(self, given: dict[str, Any]) -> BuiltWorld:
        """Settings, world and turbulence."""
        data = dict(given)
        single = {
            key: self.components.component(registry, data.pop(key, default), ("world", key))
            for key, (registry, default) in SINGLE.items()
        }
        named = {
            key: self.components.named(registry, data.pop(key, {}), ("world", key))
            for key, registry in NAMED.items()
        }
        turbulence = self.components.scheduled(
            TURBULENCE, data.pop("turbulence", "none"), ("world", "turbulence")
        )
        interactions = self.components.listed(
            INTERACTIONS, data.pop("interactions", []), ("world", "interactions")
        )
        self._refuse_unknown(data)
        settings = self.components.settings(WorldSettings, data, ("world",)) or WorldSettings()
        several = [*interactions, *(part for group in named.values() for part in group)]
        if None in (*single.values(), *several):
            return BuiltWorld(settings, None, turbulence)
        distance_m = settings.collision_distance_m
        if distance_m is not None and not any(isinstance(i, Proximity) for i in interactions):
            interactions = (*interactions, Proximity())
        world = World(
            gravity_mps2=settings.gravity_mps2,
            ground_z_m=settings.ground_z_m,
            origin_altitude_m=settings.origin.altitude_m,
            area=settings.area,
            collision_distance_m=distance_m or 0.0,
            interactions=interactions,
            atmosphere=single["atmosphere"],
            wind=single["wind"],
            current=single["current"],
            regions=named["regions"],
            platforms=named["platforms"],
        )
        return BuiltWorld(settings, world, turbulence)

    def _refuse_unknown(self, data: dict[str, Any]) -> None:
        """Takes unknown keys out, noted with the components of the world among what is allowed."""
        settings = parameters_model(WorldSettings).model_fields
        for key in [key for key in data if key not in settings]:
            del data[key]
            known = did_you_mean(key, [*settings, *SINGLE, *NAMED, "turbulence", "interactions"])
            self.components.problems.note(("world", key), f"there is no such key. {known}")
