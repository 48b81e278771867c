"""Import of ROS 1 from within a virtual environment."""

import logging
import sys

import pytest

from kittiwake.adapters.ros.ros1 import library
from kittiwake.core.errors import MissingExtraError

MODULE = "kittiwake_fake_rospy"


@pytest.fixture
def debian(tmp_path, monkeypatch):
    """Create a system with one package, for a given minor version of Python."""
    packages = tmp_path / "dist-packages"
    packages.mkdir()
    code = "import logging\nlogging.setLoggerClass(type('Own', (logging.Logger,), {}))\n"
    (packages / f"{MODULE}.py").write_text(code)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    monkeypatch.setattr(library, "DEBIAN_PACKAGES", packages)

    def system(minor):
        program = tmp_path / f"python3.{minor}"
        program.touch()
        monkeypatch.setattr(library, "DEBIAN_PYTHON", program)
        return packages

    return system


def test_debian_packages_come_after_packages_of_the_environment(debian):
    packages = debian(sys.version_info.minor)
    before = logging.getLoggerClass()
    assert library.library(MODULE).__file__ == str(packages / f"{MODULE}.py")
    assert sys.path[-1] == str(packages)
    assert logging.getLoggerClass() is before


def test_debian_packages_for_another_python_are_not_used(debian):
    debian(sys.version_info.minor + 1)
    hint = rf"scripts/ros1-setup \(it is for python3\.{sys.version_info.minor + 1}, and this is"
    with pytest.raises(MissingExtraError, match=hint):
        library.library(MODULE)
