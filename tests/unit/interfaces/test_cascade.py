"""Control cascades: the path from a command to the actuator command, or the missing type."""

from typing import ClassVar

import pytest

from kittiwake.control import CONTROLLERS
from kittiwake.control.qrsim_velocity import QRSimVelocity
from kittiwake.control.qrsim_waypoint import QRSimWaypoint
from kittiwake.control.stick_inversion import StickInversion
from kittiwake.core.commands import (
    AttitudeThrottle,
    PositionYaw,
    ThrustAttitude,
    ThrustTorque,
    VelocityYaw,
)
from kittiwake.core.errors import CascadeError
from kittiwake.interfaces.cascade import cascade_path, controller_name
from kittiwake.interfaces.controller import AbstractController

INVERSION = StickInversion(0.745, 0.436, (0.66, 3.05, 40.26))


class PositionToVelocity(AbstractController):
    """Controller from position to velocity."""

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = VelocityYaw

    def step(self, state, inputs, dt_s, key):
        raise NotImplementedError


class VelocityToPosition(AbstractController):
    """Controller from velocity to position."""

    consumes: ClassVar[type] = VelocityYaw
    produces: ClassVar[type] = PositionYaw

    def step(self, state, inputs, dt_s, key):
        raise NotImplementedError


class VelocityToThrust(AbstractController):
    """Controller from velocity to thrust and attitude."""

    consumes: ClassVar[type] = VelocityYaw
    produces: ClassVar[type] = ThrustAttitude

    def step(self, state, inputs, dt_s, key):
        raise NotImplementedError


def test_actuator_command_needs_no_controller():
    assert cascade_path([QRSimWaypoint()], AttitudeThrottle, AttitudeThrottle) == ()


def test_one_controller_can_be_the_whole_cascade():
    assert cascade_path([INVERSION, QRSimWaypoint()], PositionYaw, AttitudeThrottle) == (1,)


def test_controllers_are_ordered_by_command_types():
    controllers = [INVERSION, VelocityToThrust(), PositionToVelocity()]
    assert cascade_path(controllers, PositionYaw, AttitudeThrottle) == (2, 1, 0)
    assert cascade_path(controllers, VelocityYaw, AttitudeThrottle) == (1, 0)


def test_first_of_two_controllers_for_a_command_type_is_used():
    controllers = [QRSimVelocity(climb_gain_s_per_m=0.1), QRSimVelocity()]
    assert cascade_path(controllers, VelocityYaw, AttitudeThrottle) == (0,)


def test_missing_command_type_is_named_with_the_available_controllers():
    with pytest.raises(CascadeError) as refusal:
        cascade_path([PositionToVelocity(), INVERSION], PositionYaw, AttitudeThrottle)
    assert str(refusal.value) == (
        "no controller leads from VelocityYaw to AttitudeThrottle, the vehicle's actuator command. "
        "Available controllers: PositionToVelocity (PositionYaw to VelocityYaw), stick-inversion "
        "(ThrustAttitude to AttitudeThrottle). Add one that takes VelocityYaw, or change the "
        "guidance (or your command) to ThrustAttitude or AttitudeThrottle."
    )
    assert refusal.value.command_type == "VelocityYaw"


@pytest.mark.parametrize("name", CONTROLLERS.names())
def test_controllers_have_the_names_used_in_scenarios(name):
    assert controller_name(CONTROLLERS.find(name)) == name


def test_cascade_without_controllers_reports_it():
    with pytest.raises(
        CascadeError, match=r"Available controllers: none\. .* to AttitudeThrottle\.$"
    ):
        cascade_path([], ThrustTorque, AttitudeThrottle)


def test_circular_controllers_are_rejected():
    circle = [PositionToVelocity(), VelocityToPosition()]
    with pytest.raises(CascadeError, match="no controller leads from PositionYaw to Attitude"):
        cascade_path(circle, PositionYaw, AttitudeThrottle)
