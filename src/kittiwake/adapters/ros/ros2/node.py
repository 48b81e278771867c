"""ROS 2 node, based on rclpy.

**By default the node is reachable from this machine only.** Before rclpy starts,
ROS_AUTOMATIC_DISCOVERY_RANGE is set to LOCALHOST and FASTRTPS_DEFAULT_PROFILES_FILE to
``loopback.xml``, unless the environment already has one of these variables or ROS_LOCALHOST_ONLY.
The profile is needed since with the first variable alone Fast DDS still listens to the network. To
admit other machines, start with ``ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET``. Other variables of ROS 2,
such as ROS_DOMAIN_ID, work as usual.

| quality of service | reliability | durability | depth |
|---|---|---|---|
| topics, published and subscribed | reliable | volatile | 10 |
| latched topics | reliable | transient local | 1 |
| /tf | reliable | volatile | 100 |

A reliable publisher serves reliable and best-effort subscribers. A node that publishes commands
must be reliable, too.

The node accepts uav_gazebo's messages if uav_gazebo_msgs is installed, and always the standard
messages of ``kittiwake.adapters.ros.ros2.standard``.
"""

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.message_types import LibraryObject, Message, MessageClass, MessageFields
from kittiwake.adapters.ros.ros2 import standard
from kittiwake.adapters.ros.ros2.gains import create_gain_node
from kittiwake.adapters.ros.ros2.library import is_installed, library, message_class, service_class
from kittiwake.adapters.ros.ros2.message_conversion import make_message, message_writer
from kittiwake.core.errors import KittiwakeError

DISCOVERY = "ROS_AUTOMATIC_DISCOVERY_RANGE"
PROFILES = "FASTRTPS_DEFAULT_PROFILES_FILE"
# if one of these variables is set, none is changed
NETWORK_VARIABLES = (DISCOVERY, "ROS_LOCALHOST_ONLY", PROFILES, "FASTDDS_DEFAULT_PROFILES_FILE")
LOOPBACK = Path(__file__).with_name("loopback.xml")
TRANSFORMS = "tf2_msgs/TFMessage"
TRIGGER = "std_srvs/Trigger"
DEPTH = 10
TRANSFORMS_DEPTH = 100
# how often a thread checks whether to stop, and how long it may take to do so
SPIN_TIMEOUT_S = 0.1
JOIN_TIMEOUT_S = 5.0


def restrict_to_localhost() -> None:
    """Restrict ROS 2 to this machine, unless the environment already configures its network."""
    if not any(name in os.environ for name in NETWORK_VARIABLES):
        os.environ[DISCOVERY] = "LOCALHOST"
        os.environ[PROFILES] = str(LOOPBACK)


