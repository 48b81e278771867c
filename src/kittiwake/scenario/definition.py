"""Vehicles and worlds as Python code defines them, as entries of a scenario."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, TypeAlias, TypeVar

import numpy as np
from typing_extensions import override

from kittiwake.core.arguments import VECTOR, ArgumentRule, checked_arguments
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.specification import ComponentSpec
from kittiwake.pytree import Module
from kittiwake.scenario.merging import as_written
from kittiwake.scenario.own_components.entries import ROLES, OwnComponent, is_own

# a specification, a registered name, an entry as in a scenario file, or an object of one's own
Component: TypeAlias = Any
Vector: TypeAlias = Any

D = TypeVar("D")


def _checked(**rules: ArgumentRule) -> Callable[[type[D]], type[D]]:
    """Return a decorator with which a data class refuses wrong arguments."""

    def decorate(definition: type[D]) -> type[D]:
        check = checked_arguments(definition.__name__, **rules)
        setattr(definition, "__init__", check(vars(definition)["__init__"]))  # noqa: B010
        return definition

    return decorate


def _model_instead(given: Any) -> str:
    """Return how dynamics that are given as a model, or the reverse, are written."""
    if isinstance(given, str):
        return f"model={given!r}"
    if isinstance(given, ComponentSpec):
        return f"dynamics=kw.vehicles.{given!r}"
    if isinstance(given, type) and issubclass(given, ComponentSpec):
        return f"dynamics=kw.vehicles.{given.__name__}()"
    return ""


def _start_instead(given: Any) -> str:
    """Return how a position that is given as a start is written."""
    if not VECTOR.allows(given):
        return ""
    return f"start={{'position_world_m': {[float(part) for part in given]}}}"


def _named(example: str) -> ArgumentRule:
    return ArgumentRule(
        lambda value: isinstance(value, Mapping), f"a mapping of names, such as {example}"
    )


@_checked(
    model=ArgumentRule(
        lambda value: isinstance(value, str),
        "the name of a vehicle model, such as 'hummingbird'",
        _model_instead,
    ),
    dynamics=ArgumentRule(
        lambda value: isinstance(value, ComponentSpec),
        "a model with parameters, such as kw.vehicles.hummingbird(mass_kg=0.6)",
        _model_instead,
    ),
    start=ArgumentRule(
        lambda value: isinstance(value, Start | Mapping),
        "a kw.Start, or a mapping of its fields",
        _start_instead,
    ),
    sensors=_named("{'gnss': kw.sensors.Gnss()}"),
)
@dataclass(kw_only=True, repr=False)
class Vehicle:
    """Vehicle of a scenario; what is left out comes from its model, as in a scenario file.

    Components are specifications such as ``kittiwake.sensors.Gnss(rate_hz=5)``, registered names
    such as ``"gnss"``, or mappings as in a scenario file. Sensors, estimator, guidance and
    controllers may also be objects of the user's own with ``update``, or components in JAX.

    Attributes:
        model: name of the vehicle model, as in ``kittiwake list vehicles``.
        dynamics: the model with parameters, such as ``kittiwake.vehicles.hummingbird()``.
        start: pose and velocity at the start, by the keys of a scenario file or a ``Start``.
        motion: CSV file of a recorded motion, in place of the model's.
        sensors: the sensors by name; ``file`` is a CSV file of their recorded measurements.
        estimator: the state estimator; the true state by default.
        guidance: the guidance; by default the vehicle holds its start.
        controllers: the cascade from high to low; those of the model by default.
        avoidance: obstacle avoidance between guidance and controllers.
        computation_delay_s: time from a measurement until the actuator command that was computed
            from it takes effect, rounded up to whole physics steps; 0 by default.
        faults: faults of parts, each from a given time on.
        count: number of vehicles, which are then named NAME-1, NAME-2 and so on.
        spacing_m: vector from each of these vehicles to the next, or spacing of the grid.
        grid: number of these vehicles along x and of rows along y.
        partner: vehicle or platform whose deck it follows.
        team: name of its team.
        leader: name of the vehicle that it follows.
    """

    model: str | None = None
    dynamics: ComponentSpec | None = None
    start: Any = None
    motion: str | None = None
    sensors: Mapping[str, Component] | None = None
    estimator: Component = None
    guidance: Component = None
    controllers: Component | Sequence[Component] = None
    avoidance: Component | Sequence[Component] = None
    computation_delay_s: float | None = None
    faults: Sequence[Component] | None = None
    count: int | None = None
    spacing_m: Vector = None
    grid: tuple[int, int] | None = None
    partner: str | None = None
    team: str | None = None
    leader: str | None = None

    @override
    def __repr__(self) -> str:
        return _shown(self)

    def as_entry(self) -> dict[str, Any]:
        """Return the entry of a scenario file.

        Raises:
            ScenarioError: unless it has either a model or dynamics.
        """
        if (self.model is None) == (self.dynamics is None):
            message = (
                "`Vehicle`: give either model, such as model='hummingbird', or dynamics, such as "
                "dynamics=kittiwake.vehicles.hummingbird(mass_kg=0.6)"
            )
            raise ScenarioError(message)
        entry = _given(self)
        if self.dynamics is not None:
            parameters = as_plain(entry.pop("dynamics").parameters)
            entry = {"model": self.dynamics.name, "parameters": parameters} | entry
        if "controllers" in entry:
            entry["controller"] = entry.pop("controllers")
        return {key: as_plain(value) for key, value in entry.items()}


@_checked(
    obstacles=ArgumentRule(
        lambda value: isinstance(value, Mapping | list | tuple),
        "obstacles by name, or in a list",
        lambda value: f"obstacles=[{value!r}]" if isinstance(value, ComponentSpec) else "",
    ),
    regions=_named("{'box': ...}"),
    platforms=_named("{'pad': ...}"),
    plumes=_named("{'chimney': ...}"),
    fields=_named("{'salinity': ...}"),
)
@dataclass(kw_only=True, repr=False)
class World:
    """World of a scenario, with the keys of ``world`` in a scenario file.

    Attributes:
        gravity_mps2: gravitational acceleration.
        ground_z_m: height of the ground.
        origin: geodetic position of the world's origin.
        start_utc: time at which the flight begins, such as ``"2026-06-30T09:30:00"``.
        magnetic_field_world_t: magnetic field; that of the World Magnetic Model by default.
        area: area outside which a vehicle is lost, by axis.
        collision_distance_m: distance between vehicles below which they are lost.
        wind: mean wind: a specification, several in a list, or a velocity (east, north, up) in m/s.
        turbulence: turbulence beside the mean wind.
        atmosphere: density, pressure and temperature by height.
        current: current of the water.
        waves: waves of the water.
        regions: boxes with a wind or a force, by name.
        platforms: landing platforms, by name.
        obstacles: obstacles by name, or in a sequence.
        interactions: effects of vehicles on each other.
        radio: radio that tells vehicles of each other.
        satellites: satellite constellation for GNSS sensors.
        terrain: classes of the terrain.
        plumes: plumes by name.
        fields: scalar fields by name.
    """

    gravity_mps2: float | None = None
    ground_z_m: float | None = None
    origin: Any = None
    start_utc: str | None = None
    magnetic_field_world_t: Vector = None
    area: Any = None
    collision_distance_m: float | None = None
    wind: Component | Sequence[Component] = None
    turbulence: Component = None
    atmosphere: Component = None
    current: Component = None
    waves: Component = None
    regions: Mapping[str, Component] | None = None
    platforms: Mapping[str, Component] | None = None
    obstacles: Mapping[str, Component] | Sequence[Component] | None = None
    interactions: Sequence[Component] | None = None
    radio: Component = None
    satellites: Component = None
    terrain: Component = None
    plumes: Mapping[str, Component] | None = None
    fields: Mapping[str, Component] | None = None

    @override
    def __repr__(self) -> str:
        return _shown(self)

    def as_entry(self) -> dict[str, Any]:
        """Return the entry of a scenario file."""
        entry = {key: as_plain(value) for key, value in _given(self).items()}
        obstacles = entry.get("obstacles")
        if isinstance(obstacles, list):
            entry["obstacles"] = {f"obstacle-{i + 1}": one for i, one in enumerate(obstacles)}
        return entry


def as_plain(value: Any) -> Any:
    """Return a value as data of a scenario file, with components of the user's own as they are."""
    if isinstance(value, ComponentSpec | Vehicle | World):
        return as_plain(value.as_entry())
    if isinstance(value, Mapping):
        return {key: as_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, PathLike):
        return fspath(value)
    if is_own(value):
        name = _registered_name(value)
        return OwnComponent.of(value) if name is None else {"type": name, **as_written(value)}
    return as_written(value) if isinstance(value, Module) else value


def _registered_name(component: Any) -> str | None:
    """Return the name of a component's class in its registry; None if it is not registered."""
    names = [
        role.registry.registered_name(type(component))
        for role in ROLES
        if isinstance(component, role.interface)
    ]
    return next((name for name in names if name is not None), None)


def _shown(definition: Vehicle | World) -> str:
    """Return the call that defines the same, with what was given."""
    given = ", ".join(f"{key}={value!r}" for key, value in _given(definition).items())
    return f"{type(definition).__name__}({given})"


def _given(definition: Vehicle | World) -> dict[str, Any]:
    values = {
        field.name: getattr(definition, field.name) for field in dataclasses.fields(definition)
    }
    return {key: value for key, value in values.items() if value is not None}
