"""Which field of its world a probe is in, as far as the scenario of a log says."""

from collections.abc import Mapping
from typing import Any

from kittiwake.analysis.log import Log


def field_of(log: Log, vehicle: str, sensor: str) -> tuple[str, str]:
    """The name of a probe's field, of several the first unless it names one, and its unit."""
    fields = mapping_in(log.scenario, "world", "fields")
    entry = mapping_in(log.scenario, "vehicles")
    # one of several vehicles of an entry is named with a number
    entry = entry.get(vehicle) or entry.get(vehicle.rpartition("-")[0])
    given = mapping_in(entry, "sensors", sensor).get("field")
    name = given if isinstance(given, str) else next(iter(fields), sensor)
    return str(name), str(mapping_in(fields, name).get("unit", ""))


def mapping_in(data: Any, *keys: str) -> Mapping[str, Any]:
    """The mapping at a place in another; an empty one if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}
