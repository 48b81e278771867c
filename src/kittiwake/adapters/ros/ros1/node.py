"""A node of ROS 1, by rospy. A process can have one, once."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.ros1.definitions import message_class, service_class
from kittiwake.adapters.ros.ros1.filling import filler
from kittiwake.adapters.ros.ros1.gains import offer
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.adapters.ros.ros1.logs import keep_to_itself
from kittiwake.adapters.ros.ros1.master import MasterWatch, check_place
from kittiwake.core.errors import RosError

# messages that wait for a listener which takes them slower than they come
WAITING = 20


class Ros1Node:
    """A node that ``rosnode list`` shows; implements ``RosNode``.

    Attributes:
        left: set when the node has left ROS, also when somebody else told it to.
        left_because: why.
        name: in full.
    """

    def __init__(self, name: str = "kittiwake") -> None:
        """Joins ROS, with the arguments for it (NAME:=VALUE) that the process has.

        Raises:
            MissingExtraError: if ROS 1 is not installed.
            RosError: if there is no master, if it has a node of this name, or if the process has
                had a node already.
        """
        self._rospy = rospy = library("rospy")
        if rospy.core.is_initialized():
            message = "this process has had a node of ROS 1, and there can be no other"
            raise RosError(message)
        check_place(name)
        self.left = threading.Event()
        self.left_because = "the ROS node was shut down"
        self._offered: dict[str, Callable[[Mapping[str, float]], None]] = {}
        rospy.on_shutdown(self.left.set)
        with keep_to_itself():
            rospy.init_node(
                name,
                anonymous=False,
                log_level=rospy.INFO,
                # whoever makes the time does not follow it
                disable_rostime=True,
                disable_signals=True,
            )
        self.name: str = rospy.get_name()

    def publisher(
        self, topic: str, kind: str, *, latched: bool = False
    ) -> Callable[[Mapping[str, Any]], None]:
        """What publishes plain messages on a topic; a latched one tells late listeners its last."""
        rospy, message_type = self._rospy, message_class(kind)
        fill = filler(message_type)
        topic_publisher = rospy.Publisher(
            topic, message_type, latch=latched, tcp_nodelay=True, queue_size=WAITING
        )

        def publish(plain: Mapping[str, Any]) -> None:
            if not latched and topic_publisher.get_num_connections() == 0:
                return
            try:
                topic_publisher.publish(fill(plain))
            except rospy.ROSException:
                # the topic closes when the node leaves, at any moment
                if not rospy.is_shutdown():
                    raise

        return publish

    def subscribe(self, topic: str, kind: str, heard: Callable[[Any], None]) -> None:
        """Passes each message of a topic on; of those that come faster than that, the latest."""
        self._rospy.Subscriber(topic, message_class(kind), heard, queue_size=1, tcp_nodelay=True)

    def serve(self, name: str, kind: str, answer: Callable[[Any], Mapping[str, Any]]) -> None:
        """Answers requests, each caller in a thread of its own."""
        service = service_class(kind)
        fill = filler(service._response_class)
        self._rospy.Service(name, service, lambda request: fill(answer(request)))

    def offer_gains(
        self,
        namespace: str,
        gains: Sequence[Gain],
        changed: Callable[[dict[str, float]], dict[str, float]],
    ) -> Callable[[Mapping[str, float]], None]:
        """Lets others change gains, by a server of dynamic_reconfigure.

        Values that ``changed`` does not give back stay as they were. What stands on the parameter
        server already counts from the start.
        """
        self._offered[namespace] = offer(namespace, gains, changed)
        return self._offered[namespace]

    def store_gains(self) -> None:
        """Writes the gains that hold to the parameter server, which forgets with its master."""
        for show in self._offered.values():
            show({})

    def transforms(self, *, still: bool = False) -> Callable[[Sequence[Mapping[str, Any]]], None]:
        """What publishes transforms on /tf; those that stay as they are, on /tf_static, once."""
        topic = "/tf_static" if still else "/tf"
        publish = self.publisher(topic, "tf2_msgs/TFMessage", latched=still)
        return lambda transforms: publish({"transforms": transforms})

    def watch_master(self, *, waits: bool) -> None:
        """Notices from now on when the master dies, and says so.

        The node then leaves ROS, or waits for another master, where it registers again.
        """
        MasterWatch(self, waits=waits).start()

    def parameter(self, name: str, otherwise: str) -> str:
        """A private parameter of the node."""
        return str(self._rospy.get_param(f"~{name}", otherwise))

    def inform(self, words: str) -> None:
        """Says something on /rosout and in the node's log."""
        self._rospy.loginfo("%s", words)

    def warn(self, words: str) -> None:
        """Says what somebody should look at, there and on the terminal."""
        self._rospy.logwarn("%s", words)

    def error(self, words: str) -> None:
        """Says what went wrong, there and on the terminal."""
        self._rospy.logerr("%s", words)

    def close(self) -> None:
        """Leaves ROS; gains of this flight are not those of the next one."""
        for namespace in self._offered:
            # where the master has gone nothing is left to take away
            with suppress(self._rospy.ROSException, KeyError, OSError):
                self._rospy.delete_param(namespace)
        self._rospy.signal_shutdown("the simulator has closed it")
