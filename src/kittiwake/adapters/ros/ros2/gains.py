"""Gains as parameters of ROS 2.

A namespace such as /drone/gains becomes a node of that name, as dynamic_reconfigure has a server
there: ``ros2 param set /drone/gains Wp 0.8``. Each parameter tells its range. A whole number counts
as the number that it is, and values that belong together can be set atomically.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.ros2.library import library
from kittiwake.core.errors import KittiwakeError

# gains are told as 64-bit numbers, and may be kept as 32-bit ones
TOLERANCE = 1e-6


def offer(
    context: Any,
    namespace: str,
    gains: Sequence[Gain],
    changed: Callable[[dict[str, float]], dict[str, float]],
) -> tuple[Any, Callable[[Mapping[str, float]], None]]:
    """A node with gains as its parameters, in a context, and what has it show other values.

    ``changed`` is told values that are within their ranges and says which hold then; if it raises
    a ``KittiwakeError``, they are refused with its words.
    """
    path, _, name = namespace.rpartition("/")
    node = library("rclpy").create_node(name, context=context, namespace=path or "/")
    node.declare_parameters(
        "", [(gain.name, float(gain.value), _described(gain)) for gain in gains]
    )
    names = {gain.name for gain in gains}
    result = library("rcl_interfaces.msg").SetParametersResult

    def take(parameters: Sequence[Any]) -> Any:
        wanted = {one.name: float(one.value) for one in parameters if one.name in names}
        refusal = _tried(wanted, changed) if wanted else ""
        return result(successful=not refusal, reason=refusal)

    node.add_pre_set_parameters_callback(_as_reals)
    node.add_on_set_parameters_callback(take)
    parameter = library("rclpy.parameter").Parameter

    def show(values: Mapping[str, float]) -> None:
        node.set_parameters_atomically(
            [parameter(name, value=float(value)) for name, value in values.items()]
        )

    return node, show


def _described(gain: Gain) -> Any:
    messages = library("rcl_interfaces.msg")
    span = messages.FloatingPointRange(from_value=float(gain.low), to_value=float(gain.high))
    return messages.ParameterDescriptor(description=gain.said, floating_point_range=[span])


def _as_reals(parameters: Sequence[Any]) -> list[Any]:
    """With whole numbers as real ones."""
    kind = library("rclpy.parameter").Parameter
    whole, real = kind.Type.INTEGER, kind.Type.DOUBLE
    return [
        kind(one.name, real, float(one.value)) if one.type_ == whole else one for one in parameters
    ]


def _tried(
    wanted: dict[str, float], changed: Callable[[dict[str, float]], dict[str, float]]
) -> str:
    """Why values are refused; nothing if they are not."""
    try:
        held = changed(wanted)
    except KittiwakeError as error:
        return str(error)
    others = [
        f"{name} is {held[name]:g}, not {value:g}"
        for name, value in wanted.items()
        if name in held and abs(held[name] - value) > TOLERANCE * max(1.0, abs(value))
    ]
    return "; ".join(others)
