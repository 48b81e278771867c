"""Descriptions of registered components: summary, command types and parameters."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from inspect import cleandoc

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kittiwake.cli.parameters import Parameter, parameters_of, rate_parameter
from kittiwake.core.parameters import Parameters
from kittiwake.core.registry import Registry
from kittiwake.core.units import USER_UNITS
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.scenario.components import has_mass_and_inertia
from kittiwake.scenario.document import read_document
from kittiwake.scenario.load import find
from kittiwake.scenario.problems import Plain
from kittiwake.tasks.task import AbstractTask
from kittiwake.vehicles.model import VehicleModel


@dataclass(frozen=True)
class Description:
    """Description of a name in one family.

    Attributes:
        family: family of the registry, or "scenarios".
        heading: kind and name.
        lines: sentences of the description.
        parameters: parameters by key; for a scenario, its values by path.
        model: equations, sources and limits; empty for a scenario.
    """

    family: str
    heading: str
    lines: tuple[str, ...]
    parameters: dict[str, Parameter]
    model: str = ""


def describe(registry: Registry | None, name: str, summary: str) -> Description:
    """Return the description of a registered component, or of a scenario without a registry."""
    if registry is None:
        return _scenario(name, summary)
    found = registry.find(name)
    heading = f"{registry.noun} {name}"
    if isinstance(found, VehicleModel):
        return Description(
            registry.family,
            heading,
            (summary, *_vehicle_lines(found)),
            parameters_of(found.dynamics, found.parameters()) | _body_parameters(found),
            model_text(found.dynamics.__module__),
        )
    lines = [summary]
    if issubclass(found, AbstractController):
        lines.append(f"Consumes {found.consumes.__name__}, produces {found.produces.__name__}.")
        lines.append("Required parameters that are left out are taken from the vehicle's model.")
    if issubclass(found, AbstractSensor):
        measured = ", ".join(field.name for field in fields(found.measures))
        lines.append(f"Measures {measured}. Takes a list of errors in addition to these keys:")
    if issubclass(found, AbstractTask):
        lines += _task_lines(found)
    parameters = parameters_of(found) | rate_parameter(found)
    model = model_text(found.__module__)
    return Description(registry.family, heading, tuple(lines), parameters, model)


def model_text(module: str) -> str:
    """Return equations, sources and limits from the docstring of a module."""
    documented = cleandoc(import_module(module).__doc__ or "")
    first, _, text = documented.partition("\n\n")
    # a first line with an equation is more than a title
    return f"{first}\n\n{text}" if "=" in first else text


def to_plain(descriptions: Sequence[Description]) -> dict[str, Parameters]:
    """Return parameters by key for JSON; for a name in several families, by ``family.key``."""
    alone = len(descriptions) == 1
    return {
        key if alone else f"{description.family}.{key}": asdict(parameter)
        for description in descriptions
        for key, parameter in description.parameters.items()
    }


def show_description(description: Description) -> None:
    """Print the heading, the description and a table of the parameters."""
    console = Console()
    console.print(description.heading, style="bold", highlight=False, markup=False)
    for line in description.lines:
        console.print(line, highlight=False, markup=False)
    if description.parameters:
        scenario = description.family == "scenarios"
        console.print(_table(description.parameters, values_alone=scenario))
    else:
        console.print("No parameters.", highlight=False)
    if description.model:
        for part in description.model.replace("``", "").split("\n\n"):
            # equations and lists keep their lines
            is_text = not part.startswith((" ", "-"))
            text = " ".join(part.split()) if is_text else part
            console.print(f"\n{text}", highlight=False, markup=False)
    console.print()


def _scenario(name: str, summary: str) -> Description:
    path = find(name)
    data = {
        key: value
        for key, value in read_document(path).data.items()
        if key not in ("name", "description")
    }
    lines = (summary, f"File: {path}", "--set path=value replaces one of its values:")
    parameters = {
        place: Parameter(value, required=False, allowed="", other_keys=())
        for place, value in _leaves(data, "")
    }
    return Description("scenarios", f"scenario {name}", lines, parameters)


def _leaves(value: Plain, path: str) -> Iterator[tuple[str, Plain]]:
    """Yield the values in nested mappings and lists of mappings, with their paths."""
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        value = dict(enumerate(value))
    if not isinstance(value, Mapping):
        yield path, value
        return
    for key, inner in value.items():
        yield from _leaves(inner, f"{path}.{key}" if path else str(key))


def _task_lines(task: type[AbstractTask]) -> list[str]:
    conditions = ", ".join(task.conditions)
    return [
        f"Scenario: {task.scenario}; agents: its vehicle or vehicles '{task.agents}'.",
        f"Conditions: {conditions}." if conditions else "Conditions: none.",
        "kw.make(NAME).space.names and .action_names list observations and actions.",
    ]


def _vehicle_lines(model: VehicleModel) -> list[str]:
    return [
        f"Its command type is {model.dynamics.command_type.__name__}; its default controller is "
        f"{model.default_controller}.",
        "In a scenario these keys belong to the vehicle's parameters:",
    ]


def _body_parameters(model: VehicleModel) -> dict[str, Parameter]:
    """Return the keys that may replace mass and inertia."""
    if not has_mass_and_inertia(model.dynamics):
        return {}
    alternatives = {
        "urdf": "a URDF or xacro file, or {file, link}, instead of mass_kg and inertia_kgm2",
        "inertia_kgm2.from": "a list of solids, {cuboid: ...} or {cylinder: ...}",
    }
    return {
        key: Parameter(None, required=False, allowed=allowed, other_keys=())
        for key, allowed in alternatives.items()
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
        table.add_row(*map(Text, (key, *cells)))  # as Text, so that brackets are not markup
    return table


def _ending(key: str) -> str:
    """Return the longest unit that is a suffix of a key."""
    return max((unit for unit in USER_UNITS if key.endswith(unit)), key=len)


def _written(value: Plain) -> str:
    """Return a value as in a scenario file, with numbers of six digits."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return "see below"
    if isinstance(value, list):
        return f"[{', '.join(_written(item) for item in value)}]"
    return value if isinstance(value, str) else json.dumps(value)
