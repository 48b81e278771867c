"""Import of the ROS 1 Python libraries, which Debian installs outside of virtual environments."""

import logging
import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from kittiwake.core.errors import MissingExtraError

DEBIAN_PYTHON = Path("/usr/bin/python3")
DEBIAN_PACKAGES = Path("/usr/lib/python3/dist-packages")


def library(module: str) -> ModuleType:
    """Import a module of ROS 1, also from within a virtual environment.

    Raises:
        MissingExtraError: if it is not installed.
    """
    try:
        return _imported(module)
    except ModuleNotFoundError as error:
        _reraise_unrelated(error, module)
    add_debian_packages()
    try:
        return _imported(module)
    except ModuleNotFoundError as error:
        _reraise_unrelated(error, module)
        hint = _version_hint()
        message = f"this needs {module} of ROS 1. Install it with: scripts/ros1-setup{hint}"
        raise MissingExtraError(message) from None


def add_debian_packages() -> None:
    """Append Debian's packages to ``sys.path`` if they are for this version of Python."""
    folder = str(DEBIAN_PACKAGES)
    if matches_debian_python() and folder not in sys.path:
        sys.path.append(folder)


def matches_debian_python() -> bool:
    """Return True if Debian's packages are for this version of Python."""
    return (
        DEBIAN_PYTHON.resolve().name == f"python{sys.version_info.major}.{sys.version_info.minor}"
    )


def _imported(module: str) -> Any:
    # rospy replaces the class of all loggers created later
    logger_class = logging.getLoggerClass()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(module)
    finally:
        logging.setLoggerClass(logger_class)


def _reraise_unrelated(error: ModuleNotFoundError, module: str) -> None:
    if error.name is None or module.split(".")[0] != error.name.split(".")[0]:
        raise error


def _version_hint() -> str:
    """Return a hint if Debian's packages are for another version of Python."""
    if matches_debian_python() or not DEBIAN_PACKAGES.is_dir():
        return ""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f" (it is for {DEBIAN_PYTHON.resolve().name}, and this is Python {own})"
