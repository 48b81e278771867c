"""From a scenario's ``world`` to what evolves in it by itself: satellites, plumes, the ground."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kittiwake.core.component import AbstractProcess, AbstractWind
from kittiwake.core.plume import PLUME, AbstractPlume, Plume, Site
from kittiwake.core.satellites import SKY, AbstractConstellation, Satellites
from kittiwake.core.terrain import TERRAIN, AbstractTerrain, Ground
from kittiwake.core.vehicle import Scheduled
from kittiwake.environment import PLUMES, SATELLITES, TERRAINS
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.problems import KeyPath
from kittiwake.scenario.schema import WorldSettings

PLUMES_KEY = "plumes"
KEYS = (SKY, TERRAIN, PLUMES_KEY)
# over the ground, where the speed of a wind is given
WIND_HEIGHT_M = 6.0


@dataclass
class ProcessBuilder:
    """Builds the processes of one document's world."""

    components: ComponentBuilder

    def kinds(self, data: dict[str, Any]) -> dict[str, Scheduled[Any] | None]:
        """What is given of them, by the processes' names; None for what was refused."""
        found: dict[str, Scheduled[Any] | None] = {}
        for key, registry in ((SKY, SATELLITES), (TERRAIN, TERRAINS)):
            if key in data:
                found[key] = self.components.scheduled(registry, data.pop(key), ("world", key))
        plumes = data.pop(PLUMES_KEY, {})
        if not isinstance(plumes, dict):
            message = "write names, and under each the plume that it stands for"
            self.components.problems.note(("world", PLUMES_KEY), message)
            return {**found, PLUME: None}
        for name, entry in plumes.items():
            path = ("world", PLUMES_KEY, name)
            found[PLUME + name] = self.components.scheduled(PLUMES, entry, path)
        return found

    def processes(
        self,
        kinds: Mapping[str, Scheduled[Any] | None],
        settings: WorldSettings,
        wind: AbstractWind,
        start_utc: datetime,
    ) -> dict[str, Scheduled[AbstractProcess]] | None:
        """The processes by name, or None if something is wrong with one of them, which is noted."""
        processes: dict[str, Scheduled[AbstractProcess]] = {}
        for name, kind in kinds.items():
            with self.components.problems.noting(_path(name)):
                if kind is not None:
                    process = _process(kind.component, settings, wind, start_utc)
                    processes[name] = Scheduled(process, kind.every)
        return processes if len(processes) == len(kinds) else None


def _process(
    kind: AbstractConstellation | AbstractPlume | AbstractTerrain,
    settings: WorldSettings,
    wind: AbstractWind,
    start_utc: datetime,
) -> AbstractProcess:
    if isinstance(kind, AbstractConstellation):
        return Satellites(kind.orbits(settings.origin, start_utc), kind.errors)
    if isinstance(kind, AbstractTerrain):
        return Ground(kind, settings.area)
    blowing = wind.velocity_world_mps(WIND_HEIGHT_M)
    carrying = Vec3(float(blowing.x), float(blowing.y), float(blowing.z))
    site = Site(carrying, settings.ground_z_m, settings.area)
    kind.check(site)
    return Plume(kind, site)


def _path(name: str) -> KeyPath:
    if name.startswith(PLUME):
        return ("world", PLUMES_KEY, name.removeprefix(PLUME))
    return ("world", name)
