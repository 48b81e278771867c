"""Schema of a scenario file.

It declares the parts that every scenario has; components declare the parameters of their entries.
"""

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from jaxtyping import Float64
from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.errors import ScenarioError, listed
from kittiwake.core.units import stored_name
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module
from kittiwake.scenario.problems import STATEMENT, DeclaredModel, shortened
from kittiwake.vehicles import VEHICLES
from kittiwake.world.world import FlightArea, Origin

MAX_VEHICLES = 1_000_000
# vehicles in a row of a grid
ROW = Bounds(1.0, float(MAX_VEHICLES))
# in place of a policy file: the task's own policy, without learning
TASK_POLICY = "task"
# section of a vehicle
PARAMETERS = "parameters"
# version of the format of scenario files
FORMAT = 1
# among the sensors of a vehicle, the file with recorded measurements
RECORDED = "file"
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"

Name = Annotated[str, Field(pattern=NAME_PATTERN)]
# a component, which its builder validates
Entry = Any


class TimeSettings(Module):
    """``time``: physics rate, log rate and duration.

    Without ``log_rate_hz`` every step is logged. Guidance with an end gives the default duration.
    With ``until_done`` a flight ends as soon as all guidance with an end is done, at the latest
    after the duration, by default an hour.
    """

    rate_hz: Annotated[Real, POSITIVE] = 50.0
    duration_s: Annotated[Real, POSITIVE] | None = None
    log_rate_hz: Annotated[Real, POSITIVE] | None = None
    until_done: bool = False


class WorldSettings(Module):
    """``world`` without its components.

    The default ``magnetic_field_world_t`` is that of the World Magnetic Model.
    """

    gravity_mps2: Annotated[Real, POSITIVE] = 9.81
    ground_z_m: Real = 0.0
    origin: Origin = Origin()
    start_utc: str = "2026-01-01T12:00:00"
    magnetic_field_world_t: Vec3 | None = None
    area: FlightArea = FlightArea()
    collision_distance_m: Annotated[Real, POSITIVE] | None = None


class Repetition(Module):
    """Positions of the vehicles of a counted entry.

    ``spacing_m`` is the vector from each vehicle to the next. With a ``grid`` it is the spacing
    along each axis, and ``grid`` the number of vehicles along x and of rows along y; further
    layers follow along z.
    """

    spacing_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    grid: tuple[Annotated[int, ROW], Annotated[int, ROW]] | None = None

    def offsets_m(self, count: int) -> Float64[np.ndarray, "count 3"]:
        """Return each vehicle's offset from the first one; infinite on overflow."""
        spacing_m = np.array([self.spacing_m.x, self.spacing_m.y, self.spacing_m.z], float)
        number = np.arange(count)
        steps = np.repeat(number[:, None], 3, axis=1)
        if self.grid is not None:
            along, across = self.grid
            row = number // along
            steps = np.stack([number % along, row % across, row // across], axis=1)
        with np.errstate(over="ignore"):
            return steps * spacing_m


def check_name(name: str) -> None:
    """Raise ScenarioError for a text that cannot be the name of a scenario or vehicle."""
    if not re.match(NAME_PATTERN, name):
        message = (
            f"`NAME`: got {shortened(name)}; must begin with a letter, then letters, digits, "
            "'-' and '_', at most 64 in all"
        )
        raise ScenarioError(message)


@lru_cache(16)
def entry_vehicle_names(entry: str, count: int | None) -> tuple[str, ...]:
    """Return the names of an entry's vehicles: the entry's own, or numbered from NAME-1."""
    if count is None:
        return (entry,)
    width = len(str(count))
    return tuple(f"{entry}-{i + 1:0{width}}" for i in range(count))


def parameter_paths(key: str, vehicles: Any) -> list[str]:
    """Return the paths at which vehicles of a scenario file have a parameter of this name."""
    entries = vehicles.items() if isinstance(vehicles, Mapping) else ()
    return [f"vehicles.{name}.{PARAMETERS}.{key}" for name, entry in entries if _has(entry, key)]


def _has(entry: Any, key: str) -> bool:
    """Return True if the model of a vehicle's entry has a parameter of this name."""
    model = entry.get("model") if isinstance(entry, Mapping) else None
    if not isinstance(model, str) or model not in VEHICLES.entries:
        return False
    return stored_name(key) in {field.name for field in fields(VEHICLES.parameters_of(model))}


class VehicleSchema(DeclaredModel):
    """Entry of ``vehicles``.

    Among the sensors, ``file`` names recorded measurements of all of them.
    """

    model_config = ConfigDict(strict=True)

    model: Annotated[str, Field(max_length=100)]
    count: Annotated[int, Field(ge=1, le=MAX_VEHICLES)] | None = None
    spacing_m: list[Any] | None = None
    grid: list[Any] | None = None
    start: dict[str, Any] = {}
    # a file of recorded values
    motion: Annotated[str, Field(max_length=1000)] | None = None
    partner: Name | None = None
    team: Name | None = None
    leader: Name | None = None
    parameters: dict[str, Any] = {}
    sensors: dict[Name, Entry] = {}
    estimator: Entry = "truth"
    controller: Entry = None
    guidance: Entry = "hold"
    avoidance: Entry = []
    computation_delay_s: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    faults: list[Entry] = []

    @classmethod
    @override
    def advice_on(cls, key: Any, data: Mapping[Any, Any]) -> str:
        return f"Did you mean {PARAMETERS}.{key}?" if _has(data, str(key)) else ""

    @property
    def instruments(self) -> dict[str, Any]:
        """Entries of the sensors."""
        return {name: entry for name, entry in self.sensors.items() if name != RECORDED}


def _require_known_format(version: int) -> int:
    if version != FORMAT:
        message = f"format {version} is not known; this version of Kittiwake reads format {FORMAT}"
        raise PydanticCustomError(STATEMENT, "{sentence}", {"sentence": message})
    return version


class ScenarioSchema(DeclaredModel):
    """Scenario file; one without ``format`` is of the newest."""

    model_config = ConfigDict(strict=True)

    format: Annotated[int, AfterValidator(_require_known_format)] = FORMAT
    name: Name
    description: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    time: dict[str, Any] = {}
    world: dict[str, Any] = {}
    physics: Entry = "compliant"
    joystick: dict[str, Any] = {}
    ros: dict[str, Any] = {}
    lost_vehicle: Literal["fail", "continue"] = "fail"
    task: Entry = None
    # a file, or TASK_POLICY
    policy: Annotated[str, Field(max_length=1000)] | None = None
    randomise: dict[str, Any] = {}
    randomize: dict[str, Any] = {}
    curriculum: dict[str, Any] = {}
    vehicles: Annotated[dict[Name, VehicleSchema], Field(min_length=1)]

    @classmethod
    @override
    def advice_on(cls, key: Any, data: Mapping[Any, Any]) -> str:
        paths = parameter_paths(str(key), data.get("vehicles"))
        return f"Did you mean {listed(paths)}?" if paths else ""
