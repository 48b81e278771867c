"""Where ROS 1 is found from within a virtual environment."""

import logging
import sys

import pytest

from kittiwake.adapters.ros.ros1 import library
from kittiwake.core.errors import MissingExtraError

MODULE = "kittiwake_stands_in_for_rospy"


@pytest.fixture
def debian(tmp_path, monkeypatch):
    """A system with one package, for a Python of a given version."""
    packages = tmp_path / "dist-packages"
    packages.mkdir()
    code = "import logging\nlogging.setLoggerClass(type('Own', (logging.Logger,), {}))\n"
    (packages / f"{MODULE}.py").write_text(code)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    monkeypatch.setattr(library, "DEBIAN_PACKAGES", packages)

    def of(minor):
        program = tmp_path / f"python3.{minor}"
        program.touch()
        monkeypatch.setattr(library, "DEBIAN_PYTHON", program)
        return packages

    return of


def test_packages_of_the_system_come_after_those_of_the_environment(debian):
    packages = debian(sys.version_info.minor)
    before = logging.getLoggerClass()
    assert library.library(MODULE).__file__ == str(packages / f"{MODULE}.py")
    assert sys.path[-1] == str(packages)
    assert logging.getLoggerClass() is before


def test_packages_for_another_python_are_left_alone(debian):
    debian(sys.version_info.minor + 1)
    said = rf"scripts/ros1-setup \(it is for python3\.{sys.version_info.minor + 1}, and this is"
    with pytest.raises(MissingExtraError, match=said):
        library.library(MODULE)
