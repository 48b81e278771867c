"""JSON Schema of scenario files, from the models that validate them.

Editors complete and check a scenario with it. It follows JSON Schema 2020-12.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from kittiwake.actuators import FAULTS
from kittiwake.control import CONTROLLERS
from kittiwake.core.kinematics import Start
from kittiwake.core.registry import Registry
from kittiwake.environment import INTERACTIONS, TURBULENCE, WINDS
from kittiwake.estimation import ESTIMATORS
from kittiwake.guidance import AVOIDANCE, GUIDANCE
from kittiwake.physics import PHYSICS
from kittiwake.scenario import process_builder, world_builder
from kittiwake.scenario.components import FROM, INERTIA, URDF
from kittiwake.scenario.joystick_settings import JoystickSettings
from kittiwake.scenario.parameters import FAMILY, REGISTRIES, parameters_model
from kittiwake.scenario.ros_settings import RosSettings
from kittiwake.scenario.schema import (
    RECORDED,
    Repetition,
    ScenarioSchema,
    TimeSettings,
    VehicleSchema,
    WorldSettings,
)
from kittiwake.sensors import SENSOR_ERRORS, SENSORS
from kittiwake.swarm import RADIOS
from kittiwake.vehicles import VEHICLES

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SETTINGS = (TimeSettings, WorldSettings, Start, Repetition, JoystickSettings, RosSettings)
# the families of the entries of a world and of a vehicle, by key: one entry, or several by name
WORLD = {
    "turbulence": TURBULENCE,
    "radio": RADIOS,
    **{key: registry for key, (registry, _) in world_builder.SINGLE.items()},
    **process_builder.SINGLE,
}
WORLD_BY_NAME = {**world_builder.NAMED, **process_builder.NAMED}
VEHICLE = {"estimator": ESTIMATORS, "guidance": GUIDANCE}
# one, or several in order
VEHICLE_SERIES = {"controller": CONTROLLERS, "avoidance": AVOIDANCE}
VECTOR = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}

# keys of an entry beside the parameters of its component
ENTRY_KEYS: dict[str, Any] = {
    "rate_hz": {"type": "number", "exclusiveMinimum": 0},
    "errors": {"type": "array", "items": {"$ref": f"#/$defs/{SENSOR_ERRORS.family}"}},
}
# instead of numbers: from solids, or from a file of a robot
OF_SOLIDS = {"type": "object", "required": [FROM]}

Schema = dict[str, Any]


def scenario_json_schema() -> Schema:
    """Return the JSON Schema of a scenario file."""
    records = _Records(_parameter_classes())
    families = {registry.family: records.family(registry) for registry in _families()}
    world = records.properties(WorldSettings) | {
        "wind": {"anyOf": [_ref(WINDS), VECTOR, _list_of({"anyOf": [_ref(WINDS), VECTOR]})]},
        "interactions": _list_of(_ref(INTERACTIONS)),
        **{key: _ref(registry) for key, registry in WORLD.items()},
        **{key: _by_name(_ref(registry)) for key, registry in WORLD_BY_NAME.items()},
    }
    vehicle = VehicleSchema.model_json_schema()["properties"] | {
        "model": {"enum": VEHICLES.names()},
        "start": records.record(Start),
        "sensors": _by_name(_ref(SENSORS)) | {"properties": {RECORDED: {"type": "string"}}},
        "faults": _list_of(_ref(FAULTS)),
        **records.properties(Repetition),
        **{key: _ref(registry) for key, registry in VEHICLE.items()},
        **{key: _one_or_several(registry) for key, registry in VEHICLE_SERIES.items()},
    }
    by_model = [*map(records.model_parameters, VEHICLES.names())]
    top = ScenarioSchema.model_json_schema()["properties"] | {
        "time": records.record(TimeSettings),
        "world": _object(world),
        "physics": _ref(PHYSICS),
        "joystick": records.record(JoystickSettings),
        "ros": records.record(RosSettings),
        "vehicles": _by_name(_object(vehicle, ["model"]) | {"allOf": by_model}),
    }
    return {
        "$schema": DIALECT,
        "title": "Kittiwake scenario",
        **_object(top, ["name", "vehicles"]),
        "$defs": records.definitions | families,
    }


# a class of a Python file, with the keys of its own parameters
OF_CODE: Schema = {
    "type": "object",
    "properties": {
        "file": {"type": "string"},
        "class": {"type": "string"},
        "rate_hz": ENTRY_KEYS["rate_hz"],
    },
    "required": ["file", "class"],
    "not": {"required": ["type"]},
    "description": "a class of a Python file, loaded only where it is allowed",
}


class _Records:
    """Schemas of parameter records, whose shared parts are definitions."""

    def __init__(self, classes: Iterable[type[Any]]) -> None:
        models = {cls: parameters_model(cls) for cls in classes}
        pairs: list[tuple[type[BaseModel], Any]] = [
            (model, "validation") for model in models.values()
        ]
        references, whole = models_json_schema(pairs)
        self.definitions: Schema = _with_families(whole["$defs"])
        self._names = {
            cls: references[model, "validation"]["$ref"].rpartition("/")[2]
            for cls, model in models.items()
        }

    def record(self, cls: type[Any]) -> Schema:
        """Return the schema of a record by reference."""
        return {"$ref": f"#/$defs/{self._names[cls]}"}

    def properties(self, cls: type[Any]) -> Schema:
        """Return the schemas of a record's keys."""
        return self.definitions[self._names[cls]].get("properties", {})

    def family(self, registry: Registry) -> Schema:
        """Return the schema of an entry of a family: a name, or a mapping with ``type``."""
        names = registry.names()
        own = [OF_CODE] if registry is CONTROLLERS else []
        entries = [self._entry(registry, name) for name in names]
        return {"anyOf": [{"enum": names}, *entries, *own]}

    def _entry(self, registry: Registry, name: str) -> Schema:
        """Return the schema of a mapping with ``type``."""
        cls = registry.parameters_of(name)
        keys = {key: ENTRY_KEYS[key] for key in registry.entry_keys}
        # controllers take what is missing from the vehicle, others from their defaults
        is_controller = registry is CONTROLLERS
        defaults = parameters_model(cls).nested_defaults
        own = {
            key: self._partial(part) if is_controller or key in defaults else part
            for key, part in self.properties(cls).items()
        }
        entry = _object({"type": {"const": name}, **keys, **own}, ["type"])
        needed = [] if is_controller else self._required(cls)
        conditions = {"allOf": needed} if needed else {}
        return entry | conditions | {"description": registry.entries[name].summary}

    def _required(self, cls: type[Any]) -> list[Schema]:
        """Return a condition for each required key, which may be written in another unit."""
        names = parameters_model(cls).name_of_user_key
        conditions: list[Schema] = []
        for key in self.definitions[self._names[cls]].get("required", []):
            spellings = [key, *(other for other, name in names.items() if name == key)]
            conditions.append({"anyOf": [{"required": [one]} for one in spellings]})
        return conditions

    def model_parameters(self, name: str) -> Schema:
        """Return the condition on the parameters of a vehicle model."""
        given = self.properties(VEHICLES.parameters_of(name))
        known = {key: self._partial(part) for key, part in given.items()}
        if INERTIA in known:
            known[INERTIA] = {"anyOf": [known[INERTIA], OF_SOLIDS]}
        parameters = _object(known | {URDF: {}})
        return {
            "if": {"properties": {"model": {"const": name}}},
            "then": {"properties": {"parameters": parameters}},
        }

    def _partial(self, schema: Schema) -> Schema:
        """Return the schema of a value that a scenario may give in part, the rest by default."""
        alternatives = schema.get("anyOf")
        if alternatives is not None:
            return schema | {"anyOf": [*map(self._partial, alternatives)]}
        definition = self.definitions.get(str(schema.get("$ref")).rpartition("/")[2])
        if definition is not None:
            return {key: part for key, part in definition.items() if key != "required"}
        return {"anyOf": [schema, {"type": "object"}]} if "$ref" in schema else schema


