"""A session of flights as a ROS node: what is told, and what is done when somebody asks.

Topics and services are those of uav_gazebo, and of Gazebo for the world as a whole. What a session
refuses is a line in the log of ROS, and changes nothing.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from kittiwake.adapters.ros.endpoints import GET_STATE, SET_STATE, Answer, Endpoints
from kittiwake.adapters.ros.gain_server import GainServer
from kittiwake.adapters.ros.joystick import JoystickListener
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
from kittiwake.runtime.session import Session
from kittiwake.runtime.watch import Block
from kittiwake.scenario.ros_settings import RosSettings

# blocks of a flight a second, where odometry is not to be told more often
TELLS_HZ = 200.0
# how often whoever began anew looks whether the next flight is there
LOOKS_S = 0.02

Publish = Callable[[Mapping[str, Any]], None]


def blocks_hz(settings: RosSettings) -> float:
    """So many blocks a second that odometry has its rate, up to that of the physics."""
    return max(TELLS_HZ, float(settings.odometry_hz))


class Bridge:
    """Puts a session between the topics and services of a node.

    ``watch`` is for the session to call with each block, in the thread that flies; all else happens
    in threads of the node. Nothing is told before ``open``.
    """

    def __init__(self, node: RosNode) -> None:
        self._node = node
        self._told: list[tuple[Telemetry, str, dict[str, Publish]]] = []
        self._pilots: list[VehicleControl] = []
        self._gains: GainServer | None = None
        self._states: ModelStates | None = None
        self._beginning = threading.Lock()

    def open(self, session: Session) -> None:
        """Publishes and takes part from now on."""
        node, executor = self._node, session.executor
        scenario, columns = executor.scenario, executor.layout.columns
        settings, spaces = scenario.ros, legal_names(scenario.vehicles)
        self._session = session
        self._clock, self._transforms = node.publisher("/clock", CLOCK), node.transforms()
        endpoints, still, told = Endpoints(node), [], []
        self._gains = gains = GainServer(node, session)
        for name, space in spaces.items():
            vehicle = scenario.vehicles[name]
            telemetry = Telemetry(
                *(space, vehicle, columns[name], scenario.world, settings, scenario.rate_hz)
            )
            publish = {
                topic: node.publisher(f"/{space}/{topic}", kind)
                for topic, kind in telemetry.topics.items()
            }
            told.append((telemetry, name, publish))
            still += static_transforms(space, vehicle, settings, columns[name], scenario.rate_hz)
            pilot = VehicleControl(session, name, float(settings.command_timeout_s))
            self._pilots.append(pilot)
            VehicleServices(endpoints, session, pilot, f"/{space}").open()
            gains.offer(name, f"/{space}")
        node.transforms(still=True)(still)
        node.publisher("/obstacles", OBSTACLES, latched=True)(obstacles(scenario.world, settings))
        vehicles = {space: name for name, space in spaces.items()}
        self._states = states = ModelStates(vehicles, columns, settings)
        endpoints.serve("/gazebo/get_model_state", GET_STATE, states.answer)
        self._take_orders(endpoints, vehicles)
        self._told = told

    def close(self) -> None:
        """Leaves the node alone."""
        if self._gains is not None:
            self._gains.close()

    def watch(self, block: Block) -> None:
        """Tells what a block has brought."""
        turned: list[Mapping[str, Any]] = []
        if self._states is not None:
            self._states.watch(block)
        for telemetry, name, publish in self._told:
            rows = block[name]
            for topic, message in telemetry.messages(rows, live=True):
                publish[topic](message)
            turned += telemetry.transforms(rows[-1])
        if not self._told:
            return
        self._transforms(turned)
        self._clock(clock(float(next(iter(block.values()))[-1, 0])))
        for pilot in self._pilots:
            said = pilot.look()
            if said is not None:
                self._node.warn(said)
        for problem in self._session.executor.take_problems():
            self._node.error(problem)

    def _take_orders(self, endpoints: Endpoints, vehicles: Mapping[str, str]) -> None:
        """What can be asked of all together, and by the gamepad of the first vehicle."""
        session = self._session
        endpoints.order("/gazebo/pause_physics", self._pause)
        endpoints.order("/gazebo/unpause_physics", self._go_on)
        endpoints.order("/gazebo/reset_world", self._begin_anew)
        endpoints.order("/gazebo/reset_simulation", self._begin_anew)
        endpoints.trigger("/kittiwake/step", self._step)
        endpoints.hear("/kittiwake/real_time_factor", "std_msgs/Float64", self._speed)
        settings = session.executor.scenario.ros

        def place(state: Any) -> None:
            session.executor.place(*start_of(state, vehicles, settings))

        def placed(request: Any) -> Answer:
            place(request.model_state)
            return {"success": True}

        endpoints.hear("/gazebo/set_model_state", "gazebo_msgs/ModelState", place)
        endpoints.serve("/gazebo/set_model_state", SET_STATE, placed)
        first = self._pilots[0]

        def place_first(start: Start) -> None:
            session.executor.place(first.vehicle, start)

        sticks = JoystickListener(
            first, session.executor.scenario.joystick, place_first, session.restart
        )
        endpoints.hear("/joy", "sensor_msgs/Joy", sticks.hear)

    def _pause(self) -> None:
        self._session.clock.paused = True

    def _go_on(self) -> None:
        self._session.clock.paused = False

    def _step(self) -> None:
        if not self._session.clock.paused:
            message = "time does not stand still; call /gazebo/pause_physics before"
            raise CommandError(message)
        self._refuse_when_over()
        self._session.clock.step()

    def _begin_anew(self) -> None:
        """Until the next flight is there and takes orders."""
        session = self._session
        with self._beginning:
            before = session.executor
            session.restart()
            while not (session.over or self._is_there_after(before)):
                time.sleep(LOOKS_S)
            self._refuse_when_over()

    def _is_there_after(self, before: LiveExecutor) -> bool:
        """Whether another flight than that one flies, or did, and takes orders if it does."""
        session, executor = self._session, self._session.executor
        is_another = executor is not before and not session.wanted_again
        return is_another and (executor.prepared or executor.over)

    def _refuse_when_over(self) -> None:
        if self._session.over or self._session.executor.over:
            message = "the flight is over"
            raise CommandError(message)

    def _speed(self, message: Any) -> None:
        self._session.clock.speed = float(message.data)
