"""Gains as parameters of ROS 2.

A namespace such as /drone/gains becomes a node of that name, where ROS 1 has a dynamic_reconfigure
server: ``ros2 param set /drone/gains Wp 0.8``. Each parameter describes its range. Integers are
accepted as well, and several values can be set atomically.
"""

from collections.abc import Callable, Mapping, Sequence

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.message_types import LibraryObject, Message
from kittiwake.adapters.ros.ros2.library import library
from kittiwake.core.errors import KittiwakeError

# gains are requested in double precision and may be stored in single precision
TOLERANCE = 1e-6


def create_gain_node(
    context: LibraryObject,
    namespace: str,
    gains: Sequence[Gain],
    on_change: Callable[[dict[str, float]], dict[str, float]],
) -> tuple[LibraryObject, Callable[[Mapping[str, float]], None]]:
    """Create a node with gains as its parameters.

    Args:
        context: of rclpy.
        namespace: becomes the node's name.
        gains: their names, values and ranges.
        on_change: receives values within their ranges and returns the accepted ones, or raises a
            ``KittiwakeError``, whose text becomes the reason of the rejection.

    Returns:
        The node, and a function that displays values changed elsewhere.
    """
    path, _, name = namespace.rpartition("/")
    parameter = library("rclpy.parameter").Parameter
    node = library("rclpy").create_node(
        name,
        context=context,
        namespace=path or "/",
        # rclpy does not close this service with its node
        parameter_overrides=[parameter("start_type_description_service", value=False)],
    )
    node.declare_parameters(
        "", [(gain.name, float(gain.value), _descriptor(gain)) for gain in gains]
    )
    names = {gain.name for gain in gains}
    result = library("rcl_interfaces.msg").SetParametersResult

    def on_set_parameters(parameters: Sequence[LibraryObject]) -> Message:
        requested = {one.name: float(one.value) for one in parameters if one.name in names}
        reason = _rejection(requested, on_change) if requested else ""
        return result(successful=not reason, reason=reason)

    node.add_pre_set_parameters_callback(_integers_as_doubles)
    node.add_on_set_parameters_callback(on_set_parameters)

    def display(values: Mapping[str, float]) -> None:
        node.set_parameters_atomically(
            [parameter(name, value=float(value)) for name, value in values.items()]
        )

    return node, display


def _descriptor(gain: Gain) -> Message:
    messages = library("rcl_interfaces.msg")
    limits = messages.FloatingPointRange(from_value=float(gain.low), to_value=float(gain.high))
    return messages.ParameterDescriptor(description=gain.description, floating_point_range=[limits])


def _integers_as_doubles(parameters: Sequence[LibraryObject]) -> list[LibraryObject]:
    """Return the parameters with integer values converted to doubles."""
    parameter = library("rclpy.parameter").Parameter
    integer, double = parameter.Type.INTEGER, parameter.Type.DOUBLE
    return [
        parameter(one.name, double, float(one.value)) if one.type_ == integer else one
        for one in parameters
    ]


def _rejection(
    requested: dict[str, float], on_change: Callable[[dict[str, float]], dict[str, float]]
) -> str:
    """Return the reason why values are rejected; empty if they are accepted."""
    try:
        accepted = on_change(requested)
    except KittiwakeError as error:
        return str(error)
    differences = [
        f"{name} is {accepted[name]:g}, not {value:g}"
        for name, value in requested.items()
        if name in accepted and abs(accepted[name] - value) > TOLERANCE * max(1.0, abs(value))
    ]
    return "; ".join(differences)
