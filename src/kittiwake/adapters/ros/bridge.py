"""Bridge between a session of flights and a ROS node.

Vehicles have the topics and services of uav_gazebo, the world has those of Gazebo. Vehicles may
come and go. A request that the session refuses is logged as a ROS warning and changes nothing.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from kittiwake.adapters.ros.endpoints import GET_STATE, SET_STATE, Endpoints, MessageFields
from kittiwake.adapters.ros.gain_server import GainServer
from kittiwake.adapters.ros.joystick import JoystickListener
from kittiwake.adapters.ros.message_types import Message
from kittiwake.adapters.ros.messages.plain import CLOCK, clock, legal_names
from kittiwake.adapters.ros.messages.scene import OBSTACLES, obstacles
from kittiwake.adapters.ros.model_services import WORLD_NAMESPACES, ModelServices
from kittiwake.adapters.ros.model_states import ModelStates
from kittiwake.adapters.ros.node import RosNode
from kittiwake.adapters.ros.served_vehicle import ServedVehicle
from kittiwake.adapters.ros.start_pose import start_of
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


def block_rate_hz(settings: RosSettings) -> float:
    """Return the rate of blocks that lets odometry reach its own, up to the rate of the physics."""
    return max(BLOCK_RATE_HZ, float(settings.odometry_hz))


class Bridge:
    """Connection of a session to the topics and services of a node.

    The session calls ``publish_block`` with each block, in the thread that flies. All callbacks run
    in threads of the node. Nothing is published before ``open``. Topics and services of a vehicle
    follow the blocks that it is in, in a thread of their own, since the libraries of ROS may wait.
    """

    def __init__(self, node: RosNode) -> None:
        self._node = node
        # by name; replaced as a whole, so that each thread sees one set of vehicles
        self._served: dict[str, ServedVehicle] = {}
        self._gains: GainServer | None = None
        self._states: ModelStates | None = None
        self._joystick: JoystickListener | None = None
        self._reset_lock = threading.Lock()
        self._changes = ThreadPoolExecutor(1, "vehicles")
        # the names in the last block whose vehicles are served or will be
        self._followed: set[str] = set()

    def open(self, session: Session) -> None:
        """Create publishers, subscriptions and services, and publish from now on."""
        node, scenario = self._node, session.executor.scenario
        self._session = session
        self._publish_clock = node.create_publisher("/clock", CLOCK)
        self._publish_transforms = node.create_transform_broadcaster()
        self._publish_static_transforms = node.create_transform_broadcaster(static=True)
        self._endpoints = endpoints = Endpoints(node)
        self._gains = GainServer(node, session)
        publish_obstacles = node.create_publisher("/obstacles", OBSTACLES, latched=True)
        publish_obstacles(obstacles(scenario.world, scenario.ros))
        self._states = states = ModelStates(scenario.ros)
        self._followed = {*session.executor.layout.columns}
        self._follow(session.executor.layout.columns)
        endpoints.create_service("/gazebo/get_model_state", GET_STATE, states.get_model_state)
        self._open_world_endpoints(endpoints)
        ModelServices(session, lambda: self._models).open(endpoints)

    def close(self) -> None:
        """Stop using the node."""
        self._changes.shutdown(wait=False, cancel_futures=True)
        if self._gains is not None:
            self._gains.close()

    @property
    def _models(self) -> dict[str, str]:
        """The vehicle of each model, which is named like the vehicle's namespace."""
        return {served.namespace: name for name, served in self._served.items()}

    def publish_block(self, block: RowBlock) -> None:
        """Publish the messages of a block of the flight."""
        transforms: list[MessageFields] = []
        if self._states is not None:
            self._states.update(block)
        served = self._served
        for vehicle in served.values():
            transforms += vehicle.publish(block)
        if not served:
            return
        if block.keys() != self._followed:
            self._followed = {*block}
            self._changes.submit(self._follow_or_log, self._session.executor.layout.columns)
        self._publish_transforms(transforms)
        self._publish_clock(clock(float(next(iter(block.values()))[-1, 0])))
        for warning in [vehicle.control.check_timeout() for vehicle in served.values()]:
            if warning is not None:
                self._node.warn(warning)
        for problem in self._session.executor.take_problems():
            self._node.error(problem)

    def _follow_or_log(self, columns: Mapping[str, Sequence[str]]) -> None:
        try:
            self._follow(columns)
        # nothing else reports an error of this thread
        except Exception as error:
            self._node.error(f"topics of vehicles: {error!r}")

    def _follow(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Serve these vehicles, with these columns of their rows, and no others."""
        assert self._gains is not None
        assert self._states is not None
        session, before = self._session, self._served
        kept = {name: served for name, served in before.items() if name in columns}
        new = [name for name in columns if name not in kept]
        taken = [*WORLD_NAMESPACES, *(served.namespace for served in kept.values())]
        known = session.executor.requested_scenario.vehicles
        for name, namespace in legal_names(new, taken).items():
            # a vehicle that is about to be removed again is not served
            if name in known and name in session.executor.scenario.vehicles:
                arguments = (self._endpoints, session, self._gains, name, namespace, columns[name])
                kept[name] = ServedVehicle(*arguments)
        self._served = kept
        self._states.serve(self._models, columns)
        for name in before.keys() - kept.keys():
            self._gains.remove(name)
            self._node.withdraw(f"/{before[name].namespace}")
        transforms = [one for served in kept.values() for one in served.static_transforms]
        self._publish_static_transforms(transforms)
        self._use_joystick()

    def _use_joystick(self) -> None:
        """Let the gamepad fly the first vehicle."""
        session = self._session
        first = next(iter(self._served.values())).control
        if self._joystick is not None and self._joystick.control is first:
            return

        def place_first(start: Start) -> None:
            session.executor.place(first.vehicle, start)

        settings = session.executor.scenario.joystick
        self._joystick = JoystickListener(first, settings, place_first, session.restart)

    def _on_joy(self, message: Message) -> None:
        if self._joystick is not None:
            self._joystick.on_message(message)

    def _open_world_endpoints(self, endpoints: Endpoints) -> None:
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
            session.executor.place(*start_of(state, self._models, settings))

        def serve_set_model_state(request: Message) -> MessageFields:
            set_model_state(request.model_state)
            return {"success": True}

        topic = "/gazebo/set_model_state"
        endpoints.create_subscription(topic, "gazebo_msgs/ModelState", set_model_state)
        endpoints.create_service(topic, SET_STATE, serve_set_model_state)
        endpoints.create_subscription("/joy", "sensor_msgs/Joy", self._on_joy)

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
