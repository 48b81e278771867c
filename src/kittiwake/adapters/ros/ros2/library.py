"""The Python libraries of ROS 2, which come with a ROS 2 or from wheels.

``kittiwake.core.extras.optional`` names an extra of pip; there is none that brings ROS 2.
"""

from importlib import import_module
from typing import Any

from kittiwake.adapters.ros.kinds import found_class
from kittiwake.core.errors import MissingExtraError

# packages whose definitions come with this one, since few systems have them
OWN_PACKAGES = ("gazebo_msgs", "uav_gazebo_msgs")


def library(module: str) -> Any:
    """A module of ROS 2.

    Raises:
        MissingExtraError: if it is not installed; the message says what brings it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        message = f"this needs {package} of ROS 2. {_bringing(package)}"
        raise MissingExtraError(message) from None


def message_class(kind: str) -> Any:
    """The class of messages of a kind written as in ROS 1, such as "nav_msgs/Odometry".

    Raises:
        MissingExtraError: if its package is not installed.
        RosError: if there is no such kind.
    """
    return _class(kind, "msg")


def service_class(kind: str) -> Any:
    """The class of services of a kind, such as "std_srvs/Empty"; raises as ``message_class``."""
    return _class(kind, "srv")


def is_there(kind: str) -> bool:
    """Whether the package of a kind of messages or services is installed."""
    try:
        library(kind.partition("/")[0])
    except MissingExtraError:
        return False
    return True


def _bringing(package: str) -> str:
    if package in OWN_PACKAGES:
        return (
            f"Build it with colcon from adapters/ros/packages/{package} of Kittiwake's source, "
            "or take the environment that scripts/ros2-setup makes."
        )
    return (
        "Start from a shell in which ROS 2 was sourced, or take the environment that "
        "scripts/ros2-setup makes."
    )


def _class(kind: str, what: str) -> Any:
    return found_class(
        kind, what, lambda package: library(f"{package}.{what}"), lambda one: isinstance(one, type)
    )
