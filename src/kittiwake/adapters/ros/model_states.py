"""True poses and velocities of vehicles, for Gazebo's service get_model_state."""

from collections.abc import Mapping, Sequence

from kittiwake.adapters.ros.message_types import Message
from kittiwake.adapters.ros.messages.motion import TRUTH, MotionMessages
from kittiwake.adapters.ros.messages.plain import PlainMessage, header, stamp_ns, xyz
from kittiwake.adapters.ros.messages.topic import Row
from kittiwake.core.errors import CommandError, did_you_mean
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.row_layout import RowBlock
from kittiwake.scenario.ros_settings import RosSettings

# names of the world frame in requests to Gazebo
WORLD_NAMES = ("", "world", "map", "/map")


class ModelStates:
    """Latest true motion of each vehicle, as responses of gazebo_msgs/GetModelState.

    Args:
        settings: ROS settings of the scenario.
    """

    def __init__(self, settings: RosSettings) -> None:
        self._world = settings.world_frame
        self._vehicles: Mapping[str, str] = {}
        self._motions: Mapping[str, MotionMessages] = {}
        self._block: RowBlock = {}

    def serve(self, vehicles: Mapping[str, str], columns: Mapping[str, Sequence[str]]) -> None:
        """Answer requests about these vehicles from now on.

        Args:
            vehicles: vehicle of each name in ROS.
            columns: column names of each vehicle's rows.
        """
        self._motions = {
            model: MotionMessages(
                {column: index for index, column in enumerate(columns[name])},
                TRUTH,
                (self._world, model),
                in_body=False,
            )
            for model, name in vehicles.items()
        }
        self._vehicles = vehicles

    def update(self, block: RowBlock) -> None:
        """Store the last rows of all vehicles."""
        self._block = {name: rows[-1:] for name, rows in block.items()}

    def get_model_state(self, request: Message) -> PlainMessage:
        """Return the response to a request, relative to the entity that it names.

        Raises:
            CommandError: for a vehicle that does not exist, or before the flight begins.
        """
        model, relative = request.model_name, request.relative_entity_name
        block = self._block
        rows = {one: block[name][-1] for one, name in self._vehicles.items() if name in block}
        position, attitude, linear, angular = self._state(rows, model)
        frame = self._world
        if relative not in (*WORLD_NAMES, self._world):
            frame = relative
            reference = self._state(rows, relative)
            ref_position, ref_attitude, ref_linear, ref_angular = reference
            to_reference = ref_attitude.inverse()
            position = to_reference.rotate(position - ref_position)
            attitude = to_reference * attitude
            linear = to_reference.rotate(linear - ref_linear)
            angular = to_reference.rotate(angular - ref_angular)
        w, x, y, z = (float(part) for part in (attitude.w, attitude.x, attitude.y, attitude.z))
        return {
            "header": header(stamp_ns(float(rows[model][0])), frame),
            "pose": {"position": _xyz(position), "orientation": {"w": w, "x": x, "y": y, "z": z}},
            "twist": {"linear": _xyz(linear), "angular": _xyz(angular)},
            "success": True,
        }

    def _state(self, rows: Mapping[str, Row], model: str) -> tuple[Vec3, Quaternion, Vec3, Vec3]:
        if model not in self._motions:
            message = f"no model '{model}'. {did_you_mean(model, [*self._motions])}"
            raise CommandError(message)
        if model not in rows:
            message = "the flight has not started"
            raise CommandError(message)
        odometry = self._motions[model].odometry(rows[model], 0)
        pose, twist = odometry["pose"]["pose"], odometry["twist"]["twist"]
        return (
            Vec3(**pose["position"]),
            Quaternion(**pose["orientation"]),
            Vec3(**twist["linear"]),
            Vec3(**twist["angular"]),
        )


def _xyz(vector: Vec3) -> dict[str, float]:
    return xyz((float(vector.x), float(vector.y), float(vector.z)))