class Ros2Node:
    """Node of ROS 2 that implements ``RosNode``, with its own context and threads.

    One thread receives topics and services, a second one gains. Each service callback runs in its
    own thread, so that a long one delays no other.
    """

    version = 2

    def __init__(self, name: str = "kittiwake", world_frame: str = "world") -> None:
        """Start the node.

        Args:
            name: of the node.
            world_frame: name of the world's frame in standard messages.

        Raises:
            MissingExtraError: if rclpy is not installed.
        """
        rclpy = library("rclpy")
        restrict_to_localhost()
        self._world_frame = world_frame
        self.stopped = threading.Event()
        self.stop_reason = "the ROS node was shut down"
        self._context = rclpy.Context()
        no_signals = library("rclpy.signals").SignalHandlerOptions.NO
        rclpy.init(args=[], context=self._context, signal_handler_options=no_signals)
        self._node = rclpy.create_node(name, context=self._context)
        self._nodes = [self._node]
        # names of topics and services, and the functions that close them
        self._closers: dict[str, list[Callable[[], None]]] = defaultdict(list)
        self._executors = [self._create_executor() for _ in range(2)]
        self._executors[0].add_node(self._node)
        self._threads = [
            threading.Thread(target=self._spin, args=(executor,), daemon=True, name="ROS 2")
            for executor in self._executors
        ]
        for thread in self._threads:
            thread.start()

    def create_publisher(
        self, topic: str, type_name: str, *, latched: bool = False
    ) -> Callable[[MessageFields], None]:
        """Return a function that publishes plain messages on a topic.

        A latched topic delivers its last message to late subscribers.

        Raises:
            MissingExtraError: if the package of the type is not installed.
            RosError: if there is no such type.
        """
        depth = 1 if latched else DEPTH
        return self._create_publisher(topic, type_name, self._qos_profile(depth, latched=latched))

    def create_transform_broadcaster(
        self, *, static: bool = False
    ) -> Callable[[Sequence[MessageFields]], None]:
        """Return a function that publishes transforms on /tf, or once on /tf_static."""
        topic, depth = ("/tf_static", 1) if static else ("/tf", TRANSFORMS_DEPTH)
        publish = self._create_publisher(
            topic, TRANSFORMS, self._qos_profile(depth, latched=static)
        )
        return lambda transforms: publish({"transforms": transforms})

    def create_subscription(
        self, topic: str, type_name: str, callback: Callable[[Message], None]
    ) -> None:
        """Pass each message of a topic to a callback.

        A command of uav_gazebo is also accepted on standard messages, and passed on with the same
        attributes. An invalid one is logged as a warning, and so is a topic whose package is not
        installed.
        """
        namespace = standard.namespace_of(topic, type_name)
        if is_installed(type_name):
            self._subscribe(topic, message_class(type_name), callback)
        elif namespace is None:
            self._warn_of_missing(topic, type_name)
        if namespace is None:
            return
        frames = standard.Frames(self._world_frame, namespace.strip("/"))
        for other in standard.UAV_GAZEBO_INTERFACES[type_name].topics:
            name = f"{namespace}/{other.name}"
            convert = self._converting_callback(name, other.convert, frames, callback)
            self._subscribe(name, message_class(other.type_name), convert)

    def create_service(
        self, name: str, type_name: str, callback: Callable[[Message], MessageFields]
    ) -> None:
        """Advertise a service; each request is served in its own thread.

        A service of uav_gazebo is offered as std_srvs/Trigger as well. A service that has no such
        alternative, and whose package is not installed, is logged as a warning.
        """
        namespace = standard.namespace_of(name, type_name)
        if is_installed(type_name):
            self._create_service(name, type_name, callback)
        elif namespace is None:
            self._warn_of_missing(name, type_name)
        if namespace is None:
            return
        for other in standard.UAV_GAZEBO_INTERFACES[type_name].services:
            trigger = _trigger_callback(other, callback)
            self._create_service(f"{namespace}/{other.name}", TRIGGER, trigger)

    def create_gain_server(
        self,
        namespace: str,
        gains: Sequence[Gain],
        on_change: Callable[[dict[str, float]], dict[str, float]],
    ) -> Callable[[Mapping[str, float]], None]:
        """Offer gains as the parameters of a node named like the namespace."""
        node, display = create_gain_node(self._context, namespace, gains, on_change)
        self._nodes.append(node)
        self._executors[1].add_node(node)

        def close() -> None:
            self._executors[1].remove_node(node)
            self._nodes.remove(node)
            node.destroy_node()

        self._closers[namespace].append(close)
        return display

    def withdraw(self, namespace: str) -> None:
        """Close all publishers, subscriptions, services and gains in a namespace."""
        inside = [name for name in [*self._closers] if name.startswith(f"{namespace}/")]
        for close in [one for name in inside for one in self._closers.pop(name)]:
            if not self.stopped.is_set():
                close()

    def info(self, text: str) -> None:
        """Log an information on the terminal and on /rosout."""
        self._node.get_logger().info(text)

    def warn(self, text: str) -> None:
        """Log a warning."""
        self._node.get_logger().warning(text)

    def error(self, text: str) -> None:
        """Log an error."""
        self._node.get_logger().error(text)

    def close(self) -> None:
        """Shut the node down without waiting for running services.

        Later messages are not published.
        """
        if self.stopped.is_set():
            return
        self.stopped.set()
        for thread in self._threads:
            thread.join(JOIN_TIMEOUT_S)
        for executor in self._executors:
            executor.shutdown()
        for node in self._nodes:
            node.destroy_node()
        self._context.try_shutdown()

    def _warn_of_missing(self, name: str, type_name: str) -> None:
        self.warn(f"{name} is not available, since {type_name} is not installed")

    def _create_executor(self) -> LibraryObject:
        """Create an event-driven executor if this rclpy has one, which is idle without events."""
        try:
            events = library("rclpy.experimental.events_executor")
        except ModuleNotFoundError:
            return library("rclpy.executors").SingleThreadedExecutor(context=self._context)
        return events.EventsExecutor(context=self._context)

    def _spin(self, executor: LibraryObject) -> None:
        # with a timeout: while an EventsExecutor spins forever, its nodes cannot be extended
        while not self.stopped.is_set():
            try:
                executor.spin_once(SPIN_TIMEOUT_S)
            # an error of one message must not end the thread
            except Exception as error:
                if not self.stopped.is_set():
                    self.error(f"ROS 2: {error!r}")

    def _qos_profile(self, depth: int, *, latched: bool = False) -> LibraryObject:
        qos = library("rclpy.qos")
        policies = qos.DurabilityPolicy
        durability = policies.TRANSIENT_LOCAL if latched else policies.VOLATILE
        return qos.QoSProfile(depth=depth, durability=durability)

    def _create_publisher(
        self, topic: str, type_name: str, qos_profile: LibraryObject
    ) -> Callable[[MessageFields], None]:
        message_type = message_class(type_name)
        publisher = self._node.create_publisher(message_type, topic, qos_profile)
        message, write, lock = message_type(), message_writer(message_type), threading.Lock()
        self._closers[topic].append(lambda: self._node.destroy_publisher(publisher))

        def publish(plain: MessageFields) -> None:
            with lock:
                if self.stopped.is_set():
                    return
                write(message, plain)
                try:
                    publisher.publish(message)
                except Exception:
                    # the node may have been closed meanwhile
                    if not self.stopped.is_set():
                        raise

        return publish

    def _subscribe(
        self, topic: str, message_type: MessageClass, callback: Callable[[Message], None]
    ) -> None:
        def on_message(message: Message) -> None:
            try:
                callback(message)
            # an exception would end the executor's thread
            except Exception as error:
                self.error(f"{topic}: {error!r}")

        subscription = self._node.create_subscription(
            message_type, topic, on_message, self._qos_profile(DEPTH)
        )
        self._closers[topic].append(lambda: self._node.destroy_subscription(subscription))

    def _converting_callback(
        self,
        topic: str,
        convert: standard.Converter,
        frames: standard.Frames,
        callback: Callable[[Message], None],
    ) -> Callable[[Message], None]:
        def on_message(message: Message) -> None:
            try:
                command = convert(message, frames)
            except KittiwakeError as error:
                self.warn(f"{topic}: {error}")
            else:
                callback(command)

        return on_message

    def _create_service(
        self, name: str, type_name: str, callback: Callable[[Message], MessageFields]
    ) -> None:
        service_type = service_class(type_name)
        lock = threading.Lock()

        def respond(request: Message, header: Message) -> None:
            try:
                response = make_message(service_type.Response, callback(request))
            # the client needs a response even after an unexpected error
            except Exception as error:
                self.error(f"{name}: {error!r}")
                response = service_type.Response()
            with lock:
                if name in self._closers and not self.stopped.is_set():
                    send(response, header)

        def start(request: Message, header: Message) -> None:
            threading.Thread(target=respond, args=(request, header), daemon=True, name=name).start()

        # An executor waits for the callback and sends its result at once. To keep it free, the
        # callback returns the request, and send_response is replaced by the start of a thread.
        service = self._node.create_service(service_type, name, lambda request, _: request)
        send, service.send_response = service.send_response, start

        def close() -> None:
            with lock:
                self._node.destroy_service(service)

        self._closers[name].append(close)


def _trigger_callback(
    service: standard.StandardService, callback: Callable[[Message], MessageFields]
) -> Callable[[Message], MessageFields]:
    def trigger(request: Message) -> MessageFields:
        del request
        return standard.trigger_response(service, callback(service.request))

    return trigger
