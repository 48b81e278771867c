"""Changes the gains of many drones at once.

Offers the gains of the first drone under its own name; each change goes on to all of them. They
are looked for at ``base_ns``/DRONE/``servers_ns``, two private parameters of the node, which are
nothing and "gains" otherwise: ``configure_controllers drone1 drone2 _servers_ns:=controller``.
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
        """Asks for other values; returns those that hold then."""
        ...


def place_of(drone: str, base: str = "", servers: str = "gains") -> str:
    """Where a drone's gains stand."""
    return "/" + "/".join(part.strip("/") for part in (base, drone, servers) if part.strip("/"))


def forwarding(
    drones: Mapping[str, Changeable], warn: Callable[[str], None]
) -> Callable[[dict[str, float]], dict[str, float]]:
    """What changes the gains of all drones; the first one says which values hold then."""

    def change(values: dict[str, float]) -> dict[str, float]:
        answers: list[dict[str, float]] = []
        for name, drone in drones.items():
            try:
                answer = drone.change(values)
            except KittiwakeError as error:
                warn(f"{name}: {error}")
                continue
            answers.append({gain: answer[gain] for gain in values})
            if answers[-1] != values:
                warn(f"{name} was told {_said(values)} and has {_said(answers[-1])}")
        return answers[0] if answers else {}

    return change


def configure(node: Ros1Node, options: Namespace) -> None:
    """Forwards changes until the node leaves."""
    base, servers = node.parameter("base_ns", ""), node.parameter("servers_ns", "gains")
    places = {drone: place_of(drone, base, servers) for drone in options.drones}
    drones = {drone: RemoteGains(place) for drone, place in places.items()}
    first = next(iter(drones.values()))
    node.offer_gains(node.name, first.gains, forwarding(drones, node.warn))
    node.inform(f"changes at {node.name} go to {', '.join(places.values())}")
    node.left.wait()


def _said(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items())


def _parser() -> ArgumentParser:
    parser = ArgumentParser("configure_controllers", description="Changes gains of many drones.")
    parser.add_argument("drones", nargs="+", metavar="DRONE", help="namespace of a drone")
    return parser


if __name__ == "__main__":
    sys.exit(run(_parser(), configure))
