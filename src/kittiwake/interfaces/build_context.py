"""Where a component will be used."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.sensor import AbstractSensor


class BuildContext(NamedTuple):
    """Where something will be used, known before anything is compiled.

    ``world`` is the ``core.world.World``, ``sensors`` are the vehicle's by name, and ``periods_s``
    how long each of them waits between its samples. ``begins_world_m`` is where a task begins that
    is not the first one of a mission, as far as that is known.
    """

    world: Any
    dynamics: "AbstractDynamics"
    start: Start
    sensors: Mapping[str, "AbstractSensor"]
    periods_s: Mapping[str, float] = MappingProxyType({})
    begins_world_m: Vec3 | None = None

    @property
    def place_world_m(self) -> Vec3:
        """Where the task begins: where the one before leads, or where the vehicle starts."""
        begins = self.begins_world_m
        return self.start.position_world_m if begins is None else begins