def _families() -> list[Registry]:
    """Return the families whose entries a scenario may hold."""
    keyed = [*WORLD.values(), *WORLD_BY_NAME.values(), *VEHICLE.values(), *VEHICLE_SERIES.values()]
    single = [WINDS, INTERACTIONS, SENSORS, SENSOR_ERRORS, FAULTS, PHYSICS]
    # a family without some of its members comes first, so that the whole one takes its place
    return [*REGISTRIES.values(), *keyed, *single]


def _parameter_classes() -> list[type[Any]]:
    entries = [
        registry.parameters_of(name) for registry in _families() for name in registry.names()
    ]
    models = [VEHICLES.parameters_of(name) for name in VEHICLES.names()]
    return [*dict.fromkeys([*SETTINGS, *entries, *models])]


def _with_families(schema: Any) -> Any:
    """Return a schema with references in place of its placeholders for families."""
    if isinstance(schema, list):
        return [_with_families(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    known = {key: _with_families(part) for key, part in schema.items() if key != FAMILY}
    family = schema.get(FAMILY)
    return known | {"$ref": f"#/$defs/{family}"} if isinstance(family, str) else known


def _ref(registry: Registry) -> Schema:
    return {"$ref": f"#/$defs/{registry.family}"}


def _object(properties: Mapping[str, Any], required: Iterable[str] = ()) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [*required],
        "additionalProperties": False,
    }


def _by_name(entry: Schema) -> Schema:
    return {"type": "object", "additionalProperties": entry}


def _list_of(entry: Schema) -> Schema:
    return {"type": "array", "items": entry}


def _one_or_several(registry: Registry) -> Schema:
    return {"anyOf": [_ref(registry), _list_of(_ref(registry))]}
