"""A node of ROS 2, by rclpy.

**It stays on this machine unless asked otherwise.** Before rclpy starts, and unless the environment
has one of these variables or ROS_LOCALHOST_ONLY already, ROS_AUTOMATIC_DISCOVERY_RANGE becomes
LOCALHOST, and FASTRTPS_DEFAULT_PROFILES_FILE, since the first alone lets Fast DDS listen to all the
network, ``loopback.xml``. To let other machines take part, start with
``ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET``. Other variables of ROS 2, such as ROS_DOMAIN_ID, work as
ever.

| quality of service | reliability | durability | depth |
|---|---|---|---|
| topics, published and subscribed | reliable | volatile | 10 |
| latched topics | reliable | transient local | 1 |
| /tf | reliable | volatile | 100 |

A reliable publisher serves subscribers of both sorts; one that publishes commands has to be
reliable, too.

Beside uav_gazebo's own messages, which it takes where uav_gazebo_msgs is installed, it always takes
the standard ones of ``kittiwake.adapters.ros.ros2.standard``.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.ros2 import standard
from kittiwake.adapters.ros.ros2.filling import filler, made
from kittiwake.adapters.ros.ros2.gains import offer
from kittiwake.adapters.ros.ros2.library import is_there, library, message_class, service_class
from kittiwake.core.errors import KittiwakeError

DISCOVERY = "ROS_AUTOMATIC_DISCOVERY_RANGE"
PROFILES = "FASTRTPS_DEFAULT_PROFILES_FILE"
# whoever sets one of these has chosen
CHOICES = (DISCOVERY, "ROS_LOCALHOST_ONLY", PROFILES, "FASTDDS_DEFAULT_PROFILES_FILE")
LOOPBACK = Path(__file__).with_name("loopback.xml")
TRANSFORMS = "tf2_msgs/TFMessage"
TRIGGER = "std_srvs/Trigger"
DEPTH = 10
TRANSFORMS_DEPTH = 100
# how long a thread takes to notice that it is to end, and may take to do so
SLICE_S = 0.1
ENDS_S = 5.0


def stay_on_this_machine() -> None:
    """Has ROS 2 talk to this machine alone, by the environment, unless somebody has chosen."""
    if not any(name in os.environ for name in CHOICES):
        os.environ[DISCOVERY] = "LOCALHOST"
        os.environ[PROFILES] = str(LOOPBACK)


class Ros2Node:
    """A ``RosNode`` of ROS 2, with threads of its own, in a context of its own.

    Topics and services are heard in one thread, gains in a second; what a service does runs in a
    thread of its own, so that one that takes long keeps nobody waiting.
    """

    def __init__(self, name: str = "kittiwake", world_frame: str = "world") -> None:
        """Starts it.

        Args:
            name: what it is called.
            world_frame: what standard messages may call the frame of the world.

        Raises:
            MissingExtraError: if rclpy is not installed.
        """
        rclpy = library("rclpy")
        stay_on_this_machine()
        self._world_frame = world_frame
        self.left = threading.Event()
        self.left_because = "the ROS node was shut down"
        self._context = rclpy.Context()
        no_signals = library("rclpy.signals").SignalHandlerOptions.NO
        rclpy.init(args=[], context=self._context, signal_handler_options=no_signals)
        self._node = rclpy.create_node(name, context=self._context)
        self._nodes = [self._node]
        self._executors = [self._executor() for _ in range(2)]
        self._executors[0].add_node(self._node)
        self._threads = [
            threading.Thread(target=self._spin, args=(executor,), daemon=True, name="ROS 2")
            for executor in self._executors
        ]
        for thread in self._threads:
            thread.start()

    def publisher(
        self, topic: str, kind: str, *, latched: bool = False
    ) -> Callable[[Mapping[str, Any]], None]:
        """What publishes plain messages on a topic; a latched one tells late listeners its last.

        Raises:
            MissingExtraError: if the package of the kind is not installed.
            RosError: if there is no such kind.
        """
        depth = 1 if latched else DEPTH
        return self._publisher(topic, kind, self._quality(depth, latched=latched))

    def transforms(self, *, still: bool = False) -> Callable[[Sequence[Mapping[str, Any]]], None]:
        """What publishes transforms on /tf; those that stay as they are, on /tf_static, once."""
        topic, depth = ("/tf_static", 1) if still else ("/tf", TRANSFORMS_DEPTH)
        publish = self._publisher(topic, TRANSFORMS, self._quality(depth, latched=still))
        return lambda transforms: publish({"transforms": transforms})

    def subscribe(self, topic: str, kind: str, heard: Callable[[Any], None]) -> None:
        """Passes each message of a topic on as the library's own.

        Of uav_gazebo's commands those on standard messages are passed on, too, with the same
        attributes. One that cannot be read is told by a warning, and a topic whose package is not
        installed.
        """
        namespace = standard.namespace_of(topic, kind)
        if is_there(kind):
            self._subscribe(topic, message_class(kind), heard)
        elif namespace is None:
            self._warn_of_missing(topic, kind)
        if namespace is None:
            return
        frames = standard.Frames(self._world_frame, namespace.strip("/"))
        for other in standard.ORIGINALS[kind].topics:
            name = f"{namespace}/{other.name}"
            read = self._reading(name, other.read, frames, heard)
            self._subscribe(name, message_class(other.kind), read)

    def serve(self, name: str, kind: str, answer: Callable[[Any], Mapping[str, Any]]) -> None:
        """Answers the library's request by a plain response, each in a thread of its own.

        uav_gazebo's services are offered as std_srvs/Trigger as well. A service whose package is
        not installed and for which nothing stands is told by a warning.
        """
        namespace = standard.namespace_of(name, kind)
        if is_there(kind):
            self._serve(name, kind, answer)
        elif namespace is None:
            self._warn_of_missing(name, kind)
        if namespace is None:
            return
        for other in standard.ORIGINALS[kind].services:
            self._serve(f"{namespace}/{other.name}", TRIGGER, _triggering(other, answer))

    def offer_gains(
        self,
        namespace: str,
        gains: Sequence[Gain],
        changed: Callable[[dict[str, float]], dict[str, float]],
    ) -> Callable[[Mapping[str, float]], None]:
        """Offers gains as the parameters of a node that is called as the namespace is."""
        node, show = offer(self._context, namespace, gains, changed)
        self._nodes.append(node)
        self._executors[1].add_node(node)
        return show

    def inform(self, words: str) -> None:
        """Says something, here and on /rosout."""
        self._node.get_logger().info(words)

    def warn(self, words: str) -> None:
        """Says what somebody should look at."""
        self._node.get_logger().warning(words)

    def error(self, words: str) -> None:
        """Says what went wrong."""
        self._node.get_logger().error(words)

    def close(self) -> None:
        """Leaves ROS; what comes later is not published. Answers under way are not waited for."""
        if self.left.is_set():
            return
        self.left.set()
        for thread in self._threads:
            thread.join(ENDS_S)
        for executor in self._executors:
            executor.shutdown()
        for node in self._nodes:
            node.destroy_node()
        self._context.try_shutdown()

    def _warn_of_missing(self, name: str, kind: str) -> None:
        package = kind.partition("/")[0]
        self.warn(f"{name} is not offered, since {package} is not installed")

    def _executor(self) -> Any:
        """One that costs nothing while nothing comes, if this rclpy has it."""
        try:
            events = library("rclpy.experimental.events_executor")
        except ModuleNotFoundError:
            return library("rclpy.executors").SingleThreadedExecutor(context=self._context)
        return events.EventsExecutor(context=self._context)

    def _spin(self, executor: Any) -> None:
        # in slices: while an EventsExecutor spins for good, nothing can be added to its nodes
        while not self.left.is_set():
            try:
                executor.spin_once(SLICE_S)
            # what goes wrong with one message is no reason to hear no other
            except Exception as error:
                if not self.left.is_set():
                    self.error(f"ROS 2: {error!r}")

    def _quality(self, depth: int, *, latched: bool = False) -> Any:
        qos = library("rclpy.qos")
        kinds = qos.DurabilityPolicy
        durability = kinds.TRANSIENT_LOCAL if latched else kinds.VOLATILE
        return qos.QoSProfile(depth=depth, durability=durability)

    def _publisher(
        self, topic: str, kind: str, quality: Any
    ) -> Callable[[Mapping[str, Any]], None]:
        message_kind = message_class(kind)
        publisher = self._node.create_publisher(message_kind, topic, quality)
        message, fill, lock = message_kind(), filler(message_kind), threading.Lock()

        def publish(plain: Mapping[str, Any]) -> None:
            with lock:
                if self.left.is_set():
                    return
                fill(message, plain)
                try:
                    publisher.publish(message)
                except Exception:
                    # it may have been closed meanwhile
                    if not self.left.is_set():
                        raise

        return publish

    def _subscribe(self, topic: str, kind: Any, heard: Callable[[Any], None]) -> None:
        def hear(message: Any) -> None:
            try:
                heard(message)
            # what escapes here would end the thread that hears
            except Exception as error:
                self.error(f"{topic}: {error!r}")

        self._node.create_subscription(kind, topic, hear, self._quality(DEPTH))

    def _reading(
        self,
        topic: str,
        read: standard.Reader,
        frames: standard.Frames,
        heard: Callable[[Any], None],
    ) -> Callable[[Any], None]:
        def hear(message: Any) -> None:
            try:
                command = read(message, frames)
            except KittiwakeError as error:
                self.warn(f"{topic}: {error}")
            else:
                heard(command)

        return hear

    def _serve(self, name: str, kind: str, answer: Callable[[Any], Mapping[str, Any]]) -> None:
        service_kind = service_class(kind)
        lock = threading.Lock()

        def reply(request: Any, header: Any) -> None:
            try:
                response = made(service_kind.Response, answer(request))
            # somebody waits for an answer whatever happens
            except Exception as error:
                self.error(f"{name}: {error!r}")
                response = service_kind.Response()
            with lock:
                if not self.left.is_set():
                    send(response, header)

        def begin(request: Any, header: Any) -> None:
            threading.Thread(target=reply, args=(request, header), daemon=True, name=name).start()

        # An executor sends what the callback returns at once, and would wait for it. So the
        # callback hands the request on, and what should send it begins to work on it instead.
        service = self._node.create_service(service_kind, name, lambda request, _: request)
        send, service.send_response = service.send_response, begin


def _triggering(
    service: standard.StandardService, answer: Callable[[Any], Mapping[str, Any]]
) -> Callable[[Any], Mapping[str, Any]]:
    def trigger(request: Any) -> Mapping[str, Any]:
        del request
        return standard.trigger_response(service, answer(service.request))

    return trigger
