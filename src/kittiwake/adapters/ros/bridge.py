"""Bridge between a session of flights and a ROS node.

Vehicles have the topics and services of uav_gazebo, the world has those of Gazebo. A request that
the session refuses is logged as a ROS warning and changes nothing.
"""

import threading
import time
from collections.abc import Callable, Mapping

from kittiwake.adapters.ros.endpoints import GET_STATE, SET_STATE, Endpoints, MessageFields
from kittiwake.adapters.ros.gain_server import GainServer
from kittiwake.adapters.ros.joystick import JoystickListener
from kittiwake.adapters.ros.message_types import Message
from kittiwake.adapters.ros.messages.plain import CLOCK, clock, legal_names
from kittiwake.adapters.ros.messages.scene import OBSTACLES, obstacles
from kittiwake.adapters.ros.messages.telemetry import Telemetry, static_transforms
from kittiwake.adapters.ros.model_states import ModelStates
from kittiwake.adapters.ros.node import RosNode
from kittiwake.adapters.ros.start_pose import start_of
from kittiwake.adapters.ros.vehicle_control import VehicleControl
from kittiwake.adapters.ros.vehicle_services import VehicleServices
from kittiwake.core.errors import CommandError
from kittiwake.core.kinematics import Start
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.row_layout import RowBlock
from kittiwake.runtime.session import Session
from kittiwake.scenario.ros_settings import RosSettings

# blocks of a flight per second, unless odometry is published at a higher rate
BLOCK_RATE_HZ = 200.0
# how often a reset service checks for the next flight
POLL_PERIOD_S = 0.02

Publish = Callable[[MessageFields], None]


def block_rate_hz(settings: RosSettings) -> float:
    """Return the rate of blocks that lets odometry reach its own, up to the rate of the physics."""
    return max(BLOCK_RATE_HZ, float(settings.odometry_hz))


