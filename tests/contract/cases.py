"""Cases of contract tests: every example of every registered component."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from tests.contract.families import CONTRACTS, Contract, as_flown, first_example
from tests.contract.surroundings import AHEAD, world

from kittiwake.core.kinematics import Start
from kittiwake.environment.obstacles.boxes import Box
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.pytree import Module
from kittiwake.scenario.parameters import build_component
from kittiwake.sensors import SENSORS
from kittiwake.swarm.informed_avoid import InformedAvoid
from kittiwake.vehicles import VEHICLES

# families whose components are prepared for their vehicle and world before they are compiled
PREPARED = ("avoidance", "behaviors", "guidance")
UNPREPARED = (InformedAvoid, "without a map")


@dataclasses.dataclass(frozen=True)
class Case:
    """One example of one registered component."""

    family: str
    name: str
    form: str
    make: Callable[[], Any]

    def __str__(self) -> str:
        return f"{self.family}/{self.name}" + (f" {self.form}" if self.form else "")

    @property
    def contract(self) -> Contract:
        """Contract of its family."""
        return CONTRACTS[self.family]

    @property
    def kind(self) -> type[Module]:
        """Class of the component."""
        return self.contract.registry.find(self.name)


def cases() -> Iterator[Case]:
    """Return every example of every registered component."""
    for family, contract in CONTRACTS.items():
        for name in contract.registry.names():
            kind = contract.registry.find(name)
            for form, make in forms_of(family, kind).items():
                yield Case(family, name, form, make)


def forms_of(family: str, kind: Any) -> dict[str, Callable[[], Any]]:
    """Return functions that make the examples of a registered component, by name."""
    if family == "dynamics":
        return _flown_by(kind)
    try:
        examples = kind.examples()
    except TypeError as error:
        return {"": partial(_missing, kind, error)}
    return {form: partial(_made, family, kind, form) for form in examples}


def _made(family: str, kind: Any, form: str) -> Any:
    """Return an example, prepared as for a vehicle with every sensor."""
    example = kind.examples()[form]
    if isinstance(example, Mapping):
        example = build_component(kind, example, str)
    if family not in PREPARED or (kind, form) == UNPREPARED:
        return example
    # what is on the way of a vehicle is on the map of its behaviors, and nowhere else
    obstacles = (Box(AHEAD, Vec3(1.0, 2.0, 3.0)),) if family == "behaviors" else ()
    around = dataclasses.replace(world(), obstacles=obstacles)
    sensors = {name: first_example(name) for name in SENSORS.names()}
    return example.prepare(BuildContext(around, _body(), Start(), sensors))


@cache
def _body() -> Any:
    """Return the dynamics of a vehicle with landing gear."""
    model = VEHICLES.find("crazyflie")
    return build_component(model.dynamics, model.parameters(), str)


def _flown_by(kind: Any) -> dict[str, Callable[[], Any]]:
    """Return the dynamics of each vehicle with this class, with the parameters of its data file."""
    models = {name: VEHICLES.find(name) for name in VEHICLES.names()}
    return {
        name: partial(build_component, kind, model.parameters(), str)
        for name, model in models.items()
        if model.dynamics is kind
    }


def _missing(kind: Any, error: TypeError) -> Any:
    pytest.fail(f"{kind.__name__} needs a classmethod `examples()`: {error}")


def as_traced(component: Any) -> Any:
    """Return a component with every float as an array, so that it can be differentiated."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(leaf) if isinstance(leaf, float) else leaf, as_flown(component)
    )
