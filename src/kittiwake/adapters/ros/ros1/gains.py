"""Server and client of gains, based on dynamic_reconfigure."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import SimpleNamespace

from kittiwake.adapters.ros.gains import Gain
from kittiwake.adapters.ros.message_types import LibraryObject
from kittiwake.adapters.ros.ros1.library import library
from kittiwake.core.errors import KittiwakeError, RosError

# how long a server may take to respond
RESPONSE_TIMEOUT_S = 5.0


def start_server(
    namespace: str,
    gains: Sequence[Gain],
    on_change: Callable[[dict[str, float]], dict[str, float]],
) -> tuple[Callable[[Mapping[str, float]], None], Callable[[], None]]:
    """Start a server that keeps gains within their ranges and passes changes to a callback.

    Returns:
        A function that displays values changed elsewhere, and one that closes the server.
    """
    current = {gain.name: gain.value for gain in gains}

    def reconfigure(config: LibraryObject, level: int) -> LibraryObject:
        del level
        new = {name: float(config[name]) for name in current}
        new = {name: value for name, value in new.items() if _differs(value, current[name])}
        if new:
            # rejected values stay as they were
            with suppress(KittiwakeError):
                current.update({name: float(value) for name, value in on_change(new).items()})
        config.update(current)
        return config

    server = library("dynamic_reconfigure.server").Server(
        _description(gains), reconfigure, namespace
    )

    def close() -> None:
        server.set_service.shutdown()
        server.descr_topic.unregister()
        server.update_topic.unregister()

    return lambda values: server.update_configuration(dict(values)), close


class RemoteGains:
    """Gains of another node.

    Attributes:
        gains: their names, ranges and values at the time of construction.
    """

    def __init__(self, namespace: str) -> None:
        """Request the gains; raises ``RosError`` if no server responds."""
        client = _client(namespace)
        values = client.get_configuration(timeout=RESPONSE_TIMEOUT_S)
        descriptions = client.get_parameter_descriptions(timeout=RESPONSE_TIMEOUT_S)
        if values is None or descriptions is None:
            raise _no_server_error(namespace)
        self._client = client
        self.gains = [
            Gain(one["name"], values[one["name"]], one["min"], one["max"], one["description"])
            for one in descriptions
            if one["type"] == "double"
        ]

    def change(self, values: Mapping[str, float]) -> dict[str, float]:
        """Request other values; return the values that the server has then."""
        response = self._client.update_configuration(dict(values))
        return {gain.name: response[gain.name] for gain in self.gains}


def _client(namespace: str) -> LibraryObject:
    rospy = library("rospy")
    try:
        return library("dynamic_reconfigure.client").Client(namespace, timeout=RESPONSE_TIMEOUT_S)
    except rospy.ROSException:
        raise _no_server_error(namespace) from None


def _no_server_error(namespace: str) -> RosError:
    message = f"no gains at {namespace}; is a drone of this name served with --ros1?"
    return RosError(message)


def _differs(value: float, current: float) -> bool:
    return math.isfinite(value) and value != current


def _description(gains: Sequence[Gain]) -> SimpleNamespace:
    """Return the module that dynamic_reconfigure would generate from a .cfg file."""
    parameters = [
        {
            "name": gain.name,
            "type": "double",
            "level": 0,
            "description": gain.description,
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
