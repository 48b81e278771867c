"""ROS 1 node, based on rospy. A process can have one node, once."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.message_types import Message, MessageFields
from kittiwake.adapters.ros.ros1.definitions import message_class, service_class
from kittiwake.adapters.ros.ros1.gains import start_server
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.adapters.ros.ros1.logs import isolated_logging
from kittiwake.adapters.ros.ros1.master import MasterMonitor, check_master
from kittiwake.adapters.ros.ros1.message_conversion import make_message
from kittiwake.core.errors import RosError

# messages queued for a subscriber that is slower than the publisher
QUEUE_SIZE = 20


class Ros1Node:
    """Node of ROS 1 that implements ``RosNode``.

    Attributes:
        stopped: set when the node has been shut down, by this process or from outside.
        stop_reason: why it was shut down.
        name: with its namespace.
    """

    version = 1

    def __init__(self, name: str = "kittiwake") -> None:
        """Start the node, with the remapping arguments (NAME:=VALUE) of the process.

        Raises:
            MissingExtraError: if ROS 1 is not installed.
            RosError: if there is no master, if it has a node of this name, or if the process has
                had a node before.
        """
        self._rospy = rospy = library("rospy")
        if rospy.core.is_initialized():
            message = "this process has had a ROS 1 node already and cannot start another"
            raise RosError(message)
        check_master(name)
        self.stopped = threading.Event()
        self.stop_reason = "the ROS node was shut down"
        self._gain_servers: dict[str, Callable[[Mapping[str, float]], None]] = {}
        # names of topics and services, and the functions that close them
        self._closers: list[tuple[str, Callable[[], None]]] = []
        rospy.on_shutdown(self.stopped.set)
        with isolated_logging():
            rospy.init_node(
                name,
                anonymous=False,
                log_level=rospy.INFO,
                # this node publishes /clock and does not follow it
                disable_rostime=True,
                disable_signals=True,
            )
        self.name: str = rospy.get_name()

    def create_publisher(
        self, topic: str, type_name: str, *, latched: bool = False
    ) -> Callable[[MessageFields], None]:
        """Return a function that publishes plain messages on a topic.

        A latched topic delivers its last message to late subscribers.
        """
        rospy, message_type = self._rospy, message_class(type_name)
        publisher = rospy.Publisher(
            topic, message_type, latch=latched, tcp_nodelay=True, queue_size=QUEUE_SIZE
        )

        self._closers.append((topic, publisher.unregister))

        def publish(plain: MessageFields) -> None:
            if not latched and publisher.get_num_connections() == 0:
                return
            try:
                publisher.publish(make_message(message_type, plain))
            except rospy.ROSException:
                # the topic is closed when the node is shut down, at any moment
                if not rospy.is_shutdown():
                    raise

        return publish

    def create_subscription(
        self, topic: str, type_name: str, callback: Callable[[Message], None]
    ) -> None:
        """Pass each message of a topic to a callback; a slow callback receives the latest one."""
        subscriber = self._rospy.Subscriber(
            topic, message_class(type_name), callback, queue_size=1, tcp_nodelay=True
        )
        self._closers.append((topic, subscriber.unregister))

    def create_service(
        self, name: str, type_name: str, callback: Callable[[Message], MessageFields]
    ) -> None:
        """Advertise a service; each client is served in its own thread."""
        service = service_class(type_name)
        respond = partial(make_message, service._response_class)
        offered = self._rospy.Service(name, service, lambda request: respond(callback(request)))
        self._closers.append((name, offered.shutdown))

    def create_gain_server(
        self,
        namespace: str,
        gains: Sequence[Gain],
        on_change: Callable[[dict[str, float]], dict[str, float]],
    ) -> Callable[[Mapping[str, float]], None]:
        """Offer gains by a server of dynamic_reconfigure.

        Values that ``on_change`` does not return stay as they were. Values that the parameter
        server already has are applied at the start.
        """
        display, close = start_server(namespace, gains, on_change)
        self._gain_servers[namespace] = display
        self._closers.append((namespace, close))
        return display

    def store_gains(self) -> None:
        """Write the current gains to the parameter server, which a new master starts empty."""
        for display in self._gain_servers.values():
            display({})

    def create_transform_broadcaster(
        self, *, static: bool = False
    ) -> Callable[[Sequence[MessageFields]], None]:
        """Return a function that publishes transforms on /tf, or once on /tf_static."""
        topic = "/tf_static" if static else "/tf"
        publish = self.create_publisher(topic, "tf2_msgs/TFMessage", latched=static)
        return lambda transforms: publish({"transforms": transforms})

    def withdraw(self, namespace: str) -> None:
        """Close all publishers, subscriptions, services and gains in a namespace."""
        inside = f"{namespace}/"
        closing = [close for name, close in self._closers if name.startswith(inside)]
        self._closers = [one for one in self._closers if not one[0].startswith(inside)]
        for close in closing:
            close()
        for gains in [name for name in self._gain_servers if name.startswith(inside)]:
            del self._gain_servers[gains]
            self._delete_parameters(gains)

    def watch_master(self, *, reconnect: bool) -> None:
        """Start to check whether the master is alive.

        When it dies, the node logs an error; it stops, or registers again at the next master.
        """
        MasterMonitor(self, reconnect=reconnect).start()

    def parameter(self, name: str, default: str) -> str:
        """Return a private parameter of the node."""
        return str(self._rospy.get_param(f"~{name}", default))

    def info(self, text: str) -> None:
        """Log an information on /rosout and in the node's log."""
        self._rospy.loginfo("%s", text)

    def warn(self, text: str) -> None:
        """Log a warning there and on the terminal."""
        self._rospy.logwarn("%s", text)

    def error(self, text: str) -> None:
        """Log an error there and on the terminal."""
        self._rospy.logerr("%s", text)

    def close(self) -> None:
        """Shut the node down, and delete its gains from the parameter server."""
        for namespace in self._gain_servers:
            self._delete_parameters(namespace)
        self._rospy.signal_shutdown("the simulator has shut it down")

    def _delete_parameters(self, namespace: str) -> None:
        # without a master there is nothing to delete
        with suppress(self._rospy.ROSException, KeyError, OSError):
            self._rospy.delete_param(namespace)
