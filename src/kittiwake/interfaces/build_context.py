"""Build context: what is known about a component's surroundings before compilation."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.world.world import WorldModel


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
