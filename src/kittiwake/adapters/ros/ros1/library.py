"""The Python libraries of ROS 1, which Debian installs outside of virtual environments."""

import logging
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from kittiwake.core.errors import MissingExtraError

DEBIAN_PYTHON = Path("/usr/bin/python3")
DEBIAN_PACKAGES = Path("/usr/lib/python3/dist-packages")


def library(module: str) -> Any:
    """A module of ROS 1, also from within a virtual environment.

    Raises:
        MissingExtraError: if it is not installed.
    """
    try:
        return _imported(module)
    except ModuleNotFoundError as error:
        _refuse_others(error, module)
    reach_for_debian()
    try:
        return _imported(module)
    except ModuleNotFoundError as error:
        _refuse_others(error, module)
        message = f"this needs {module} of ROS 1. Install it with: scripts/ros1-setup{_which()}"
        raise MissingExtraError(message) from None


def reach_for_debian() -> None:
    """Lets Python find Debian's packages, after all others, if they were made for its version."""
    folder = str(DEBIAN_PACKAGES)
    if fits() and folder not in sys.path:
        sys.path.append(folder)


def fits() -> bool:
    """Whether Debian's packages are for the Python that runs."""
    return (
        DEBIAN_PYTHON.resolve().name == f"python{sys.version_info.major}.{sys.version_info.minor}"
    )


def _imported(module: str) -> Any:
    # rospy would make all loggers that are created from now on loggers of its own
    loggers = logging.getLoggerClass()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(module)
    finally:
        logging.setLoggerClass(loggers)


def _refuse_others(error: ModuleNotFoundError, module: str) -> None:
    if error.name is None or module.split(".")[0] != error.name.split(".")[0]:
        raise error


def _which() -> str:
    """What to say where Debian's packages are there, but for another version of Python."""
    if fits() or not DEBIAN_PACKAGES.is_dir():
        return ""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f" (it is for {DEBIAN_PYTHON.resolve().name}, and this is Python {own})"
