"""Gains by dynamic_reconfigure, as a server and for others to be changed."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import KittiwakeError, RosError

# how long a server may take to say what it has
PATIENCE_S = 5.0


def offer(
    namespace: str,
    gains: Sequence[Gain],
    changed: Callable[[dict[str, float]], dict[str, float]],
) -> Callable[[Mapping[str, float]], None]:
    """Starts a server that keeps gains within their ranges and passes changes on.

    Returns:
        What has it show other values.
    """
    holding = {gain.name: gain.value for gain in gains}

    def decide(wanted: Any, level: int) -> Any:
        del level
        new = {name: float(wanted[name]) for name in holding}
        new = {name: value for name, value in new.items() if _differs(value, holding[name])}
        if new:
            # what is refused stays as it was
            with suppress(KittiwakeError):
                holding.update({name: float(value) for name, value in changed(new).items()})
        wanted.update(holding)
        return wanted

    server = library("dynamic_reconfigure.server").Server(_described(gains), decide, namespace)
    return lambda values: server.update_configuration(dict(values))


class RemoteGains:
    """The gains of another node.

    Attributes:
        gains: what there is, with the values of the moment it was asked.
    """

    def __init__(self, namespace: str) -> None:
        """Asks for them; raises ``RosError`` if nobody offers any there."""
        client = _client(namespace)
        values = client.get_configuration(timeout=PATIENCE_S)
        described = client.get_parameter_descriptions(timeout=PATIENCE_S)
        if values is None or described is None:
            raise _nobody(namespace)
        self._client = client
        self.gains = [
            Gain(one["name"], values[one["name"]], one["min"], one["max"], one["description"])
            for one in described
            if one["type"] == "double"
        ]

    def change(self, values: Mapping[str, float]) -> dict[str, float]:
        """Asks for other values; returns those that hold then."""
        answer = self._client.update_configuration(dict(values))
        return {gain.name: answer[gain.name] for gain in self.gains}


def _client(namespace: str) -> Any:
    rospy = library("rospy")
    try:
        return library("dynamic_reconfigure.client").Client(namespace, timeout=PATIENCE_S)
    except rospy.ROSException:
        raise _nobody(namespace) from None


def _nobody(namespace: str) -> RosError:
    message = f"nobody offers gains at {namespace}; is a drone of this name flown with --ros1?"
    return RosError(message)


def _differs(value: float, former: float) -> bool:
    return math.isfinite(value) and value != former


def _described(gains: Sequence[Gain]) -> Any:
    """What the generator of dynamic_reconfigure would make of a file of parameters."""
    parameters = [
        {
            "name": gain.name,
            "type": "double",
            "level": 0,
            "description": gain.said,
            "edit_method": "",
            "min": float(gain.low),
            "max": float(gain.high),
            "default": float(gain.value),
        }
        for gain in gains
    ]
    group = {"name": "Default", "type": "", "state": True, "id": 0, "parent": 0, "groups": []}
    return SimpleNamespace(
        defaults={gain.name: float(gain.value) for gain in gains},
        min={gain.name: float(gain.low) for gain in gains},
        max={gain.name: float(gain.high) for gain in gains},
        config_description={**group, "parameters": parameters},
    )
