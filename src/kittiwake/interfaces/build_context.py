"""Build context: what is known about a component's surroundings before compilation."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import jax

from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.world.world import WorldModel

Prepare = TypeVar("Prepare", bound=Callable[..., Any])
_INDEPENDENT_OF_START: set[Callable[..., Any]] = set()


class BuildContext(NamedTuple):
    """The vehicle and world for which a component is prepared.

    Attributes:
        world: the world with its obstacles and processes.
        dynamics: the vehicle's dynamics.
        start: the vehicle's initial conditions.
        sensors: the vehicle's sensors, by name.
        periods_s: the sampling period of each sensor, by name.
        previous_end_world_m: end of the previous task of a mission, as far as it is known; None for
            the first task.
    """

    world: WorldModel
    dynamics: "AbstractDynamics"
    start: Start
    sensors: Mapping[str, "AbstractSensor"]
    periods_s: Mapping[str, float] = MappingProxyType({})
    previous_end_world_m: Vec3 | None = None

    @property
    def task_start_world_m(self) -> Vec3:
        """Position at which the task begins: the end of the previous one, or the start."""
        end = self.previous_end_world_m
        return self.start.position_world_m if end is None else end


def independent_of_start(prepare: Prepare) -> Prepare:
    """Mark the method ``prepare`` of a class that does not use the start.

    It is then called once for all vehicles of an entry, which share its result.
    """
    _INDEPENDENT_OF_START.add(prepare)
    return prepare


def depends_on_start(component: Any) -> bool:
    """Return False if what ``component.prepare`` returns is the same for any start.

    That is so if its class and those of all components in it are marked.
    """
    parts = jax.tree.leaves(
        component, is_leaf=lambda node: node is not component and hasattr(node, "prepare")
    )
    return type(component).prepare not in _INDEPENDENT_OF_START or any(
        depends_on_start(part) for part in parts if hasattr(part, "prepare")
    )
