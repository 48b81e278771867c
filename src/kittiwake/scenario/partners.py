"""Partners: the vessels or platforms whose decks vehicles follow."""

from collections.abc import Mapping

from kittiwake.core.component import Scheduled
from kittiwake.core.copies import distinct
from kittiwake.core.errors import did_you_mean
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.problems import ProblemList, dotted
from kittiwake.scenario.schema import VehicleSchema, entry_vehicle_names
from kittiwake.world.world import WorldModel


def partners(
    entries: Mapping[str, VehicleSchema],
    vehicles: Mapping[str, AssembledVehicle],
    world: WorldModel | None,
    problems: ProblemList,
) -> dict[str, str]:
    """Return the partner of each vehicle that has one, by name; notes wrong partners.

    Two entries of equal ``count`` are paired by number.
    """
    platforms = () if world is None else world.platform_names
    found: dict[str, str] = {}
    for name, entry in entries.items():
        own_names = built_vehicle_names(name, entry, vehicles)
        path = ("vehicles", name, "partner")
        if entry.partner is None:
            sensors = distinct(vehicles[own].sensors for own in own_names)
            if any(map(_requires_partner, sensors.values())):
                problems.add(path, "is missing; write the vehicle whose deck the sensors observe")
            continue
        given = entry.partner
        # an invalid count has its own message, and the intended number is unknown
        refused = f"{dotted(('vehicles', name, 'count'))}: "
        counted = not any(refused in line for line in problems.lines)
        others = (
            built_vehicle_names(given, entries[given], vehicles) if given in entries else [given]
        )
        if given not in entries and given not in platforms:
            others_named = [*(n for n in entries if n != name), *platforms]
            problems.add(path, _unknown_partner(given, others_named, vehicles))
        elif given == name:
            problems.add(path, "is the vehicle itself; write another one, or a platform")
        elif any(o in vehicles and vehicles[o].dynamics.deck is None for o in others):
            problems.add(path, f"{given} has no deck; give it one under parameters.deck")
        elif own_names and others and len(others) not in (1, len(own_names)) and counted:
            problems.add(
                path,
                f"{given} has count {len(others)}, {name} {len(own_names)}; write equal counts",
            )
        else:
            several = others if len(others) > 1 else others * len(own_names)
            # an invalid entry has no vehicles and its own message
            found |= dict(zip(own_names, several, strict=False))
    return found


def _unknown_partner(given: str, known: list[str], vehicles: Mapping[str, AssembledVehicle]) -> str:
    """Return the message about a partner that is neither an entry nor a platform."""
    if given in vehicles:
        whole = given.rpartition("-")[0]
        return f"'{given}' is one vehicle of {whole}; write the entry's name: {whole}"
    return f"there is no vehicle and no platform '{given}'. {did_you_mean(given, known)}"


def built_vehicle_names(
    name: str, entry: VehicleSchema, vehicles: Mapping[str, AssembledVehicle]
) -> list[str]:
    """Return the names of an entry's vehicles; empty for an invalid entry."""
    return [vehicle for vehicle in entry_vehicle_names(name, entry.count) if vehicle in vehicles]


def _requires_partner(sensors: Mapping[str, Scheduled[Instrument]]) -> bool:
    return any(part.component.sensor.sees_partner for part in sensors.values())
