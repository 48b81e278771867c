"""Failures of controllers in plain Python during a flight."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager

from kittiwake.scenario.python_controller import (
    ControllerFailure,
    HostController,
    PythonController,
)
from kittiwake.sim.fleet import Fleet


def forget_failures(fleet: Fleet) -> None:
    """Forget the failures of an earlier flight."""
    for host in _hosts(fleet):
        host.failure = None


@contextmanager
def watched(fleet: Fleet) -> Generator[None]:
    """Keep exceptions of the fleet's controllers as failures while steps are computed."""
    hosts = [*_hosts(fleet)]
    for host in hosts:
        host.watched = True
    try:
        yield
    finally:
        for host in hosts:
            host.watched = False


def first_failure(fleet: Fleet) -> ControllerFailure | None:
    """Return the first failure since it was last forgotten."""
    failures = [host.failure for host in _hosts(fleet) if host.failure is not None]
    return min(failures, key=lambda failure: failure.time_s, default=None)


def _hosts(fleet: Fleet) -> Iterator[HostController]:
    for group in fleet.groups:
        for level in group.vehicle.cascade:
            if isinstance(level.component, PythonController):
                yield level.component.host
