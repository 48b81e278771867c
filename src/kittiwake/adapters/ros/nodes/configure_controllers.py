"""Node that changes the gains of several drones at once.

It offers the gains of the first drone under its own name and forwards each change to all drones.
Their gains are expected at ``base_ns``/DRONE/``servers_ns``, with two private parameters of the
node, by default empty and "gains":
``configure_controllers drone1 drone2 _servers_ns:=controller``.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from kittiwake.adapters.ros.program import run
from kittiwake.adapters.ros.ros1.gains import RemoteGains
from kittiwake.adapters.ros.ros1.node import Ros1Node
from kittiwake.core.errors import KittiwakeError


@runtime_checkable
class Changeable(Protocol):
    """Gains of another node."""

    def change(self, values: Mapping[str, float]) -> dict[str, float]:
        """Request other values; return the values that the node has then."""
        ...


def gains_namespace(drone: str, base: str = "", servers: str = "gains") -> str:
    """Return the namespace of a drone's gains."""
    return "/" + "/".join(part.strip("/") for part in (base, drone, servers) if part.strip("/"))


def forward_changes(
    drones: Mapping[str, Changeable], warn: Callable[[str], None]
) -> Callable[[dict[str, float]], dict[str, float]]:
    """Return a function that changes the gains of all drones.

    It returns the values that the first reachable drone has then.
    """

    def change(values: dict[str, float]) -> dict[str, float]:
        results: list[dict[str, float]] = []
        for name, drone in drones.items():
            try:
                result = drone.change(values)
            except KittiwakeError as error:
                warn(f"{name}: {error}")
                continue
            results.append({gain: result[gain] for gain in values})
            if results[-1] != values:
                warn(f"{name}: requested {_text(values)}, has {_text(results[-1])}")
        return results[0] if results else {}

    return change


def configure(node: Ros1Node, options: Namespace) -> None:
    """Forward changes until the node is shut down."""
    base, servers = node.parameter("base_ns", ""), node.parameter("servers_ns", "gains")
    namespaces = {drone: gains_namespace(drone, base, servers) for drone in options.drones}
    drones = {drone: RemoteGains(namespace) for drone, namespace in namespaces.items()}
    first = next(iter(drones.values()))
    node.create_gain_server(node.name, first.gains, forward_changes(drones, node.warn))
    node.info(f"changes at {node.name} are forwarded to {', '.join(namespaces.values())}")
    node.stopped.wait()


def _text(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items())


def _parser() -> ArgumentParser:
    parser = ArgumentParser("configure_controllers", description="Change gains of several drones.")
    parser.add_argument("drones", nargs="+", metavar="DRONE", help="namespace of a drone")
    return parser


if __name__ == "__main__":
    sys.exit(run(_parser(), configure))
