"""Python classes of ROS 1 message and service types.

The definitions of uav_gazebo's messages and of some of Gazebo's come with this package. Where they
have not been built, their classes are generated at first use, by the generator that catkin uses.
"""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from kittiwake.adapters.ros.interface_types import find_class
from kittiwake.adapters.ros.message_types import MessageClass
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import MissingExtraError

PACKAGES = Path(__file__).parents[1] / "packages"
# packages with the definitions that a package refers to, itself included
DEPENDENCIES = {
    "uav_gazebo_msgs": ("geometry_msgs", "std_msgs", "uav_gazebo_msgs"),
    "gazebo_msgs": ("gazebo_msgs", "geometry_msgs", "std_msgs"),
}


def message_class(type_name: str) -> MessageClass:
    """Return the class of a message type, such as "nav_msgs/Odometry".

    Raises:
        MissingExtraError: if its package is not installed.
        RosError: if there is no such type.
    """
    return _class(type_name, "msg")


def service_class(type_name: str) -> MessageClass:
    """Return the class of a service type, such as "std_srvs/Empty"; raises as ``message_class``."""
    return _class(type_name, "srv")


@cache
def _class(type_name: str, interface: str) -> MessageClass:
    return find_class(
        type_name,
        interface,
        lambda package: _module(package, interface),
        lambda one: hasattr(one, "_md5sum"),
    )


def _module(package: str, interface: str) -> ModuleType:
    try:
        return library(f"{package}.{interface}")
    except MissingExtraError:
        if package not in DEPENDENCIES:
            raise
        _generate_and_import(package)
        return import_module(f"{package}.{interface}")


def is_installed(package: str) -> bool:
    """Return True if a package of messages is installed or has been generated."""
    try:
        library(f"{package}.msg")
    except MissingExtraError:
        return False
    return True


def generate(package: str, folder: Path) -> None:
    """Generate the classes of one of our packages in a folder, to be put on PYTHONPATH."""
    generator, modules = library("genpy.generator"), library("genpy.generate_initpy")
    generators = {"msg": generator.MsgGenerator(), "srv": generator.SrvGenerator()}
    search_path = {name: [str(_definitions(name))] for name in DEPENDENCIES[package]}
    root = folder / package
    for interface, one in generators.items():
        files = sorted(str(file) for file in (PACKAGES / package / interface).iterdir())
        assert one.generate_messages(package, files, str(root / interface), search_path) == 0
        modules.write_modules(str(root / interface))
    (root / "__init__.py").touch()


def _generate_and_import(package: str) -> None:
    """Generate a package and import it; its files are not needed after that."""
    with TemporaryDirectory(prefix="kittiwake-") as folder:
        generate(package, Path(folder))
        sys.path.insert(0, folder)
        try:
            for interface in ("msg", "srv"):
                import_module(f"{package}.{interface}")
        finally:
            sys.path.remove(folder)


def _definitions(package: str) -> Path:
    """Return the folder with a package's message definitions."""
    if package in DEPENDENCIES:
        return PACKAGES / package / "msg"
    rospkg = library("rospkg")
    try:
        return Path(rospkg.RosPack().get_path(package)) / "msg"
    except rospkg.ResourceNotFound:
        message = f"this needs the definitions of {package}. Install them with: scripts/ros1-setup"
        raise MissingExtraError(message) from None
