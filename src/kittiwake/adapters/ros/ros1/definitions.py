"""Python classes of the kinds of messages and services in ROS 1.

uav_gazebo's messages and two of Gazebo's come with this package as definitions. Where nobody has
built them, their classes are made when they are first asked for, by the generator that catkin
calls, too.
"""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from kittiwake.adapters.ros.kinds import found_class
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import MissingExtraError

PACKAGES = Path(__file__).parents[1] / "packages"
# what the definitions of a package are made of, itself included
PARTS = {
    "uav_gazebo_msgs": ("geometry_msgs", "std_msgs", "uav_gazebo_msgs"),
    "gazebo_msgs": ("gazebo_msgs", "geometry_msgs", "std_msgs"),
}


def message_class(kind: str) -> Any:
    """The class of messages of a kind, such as "nav_msgs/Odometry".

    Raises:
        MissingExtraError: if its package is not installed.
        RosError: if there is no such kind.
    """
    return _class(kind, "msg")


def service_class(kind: str) -> Any:
    """The class of services of a kind, such as "std_srvs/Empty"; raises as ``message_class``."""
    return _class(kind, "srv")


@cache
def _class(kind: str, what: str) -> Any:
    return found_class(
        kind, what, lambda package: _module(package, what), lambda one: hasattr(one, "_md5sum")
    )


def _module(package: str, what: str) -> ModuleType:
    try:
        return library(f"{package}.{what}")
    except MissingExtraError:
        if package not in PARTS:
            raise
        _make_here(package)
        return import_module(f"{package}.{what}")


def is_there(package: str) -> bool:
    """Whether a package of messages is installed, or has been made."""
    try:
        library(f"{package}.msg")
    except MissingExtraError:
        return False
    return True


def make(package: str, folder: Path) -> None:
    """Makes one of our packages of classes in a folder, for whoever has it on PYTHONPATH."""
    generator, modules = library("genpy.generator"), library("genpy.generate_initpy")
    makers = {"msg": generator.MsgGenerator(), "srv": generator.SrvGenerator()}
    parts = {name: [str(_definitions(name))] for name in PARTS[package]}
    root = folder / package
    for what, maker in makers.items():
        files = sorted(str(file) for file in (PACKAGES / package / what).iterdir())
        assert maker.generate_messages(package, files, str(root / what), parts) == 0
        modules.write_modules(str(root / what))
    (root / "__init__.py").touch()


def _make_here(package: str) -> None:
    """Makes a package and imports it; its files are not needed after that."""
    with TemporaryDirectory(prefix="kittiwake-") as folder:
        make(package, Path(folder))
        sys.path.insert(0, folder)
        try:
            for what in ("msg", "srv"):
                import_module(f"{package}.{what}")
        finally:
            sys.path.remove(folder)


def _definitions(package: str) -> Path:
    """The folder with a package's messages."""
    if package in PARTS:
        return PACKAGES / package / "msg"
    rospkg = library("rospkg")
    try:
        return Path(rospkg.RosPack().get_path(package)) / "msg"
    except rospkg.ResourceNotFound:
        message = f"this needs the definitions of {package}. Install them with: scripts/ros1-setup"
        raise MissingExtraError(message) from None
