"""All about one name: what it is, where it stands on the ladder, and what can be given for it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kittiwake.cli.parameters import Parameter, parameters_of, rate_of
from kittiwake.core.registry import Registry
from kittiwake.core.units import USER_UNITS
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.scenario.components import has_mass_and_inertia
from kittiwake.scenario.document import read_document
from kittiwake.scenario.load import find
from kittiwake.tasks.task import AbstractTask
from kittiwake.vehicles.model import VehicleModel


@dataclass(frozen=True)
class Description:
    """What is known of a name in one family.

    Attributes:
        heading: the kind of thing and its name.
        lines: sentences about it.
        parameters: what can be given for it, by key; of a scenario, its values by path.
    """

    family: str
    heading: str
    lines: tuple[str, ...]
    parameters: dict[str, Parameter]


def describe(registry: Registry | None, name: str, summary: str) -> Description:
    """A name of a registry, or of the library of scenarios if there is none."""
    if registry is None:
        return _scenario(name, summary)
    thing = registry.find(name)
    heading = f"{registry.noun} {name}"
    if isinstance(thing, VehicleModel):
        return Description(
            registry.family,
            heading,
            (summary, *_of_vehicle(thing)),
            parameters_of(thing.dynamics, thing.parameters()) | _body_of(thing),
        )
    lines = [summary]
    if issubclass(thing, AbstractController):
        lines.append(f"Takes {thing.consumes.__name__}, gives {thing.produces.__name__}.")
        lines.append("Of what is required it takes from the vehicle what that tells of itself.")
    if issubclass(thing, AbstractSensor):
        told = ", ".join(field.name for field in fields(thing.measures))
        lines.append(f"Measures {told}. Takes a list of errors beside these keys:")
    if issubclass(thing, AbstractTask):
        lines += _of_task(thing)
    parameters = parameters_of(thing) | rate_of(thing)
    return Description(registry.family, heading, tuple(lines), parameters)


def to_plain(descriptions: Sequence[Description]) -> dict[str, Any]:
    """Parameters by key, for JSON; of a name in several families, by ``family.key``."""
    alone = len(descriptions) == 1
    return {
        key if alone else f"{description.family}.{key}": asdict(parameter)
        for description in descriptions
        for key, parameter in description.parameters.items()
    }


def show_description(description: Description) -> None:
    """Prints a name's heading, what is said of it, and a table of its parameters."""
    console = Console()
    console.print(description.heading, style="bold", highlight=False, markup=False)
    for line in description.lines:
        console.print(line, highlight=False, markup=False)
    if description.parameters:
        scenario = description.family == "scenarios"
        console.print(_table(description.parameters, values_alone=scenario))
    else:
        console.print("It has no parameters.", highlight=False)
    console.print()


def _scenario(name: str, summary: str) -> Description:
    path = find(name)
    data = {
        key: value
        for key, value in read_document(path).data.items()
        if key not in ("name", "description")
    }
    lines = (summary, f"Its file: {path}", "--set path=value replaces one of its values:")
    parameters = {
        place: Parameter(value, required=False, allowed="", other_keys=())
        for place, value in _leaves(data, "")
    }
    return Description("scenarios", f"scenario {name}", lines, parameters)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The values in nested mappings and lists of them, with their paths."""
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        value = dict(enumerate(value))
    if not isinstance(value, Mapping):
        yield path, value
        return
    for key, inner in value.items():
        yield from _leaves(inner, f"{path}.{key}" if path else str(key))


def _of_task(task: type[AbstractTask]) -> list[str]:
    conditions = ", ".join(task.conditions)
    return [
        f"Set in the scenario {task.scenario}, for its vehicle or vehicles '{task.agents}'.",
        f"Conditions: {conditions}." if conditions else "It has no conditions.",
        "kw.make(NAME).space.names and .action_names say what agents see and do.",
    ]


def _of_vehicle(model: VehicleModel) -> list[str]:
    return [
        f"It takes {model.dynamics.command_type.__name__}; unless a scenario names another, its "
        f"controller is {model.default_controller}.",
        "In a scenario these keys stand below the vehicle's parameters:",
    ]


def _body_of(model: VehicleModel) -> dict[str, Parameter]:
    """What may be given in place of mass and inertia."""
    if not has_mass_and_inertia(model.dynamics):
        return {}
    given = {
        "urdf": "a URDF or xacro file, or {file, link}, instead of mass_kg and inertia_kgm2",
        "inertia_kgm2.from": "a list of solids, {cuboid: ...} or {cylinder: ...}",
    }
    return {
        key: Parameter(None, required=False, allowed=allowed, other_keys=())
        for key, allowed in given.items()
    }


def _table(parameters: Mapping[str, Parameter], *, values_alone: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("path" if values_alone else "key", style="cyan", no_wrap=True)
    for heading in ["value"] if values_alone else ["default", "allowed", "or in"]:
        table.add_column(heading, overflow="fold")
    for key, parameter in parameters.items():
        default = "required" if parameter.required else _written(parameter.default)
        endings = ", ".join(_ending(other) for other in parameter.other_keys)
        cells = [default] if values_alone else [default, parameter.allowed, endings]
        table.add_row(*map(Text, (key, *cells)))  # as text, brackets are no markup
    return table


def _ending(key: str) -> str:
    """The unit that a key ends in; the longest, as one unit may end like another."""
    return max((unit for unit in USER_UNITS if key.endswith(unit)), key=len)


def _written(value: Any) -> str:
    """A value as in a scenario file, its numbers shortened to what can be read."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return "as below"
    if isinstance(value, list):
        return f"[{', '.join(_written(item) for item in value)}]"
    return value if isinstance(value, str) else json.dumps(value)