class Bridge:
    """Connection of a session to the topics and services of a node.

    The session calls ``publish_block`` with each block, in the thread that flies. All callbacks run
    in threads of the node. Nothing is published before ``open``.
    """

    def __init__(self, node: RosNode) -> None:
        self._node = node
        self._telemetry: list[tuple[Telemetry, str, dict[str, Publish]]] = []
        self._controls: list[VehicleControl] = []
        self._gains: GainServer | None = None
        self._states: ModelStates | None = None
        self._reset_lock = threading.Lock()

    def open(self, session: Session) -> None:
        """Create publishers, subscriptions and services, and publish from now on."""
        node, executor = self._node, session.executor
        scenario, columns = executor.scenario, executor.layout.columns
        settings, namespaces = scenario.ros, legal_names(scenario.vehicles)
        self._session = session
        session.keep_vehicles("ROS nodes use their topics; restart with another scenario")
        self._publish_clock = node.create_publisher("/clock", CLOCK)
        self._publish_transforms = node.create_transform_broadcaster()
        endpoints, static, publishers = Endpoints(node), [], []
        self._gains = gains = GainServer(node, session)
        for name, namespace in namespaces.items():
            vehicle = scenario.vehicles[name]
            telemetry = Telemetry(
                name=namespace,
                vehicle=vehicle,
                columns=columns[name],
                world=scenario.world,
                settings=settings,
                rate_hz=scenario.rate_hz,
            )
            publish = {
                topic: node.create_publisher(f"/{namespace}/{topic}", type_name)
                for topic, type_name in telemetry.topics.items()
            }
            publishers.append((telemetry, name, publish))
            static += static_transforms(
                namespace, vehicle, settings, columns[name], scenario.rate_hz
            )
            control = VehicleControl(session, name, float(settings.command_timeout_s))
            self._controls.append(control)
            VehicleServices(endpoints, session, control, f"/{namespace}").open()
            gains.add(name, f"/{namespace}")
        node.create_transform_broadcaster(static=True)(static)
        publish_obstacles = node.create_publisher("/obstacles", OBSTACLES, latched=True)
        publish_obstacles(obstacles(scenario.world, settings))
        vehicles = {namespace: name for name, namespace in namespaces.items()}
        self._states = states = ModelStates(vehicles, columns, settings)
        endpoints.create_service("/gazebo/get_model_state", GET_STATE, states.get_model_state)
        self._open_world_endpoints(endpoints, vehicles)
        self._telemetry = publishers

    def close(self) -> None:
        """Stop using the node."""
        if self._gains is not None:
            self._gains.close()

    def publish_block(self, block: RowBlock) -> None:
        """Publish the messages of a block of the flight."""
        transforms: list[MessageFields] = []
        if self._states is not None:
            self._states.update(block)
        for telemetry, name, publish in self._telemetry:
            rows = block[name]
            for topic, message in telemetry.messages(rows, live=True):
                publish[topic](message)
            transforms += telemetry.transforms(rows[-1])
        if not self._telemetry:
            return
        self._publish_transforms(transforms)
        self._publish_clock(clock(float(next(iter(block.values()))[-1, 0])))
        for control in self._controls:
            warning = control.check_timeout()
            if warning is not None:
                self._node.warn(warning)
        for problem in self._session.executor.take_problems():
            self._node.error(problem)

    def _open_world_endpoints(self, endpoints: Endpoints, vehicles: Mapping[str, str]) -> None:
        """Create the endpoints of the world, and of the gamepad that flies the first vehicle."""
        session = self._session
        endpoints.create_empty_service("/gazebo/pause_physics", self._pause)
        endpoints.create_empty_service("/gazebo/unpause_physics", self._unpause)
        endpoints.create_empty_service("/gazebo/reset_world", self._reset)
        endpoints.create_empty_service("/gazebo/reset_simulation", self._reset)
        endpoints.create_trigger_service("/kittiwake/step", self._step)
        endpoints.create_subscription(
            "/kittiwake/real_time_factor", "std_msgs/Float64", self._set_speed
        )
        settings = session.executor.scenario.ros

        def set_model_state(state: Message) -> None:
            session.executor.place(*start_of(state, vehicles, settings))

        def serve_set_model_state(request: Message) -> MessageFields:
            set_model_state(request.model_state)
            return {"success": True}

        topic = "/gazebo/set_model_state"
        endpoints.create_subscription(topic, "gazebo_msgs/ModelState", set_model_state)
        endpoints.create_service(topic, SET_STATE, serve_set_model_state)
        first = self._controls[0]

        def place_first(start: Start) -> None:
            session.executor.place(first.vehicle, start)

        joystick = JoystickListener(
            first, session.executor.scenario.joystick, place_first, session.restart
        )
        endpoints.create_subscription("/joy", "sensor_msgs/Joy", joystick.on_message)

    def _pause(self) -> None:
        self._session.clock.paused = True

    def _unpause(self) -> None:
        self._session.clock.paused = False

    def _step(self) -> None:
        if not self._session.clock.paused:
            message = "the flight is not paused; call /gazebo/pause_physics first"
            raise CommandError(message)
        self._refuse_when_over()
        self._session.clock.step()

    def _reset(self) -> None:
        """Restart the flight, and wait until the next one accepts commands."""
        session = self._session
        with self._reset_lock:
            before = session.executor
            session.restart()
            while not (session.closed or self._has_restarted(before)):
                time.sleep(POLL_PERIOD_S)
            self._refuse_when_over()

    def _has_restarted(self, before: LiveExecutor) -> bool:
        """Return True if a later flight than ``before`` accepts commands or is over."""
        session, executor = self._session, self._session.executor
        is_another = executor is not before and not session.restart_requested
        return is_another and (executor.ready or executor.ended)

    def _refuse_when_over(self) -> None:
        if self._session.closed or self._session.executor.ended:
            message = "the flight has ended"
            raise CommandError(message)

    def _set_speed(self, message: Message) -> None:
        self._session.clock.speed = float(message.data)
