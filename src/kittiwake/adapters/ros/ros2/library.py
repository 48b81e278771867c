"""Import of the ROS 2 Python libraries, from a ROS 2 installation or from wheels.

``kittiwake.core.extras.import_optional`` is not used, since no extra of pip installs ROS 2.
"""

from contextlib import suppress
from importlib import import_module
from types import ModuleType

from kittiwake.adapters.ros.interface_types import find_class
from kittiwake.adapters.ros.message_types import MessageClass
from kittiwake.core.errors import MissingExtraError, RosError

# packages whose definitions come with this package, since few systems have them
OWN_PACKAGES = ("gazebo_msgs", "uav_gazebo_msgs")


def library(module: str) -> ModuleType:
    """Import a module of ROS 2.

    Raises:
        MissingExtraError: if it is not installed, with a hint how to install it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        message = f"this needs {package} of ROS 2. {_install_hint(package)}"
        raise MissingExtraError(message) from None


def message_class(type_name: str) -> MessageClass:
    """Return the class of a message type, written as in ROS 1, such as "nav_msgs/Odometry".

    Raises:
        MissingExtraError: if its package is not installed.
        RosError: if there is no such type.
    """
    return _class(type_name, "msg")


def service_class(type_name: str) -> MessageClass:
    """Return the class of a service type, such as "std_srvs/Empty"; raises as ``message_class``."""
    return _class(type_name, "srv")


def is_installed(type_name: str) -> bool:
    """Return True if a message or service type is installed; others of its package may be."""
    for find in (message_class, service_class):
        with suppress(MissingExtraError, RosError):
            find(type_name)
            return True
    return False


def _install_hint(package: str) -> str:
    if package in OWN_PACKAGES:
        return (
            f"Build it with colcon from adapters/ros/packages/{package} of Kittiwake's source, "
            "or use the environment that scripts/ros2-setup creates."
        )
    return (
        "Source a ROS 2 installation before the start, or use the environment that "
        "scripts/ros2-setup creates."
    )


def _class(type_name: str, interface: str) -> MessageClass:
    return find_class(
        type_name,
        interface,
        lambda package: library(f"{package}.{interface}"),
        lambda one: isinstance(one, type),
    )
