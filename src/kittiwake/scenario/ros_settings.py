"""How a flight looks to ROS: its frames, how often what is told, and where it lies on the Earth."""

from math import radians
from typing import Annotated, Literal

import equinox as eqx

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.geometry.scalar import Real
from kittiwake.world.world import Origin

POINTS = Bounds(2.0, 100_000.0)
# what stands for a vehicle's name in the pattern of its frame
NAME = "{name}"
# where the satellite receiver of uav_gazebo has its reference
UAV_GAZEBO_ORIGIN = Origin(radians(49.397742), radians(9.545594), 300.0)


class RosSettings(eqx.Module):
    """``ros``: frames, rates, and what happens without commands.

    Attributes:
        world_frame: the frame of the world, east, north and up.
        vehicle_frame: the frame of a vehicle's body, with {name} for its name.
        twist_in: in whose axes odometry tells velocities: of the ``world``, as uav_gazebo does, or
            of the ``body``, as the definition of the message has it.
        odometry_hz: how often a vehicle tells what it believes of its motion.
        ground_truth_hz: how often it is told how it truly moves; 0 for never.
        path_hz: how often it is told where it has been; 0 for never.
        path_points: of how many places at most; the longer a flight, the farther between them.
        origin: where the world's zero lies on the Earth, if ``world.origin`` does not say.
        command_timeout_s: after so long without a command a vehicle holds its place; 0 for never.
        without_master: what happens in ROS 1 when the master dies: the flight may ``end``, or go on
            and ``wait`` for another master.
    """

    world_frame: str = eqx.field(static=True, default="world")
    vehicle_frame: str = eqx.field(static=True, default=NAME)
    twist_in: Literal["world", "body"] = eqx.field(static=True, default="world")
    odometry_hz: Annotated[Real, POSITIVE] = 200.0
    ground_truth_hz: Annotated[Real, NOT_NEGATIVE] = 50.0
    path_hz: Annotated[Real, NOT_NEGATIVE] = 1.0
    path_points: Annotated[int, POINTS] = eqx.field(static=True, default=150)
    origin: Origin = UAV_GAZEBO_ORIGIN
    command_timeout_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    without_master: Literal["end", "wait"] = eqx.field(static=True, default="end")

    def __check_init__(self) -> None:
        """Refuses names that no frame can have, and one frame for all vehicles."""
        for key in ("world_frame", "vehicle_frame"):
            frame = getattr(self, key)
            bare = frame.replace(NAME, "name") if key == "vehicle_frame" else frame
            if not bare or bare.startswith("/") or any(c.isspace() or c in "{}" for c in bare):
                message = (
                    f"{key}: '{frame}' is no name of a frame; write one without spaces, braces and "
                    "a slash at its beginning, such as world"
                )
                raise ValueError(message)
        if NAME not in self.vehicle_frame:
            message = (
                f"vehicle_frame: '{self.vehicle_frame}' would be the frame of every vehicle; write "
                f"{NAME} where its name is to stand, such as '{NAME}/base_link'"
            )
            raise ValueError(message)

    def frame_of(self, name: str) -> str:
        """The frame of a vehicle's body."""
        return self.vehicle_frame.replace(NAME, name)
