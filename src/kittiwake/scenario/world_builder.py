"""Builder of the world from a scenario's ``world``."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from kittiwake.core.component import Scheduled
from kittiwake.core.errors import MissingExtraError, ScenarioError, did_you_mean
from kittiwake.environment import (
    ATMOSPHERES,
    CURRENTS,
    INTERACTIONS,
    OBSTACLES,
    PLATFORMS,
    REGIONS,
    TURBULENCE,
    WINDS,
)
from kittiwake.environment.magnetism import earth_field_world_t
from kittiwake.environment.proximity import Proximity
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.parameters import parameters_model
from kittiwake.scenario.problems import KeyPath, Plain, shortened
from kittiwake.scenario.process_builder import KEYS, ProcessBuilder
from kittiwake.scenario.schema import WorldSettings
from kittiwake.swarm import RADIOS
from kittiwake.world.environment import AbstractTurbulence, AbstractWind, SumOfWinds
from kittiwake.world.radio import AbstractRadio
from kittiwake.world.world import WorldModel

SINGLE = {
    "current": (CURRENTS, "none"),
    "atmosphere": (ATMOSPHERES, "isa"),
}
RADIO = ("radio",)
AXES = 3
CONSTANT = "constant"
WIND_ADVICE = (
    "write the velocity of the air in m/s as [east, north, up], such as [6, 0, 0] for a wind "
    f"towards the east, or a type of wind, such as {{type: {CONSTANT}, speed_mps: 6, "
    "from_deg: 270}, or a list of winds that add up"
)
# range in which other vehicles are detected, in collision distances
PROXIMITY_FACTOR = 2.0
NAMED = {"regions": REGIONS, "platforms": PLATFORMS, "obstacles": OBSTACLES}


class BuiltWorld(NamedTuple):
    """World settings, world and turbulence; the last two are None after a mistake in them."""

    settings: WorldSettings
    world: WorldModel | None
    turbulence: Scheduled[AbstractTurbulence] | None


@dataclass
class WorldBuilder:
    """Builder of the world of one document."""

    components: ComponentBuilder

    def build(self, given: dict[str, Any]) -> BuiltWorld:
        """Return settings, world and turbulence."""
        data = dict(given)
        wind = self._wind(data.pop("wind", "none"), ("world", "wind"))
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
        radios = tuple(self._radio(data.pop(key)) for key in RADIO if key in data)
        interactions = self.components.listed(
            INTERACTIONS, data.pop("interactions", []), ("world", "interactions")
        )
        evolving = ProcessBuilder(self.components)
        kinds = evolving.kinds(data)
        self._refuse_unknown(data)
        settings = self.components.settings(WorldSettings, data, ("world",)) or WorldSettings()
        several = [*radios, *interactions, *(part for group in named.values() for part in group)]
        if wind is None or None in (*single.values(), *several):
            return BuiltWorld(settings, None, turbulence)
        start_utc = self._start_utc(settings)
        if start_utc is None:
            return BuiltWorld(settings, None, turbulence)
        field, no_field_reason = _magnetic_field(settings, start_utc)
        distance_m = settings.collision_distance_m
        if distance_m is not None and not any(isinstance(i, Proximity) for i in interactions):
            interactions = (*interactions, Proximity(PROXIMITY_FACTOR * distance_m))
        world = WorldModel(
            gravity_mps2=settings.gravity_mps2,
            ground_z_m=settings.ground_z_m,
            origin=settings.origin,
            start_utc=start_utc,
            magnetic_field_world_t=field,
            no_field_reason=no_field_reason,
            area=settings.area,
            collision_distance_m=distance_m or 0.0,
            interactions=interactions,
            atmosphere=single["atmosphere"],
            wind=wind,
            current=single["current"],
            regions=named["regions"],
            platforms=named["platforms"],
            obstacles=named["obstacles"],
            obstacle_names=tuple(given.get("obstacles", {})),
            platform_names=tuple(given.get("platforms", {})),
            radio=next(iter(radios), None),
        )
        processes = evolving.processes(kinds, world)
        if processes is None:
            return BuiltWorld(settings, None, turbulence)
        return BuiltWorld(settings, replace(world, processes=processes), turbulence)

    def _wind(self, given: Plain, path: KeyPath) -> AbstractWind | None:
        """Return the mean wind, or None after collecting its mistakes; winds of a list add up."""
        if isinstance(given, list) and any(isinstance(one, list | dict | str) for one in given):
            winds = [self._wind(one, (*path, index)) for index, one in enumerate(given)]
            return None if None in winds else SumOfWinds(tuple(wind for wind in winds if wind))
        if _is_number(given) or (isinstance(given, list) and len(given) != AXES):
            self.components.problems.add(path, f"{shortened(given)} is not allowed; {WIND_ADVICE}")
            return None
        entry = {"type": CONSTANT, "wind_world_mps": given} if isinstance(given, list) else given
        return self.components.component(WINDS, entry, path)

    def _radio(self, given: Any) -> Scheduled[AbstractRadio] | None:
        """Return the radio, or None after collecting its mistakes."""
        radio = self.components.scheduled(RADIOS, given, ("world", *RADIO))
        if radio is None:
            return None
        with self.components.problems.collecting(("world", *RADIO)):
            radio.component.check(radio.every / self.components.rate_hz)
            return radio
        return None

    def _start_utc(self, settings: WorldSettings) -> datetime | None:
        """Return the time at which the flight starts, or None after collecting a mistake."""
        with self.components.problems.collecting(("world", "start_utc")):
            return _time_utc(settings.start_utc)
        return None

    def _refuse_unknown(self, data: dict[str, Any]) -> None:
        """Note and remove unknown keys; the allowed ones include the world's components."""
        settings = parameters_model(WorldSettings).model_fields
        for key in [key for key in data if key not in settings]:
            del data[key]
            known = did_you_mean(
                key,
                [*settings, "wind", *SINGLE, *NAMED, *RADIO, "turbulence", "interactions", *KEYS],
            )
            self.components.problems.add(("world", key), f"there is no such key. {known}")


def _is_number(given: Plain) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)


def _magnetic_field(settings: WorldSettings, start_utc: datetime) -> tuple[Vec3 | None, str]:
    """Return the magnetic field, or the reason why it is unknown, for sensors of it."""
    if settings.magnetic_field_world_t is not None:
        return settings.magnetic_field_world_t, ""
    try:
        return earth_field_world_t(settings.origin, start_utc), ""
    except (MissingExtraError, ScenarioError) as error:
        return None, str(error)


def _time_utc(written: str) -> datetime:
    try:
        time = datetime.fromisoformat(written)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    # conversion to UTC may overflow on the first and the last day of the calendar
    except (ValueError, OverflowError):
        message = f"{shortened(written)} is not allowed; write a time such as 2026-06-30T09:30:00"
        raise ScenarioError(message) from None
