"""ROS settings: frames, publishing rates, and the origin on the Earth."""

from math import radians
from typing import Annotated, Literal

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.geometry.scalar import Real
from kittiwake.pytree import Module, field
from kittiwake.world.world import Origin

POINTS = Bounds(2.0, 100_000.0)
# placeholder of a vehicle's name in the pattern of its frame
NAME = "{name}"
# the reference of the satellite receiver of uav_gazebo
UAV_GAZEBO_ORIGIN = Origin(radians(49.397742), radians(9.545594), 300.0)


class RosSettings(Module):
    """``ros``: frames, rates, and behavior without commands.

    Attributes:
        world_frame: the frame of the world: east, north, up.
        vehicle_frame: the frame of a vehicle's body, with {name} for its name.
        twist_in: the axes of velocities in odometry: those of the ``world``, as in uav_gazebo, or
            of the ``body``, as in the message definition.
        odometry_hz: the rate of odometry, from the vehicle's estimate.
        ground_truth_hz: the rate of odometry from the true state; 0 for none.
        path_hz: the rate of the path message; 0 for none.
        path_points: the maximum number of its points; longer flights have wider spacing.
        origin: the position of the world's origin on the Earth, unless ``world.origin`` gives it.
        command_timeout_s: the time without a command after which a vehicle holds its position; 0
            for never.
        without_master: the reaction when the ROS 1 master dies: ``end`` the flight, or go on and
            ``wait`` for another master.
    """

    world_frame: str = field(static=True, default="world")
    vehicle_frame: str = field(static=True, default=NAME)
    twist_in: Literal["world", "body"] = field(static=True, default="world")
    odometry_hz: Annotated[Real, POSITIVE] = 200.0
    ground_truth_hz: Annotated[Real, NOT_NEGATIVE] = 50.0
    path_hz: Annotated[Real, NOT_NEGATIVE] = 1.0
    path_points: Annotated[int, POINTS] = field(static=True, default=150)
    origin: Origin = UAV_GAZEBO_ORIGIN
    command_timeout_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    without_master: Literal["end", "wait"] = field(static=True, default="end")

    def __post_init__(self) -> None:
        """Refuse invalid frame names, and one frame for all vehicles."""
        for key in ("world_frame", "vehicle_frame"):
            frame = getattr(self, key)
            bare = frame.replace(NAME, "name") if key == "vehicle_frame" else frame
            if not bare or bare.startswith("/") or any(c.isspace() or c in "{}" for c in bare):
                message = (
                    f"{key}: '{frame}' is not a valid frame name; write one without spaces, braces "
                    "and a leading slash, such as world"
                )
                raise ValueError(message)
        if NAME not in self.vehicle_frame:
            message = (
                f"vehicle_frame: '{self.vehicle_frame}' would be the frame of every vehicle; write "
                f"{NAME} in place of its name, such as '{NAME}/base_link'"
            )
            raise ValueError(message)

    def frame_of(self, name: str) -> str:
        """Return the frame of a vehicle's body."""
        return self.vehicle_frame.replace(NAME, name)
