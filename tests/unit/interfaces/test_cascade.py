"""Connecting rungs: the way from a signal to the native command, or the rung that is missing."""

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
    """A rung for these tests."""

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = VelocityYaw

    def step(self, state, inputs, dt_s, key):
        raise NotImplementedError


class VelocityToPosition(AbstractController):
    """The same backwards."""

    consumes: ClassVar[type] = VelocityYaw
    produces: ClassVar[type] = PositionYaw

    def step(self, state, inputs, dt_s, key):
        raise NotImplementedError


class VelocityToThrust(AbstractController):
    """Half of the way down."""

    consumes: ClassVar[type] = VelocityYaw
    produces: ClassVar[type] = ThrustAttitude

    def step(self, state, inputs, dt_s, key):
        raise NotImplementedError


def test_native_command_needs_no_controller():
    assert cascade_path([QRSimWaypoint()], AttitudeThrottle, AttitudeThrottle) == ()


def test_one_controller_leads_all_the_way():
    assert cascade_path([INVERSION, QRSimWaypoint()], PositionYaw, AttitudeThrottle) == (1,)


def test_controllers_are_put_in_the_order_of_the_rungs():
    controllers = [INVERSION, VelocityToThrust(), PositionToVelocity()]
    assert cascade_path(controllers, PositionYaw, AttitudeThrottle) == (2, 1, 0)
    assert cascade_path(controllers, VelocityYaw, AttitudeThrottle) == (1, 0)


def test_first_of_two_controllers_for_a_rung_is_taken():
    controllers = [QRSimVelocity(climb_gain_s_per_m=0.1), QRSimVelocity()]
    assert cascade_path(controllers, VelocityYaw, AttitudeThrottle) == (0,)


def test_missing_rung_is_named_with_the_controllers_at_hand():
    with pytest.raises(CascadeError) as refusal:
        cascade_path([PositionToVelocity(), INVERSION], PositionYaw, AttitudeThrottle)
    assert str(refusal.value) == (
        "nothing leads from VelocityYaw to AttitudeThrottle, the vehicle's native command. The "
        "controllers at hand: PositionToVelocity (PositionYaw to VelocityYaw), stick-inversion "
        "(ThrustAttitude to AttitudeThrottle). Add one that takes VelocityYaw, or change the "
        "guidance (or your command) to ThrustAttitude or AttitudeThrottle."
    )
    assert refusal.value.command_type == "VelocityYaw"


@pytest.mark.parametrize("name", CONTROLLERS.names())
def test_controllers_are_called_what_scenarios_call_them(name):
    assert controller_name(CONTROLLERS.find(name)) == name


def test_ladder_without_controllers_says_so():
    with pytest.raises(
        CascadeError, match=r"The controllers at hand: none\. .* to AttitudeThrottle\.$"
    ):
        cascade_path([], ThrustTorque, AttitudeThrottle)


def test_controllers_that_lead_in_a_circle_are_refused():
    circle = [PositionToVelocity(), VelocityToPosition()]
    with pytest.raises(CascadeError, match="nothing leads from PositionYaw to AttitudeThrottle"):
        cascade_path(circle, PositionYaw, AttitudeThrottle)
