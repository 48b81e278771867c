"""Failures of components in plain Python during a flight."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import chain

from kittiwake.scenario.own_components.host_object import HostFailure, HostObject
from kittiwake.scenario.own_components.hosts import hosts
from kittiwake.sim.fleet import Fleet


def forget_failures(fleet: Fleet) -> None:
    """Forget the failures of an earlier flight."""
    for host in _all_hosts(fleet):
        host.failure = None


@contextmanager
def watched(fleet: Fleet) -> Generator[None]:
    """Keep exceptions of the fleet's components as failures while steps are computed.

    Raises:
        KeyboardInterrupt: after the steps, if it was raised in a component.
    """
    watched_hosts = [*_all_hosts(fleet)]
    for host in watched_hosts:
        host.watched = True
    try:
        yield
    finally:
        for host in watched_hosts:
            host.watched = False
    for host in watched_hosts:
        if host.failure is not None and isinstance(host.failure.cause, KeyboardInterrupt):
            # it is the user's, and not a failure of the component
            interrupt, host.failure = host.failure.cause, None
            raise interrupt


def first_failure(fleet: Fleet) -> HostFailure | None:
    """Return the first failure since it was last forgotten."""
    failures = [host.failure for host in _all_hosts(fleet) if host.failure is not None]
    return min(failures, key=lambda failure: failure.time_s, default=None)


def _all_hosts(fleet: Fleet) -> Iterator[HostObject]:
    return chain.from_iterable(components.values() for components in hosts(fleet).values())
