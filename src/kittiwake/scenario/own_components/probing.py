"""Trials of objects in plain Python before the flight, to find the types of their results."""

from kittiwake.core.commands import zero_command
from kittiwake.core.errors import OwnComponentError
from kittiwake.core.kinematics import Kinematics
from kittiwake.scenario.own_components.host_object import HostObject, described
from kittiwake.scenario.own_components.python_components import numbers_of_command


def probed_command_type(host: HostObject, consumes: type, estimate: Kinematics) -> type:
    """Return the command type that a copy of a controller returns at the start.

    Raises:
        OwnComponentError: if it fails, or returns something else than a command.
    """
    try:
        returned = host.begin().update(0.0, zero_command(consumes), estimate)
    except Exception as error:
        message = (
            f"{host.title}.update fails with the start's estimate and a {consumes.__name__} of "
            f"zeros, by which the command type that it returns is found: {described(error)}. Write "
            f"both types into the class, such as consumes = kw.{consumes.__name__} and "
            "produces = kw.ThrustAttitude"
        )
        raise OwnComponentError(message) from error
    numbers_of_command(returned, host.vehicle)
    return type(returned)
