"""Where vehicles truly are and how they move, for those who ask Gazebo."""

from collections.abc import Mapping, Sequence
from typing import Any

from kittiwake.adapters.ros.messages.motion import TRUTH, MotionMessages
from kittiwake.adapters.ros.messages.plain import header, stamp_ns, xyz
from kittiwake.adapters.ros.messages.topic import Row
from kittiwake.core.errors import CommandError, did_you_mean
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.watch import Block
from kittiwake.scenario.ros_settings import RosSettings

# under which Gazebo knows the world itself
WORLDS = ("", "world", "map", "/map")


class ModelStates:
    """The newest motion of each vehicle, as gazebo_msgs/GetModelState tells it.

    Args:
        vehicles: by their names in ROS.
        columns: of the vehicles' rows.
        settings: of the scenario.
    """

    def __init__(
        self,
        vehicles: Mapping[str, str],
        columns: Mapping[str, Sequence[str]],
        settings: RosSettings,
    ) -> None:
        self._vehicles, self._world = vehicles, settings.world_frame
        self._motions = {
            space: MotionMessages(
                {column: place for place, column in enumerate(columns[name])},
                TRUTH,
                (settings.world_frame, space),
                in_body=False,
            )
            for space, name in vehicles.items()
        }
        self._rows: dict[str, Row] = {}

    def watch(self, block: Block) -> None:
        """Takes the newest rows."""
        self._rows = {space: block[name][-1] for space, name in self._vehicles.items()}

    def answer(self, request: Any) -> dict[str, Any]:
        """The response to a request; poses and velocities are relative where it asks for that.

        Raises:
            CommandError: for a vehicle that is not there, or before the flight begins.
        """
        model, relative = request.model_name, request.relative_entity_name
        rows = self._rows
        place, attitude, linear, angular = self._state(rows, model)
        frame = self._world
        if relative not in (*WORLDS, self._world):
            frame = relative
            other_place, other_attitude, other_linear, other_angular = self._state(rows, relative)
            back = other_attitude.inverse()
            place = back.rotate(place - other_place)
            attitude = back * attitude
            linear = back.rotate(linear - other_linear)
            angular = back.rotate(angular - other_angular)
        w, x, y, z = (float(part) for part in (attitude.w, attitude.x, attitude.y, attitude.z))
        return {
            "header": header(stamp_ns(float(rows[model][0])), frame),
            "pose": {"position": _xyz(place), "orientation": {"w": w, "x": x, "y": y, "z": z}},
            "twist": {"linear": _xyz(linear), "angular": _xyz(angular)},
            "success": True,
        }

    def _state(self, rows: Mapping[str, Row], model: str) -> tuple[Vec3, Quaternion, Vec3, Vec3]:
        if model not in self._motions:
            message = f"there is no model '{model}'. {did_you_mean(model, [*self._motions])}"
            raise CommandError(message)
        if model not in rows:
            message = "the flight has not begun"
            raise CommandError(message)
        told = self._motions[model].odometry(rows[model], 0)
        pose, twist = told["pose"]["pose"], told["twist"]["twist"]
        return (
            Vec3(**pose["position"]),
            Quaternion(**pose["orientation"]),
            Vec3(**twist["linear"]),
            Vec3(**twist["angular"]),
        )


def _xyz(vector: Vec3) -> dict[str, float]:
    return xyz((float(vector.x), float(vector.y), float(vector.z)))
