"""Objects in plain Python of a fleet's vehicles: exchange, states and failures.

They are by vehicle and by component: ``sensor.NAME``, ``estimator``, ``guidance`` and
``controller.0``, the names of their random streams. A state consists of numbers, texts, NumPy
arrays, lists and dictionaries if that of the user's ``state()`` does.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any, TypeAlias

from kittiwake.core.component import AbstractComponent, Scheduled
from kittiwake.core.errors import OwnComponentError
from kittiwake.core.streams import Stream
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.plain_python.host_object import HostFailure, HostObject
from kittiwake.sim.plain_python.python_component import AbstractPythonComponent

# from names of vehicle and component and the present host to another one
ChangeHost = Callable[[str, str, HostObject], HostObject]
HostStates: TypeAlias = dict[str, dict[str, Any]]


def hosts(fleet: Fleet) -> dict[str, dict[str, HostObject]]:
    """Return the objects of each vehicle that has any, by component."""
    return {
        # such a vehicle is a group of its own
        group.names[0]: {
            stream: component.host
            for stream, component in _components(group.vehicle)
            if isinstance(component, AbstractPythonComponent)
        }
        for group in fleet.groups
        if group.vehicle.on_host
    }


def _components(vehicle: AssembledVehicle) -> Iterator[tuple[str, AbstractComponent]]:
    """Yield the components that may call an object, by their random streams."""
    for name, part in vehicle.sensors.items():
        yield Stream.SENSOR.of(name), part.component.sensor
    yield Stream.ESTIMATOR, vehicle.estimator.component
    yield Stream.GUIDANCE, vehicle.guidance.component
    for i, level in enumerate(vehicle.cascade):
        yield Stream.CONTROLLER.of(i), level.component


def with_new_hosts(fleet: Fleet) -> Fleet:
    """Return the fleet with objects of its own, which share nothing with those of another."""
    return map_hosts(fleet, lambda _vehicle, _component, host: host.renewed())


def with_hosts_of(fleet: Fleet, former: Fleet) -> Fleet:
    """Return a rebuilt fleet that continues with the objects of the former one.

    Objects that were exchanged, or whose vehicle has other parameters, begin anew.
    """
    known = hosts(former)

    def continued(vehicle: str, component: str, host: HostObject) -> HostObject:
        before = known.get(vehicle, {}).get(component)
        return before if before is not None and before.continues(host) else host

    return map_hosts(fleet, continued)


def is_loaded(component: AbstractComponent) -> bool:
    """Return False for a component whose code is not loaded, as for pictures of a log."""
    return not isinstance(component, AbstractPythonComponent) or component.host.original is not None


def map_hosts(fleet: Fleet, change: ChangeHost) -> Fleet:
    """Return the fleet with each object replaced; itself without any."""
    if not any(group.vehicle.on_host for group in fleet.groups):
        return fleet
    groups = tuple(
        replace(group, vehicle=vehicle_with_hosts(group.vehicle, group.names[0], change))
        if group.vehicle.on_host
        else group
        for group in fleet.groups
    )
    return replace(fleet, groups=groups)


def vehicle_with_hosts(
    vehicle: AssembledVehicle, name: str, change: ChangeHost
) -> AssembledVehicle:
    """Return the vehicle of this name with each object replaced."""

    def changed(component: Any, stream: str) -> Any:
        if not isinstance(component, AbstractPythonComponent):
            return component
        return replace(component, host=change(name, stream, component.host))

    def scheduled(part: Scheduled[Any], stream: str) -> Scheduled[AbstractComponent]:
        return replace(part, component=changed(part.component, stream))

    def instrument(part: Scheduled[Any], stream: str) -> Scheduled[Any]:
        sensor = changed(part.component.sensor, stream)
        return replace(part, component=replace(part.component, sensor=sensor))

    return replace(
        vehicle,
        sensors={
            key: instrument(part, Stream.SENSOR.of(key)) for key, part in vehicle.sensors.items()
        },
        estimator=scheduled(vehicle.estimator, Stream.ESTIMATOR),
        guidance=scheduled(vehicle.guidance, Stream.GUIDANCE),
        cascade=tuple(
            scheduled(level, Stream.CONTROLLER.of(i)) for i, level in enumerate(vehicle.cascade)
        ),
    )


def require_host_states(fleet: Fleet) -> None:
    """Check that a checkpoint can hold all objects in plain Python.

    Raises:
        OwnComponentError: if a class lacks ``state()`` or ``restore(state)``.
    """
    for components in hosts(fleet).values():
        for host in components.values():
            host.require_state()


def host_states(fleet: Fleet) -> HostStates:
    """Return the states of all objects in plain Python; empty without any.

    Raises:
        OwnComponentError: if a class lacks ``state()`` or ``restore(state)``, or if ``state()``
            fails.
    """
    require_host_states(fleet)
    return {
        vehicle: {name: host.state() for name, host in components.items()}
        for vehicle, components in hosts(fleet).items()
    }


def restore_host_states(fleet: Fleet, states: Mapping[str, Mapping[str, Any]]) -> None:
    """Continue all objects in plain Python from states that ``host_states`` returned.

    Raises:
        OwnComponentError: if there is no state for one of them, if a class lacks ``state()`` or
            ``restore(state)``, or if ``restore`` fails.
    """
    require_host_states(fleet)
    for vehicle, components in hosts(fleet).items():
        for name, host in components.items():
            if name not in states.get(vehicle, {}):
                message = f"there is no state of {host.title}, {name} of '{vehicle}'"
                raise OwnComponentError(message)
            host.restore(states[vehicle][name])


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


@contextmanager
def previewed(fleet: Fleet) -> Generator[None]:
    """Compute steps without an effect on the fleet's components, of which copies are called.

    Raises:
        OwnComponentError: if one of them cannot be copied.
    """
    with ExitStack() as copies:
        for host in _all_hosts(fleet):
            copies.enter_context(host.previewed())
        yield


def first_failure(fleet: Fleet) -> HostFailure | None:
    """Return the first failure since it was last forgotten."""
    failures = [host.failure for host in _all_hosts(fleet) if host.failure is not None]
    return min(failures, key=lambda failure: failure.time_s, default=None)


def _all_hosts(fleet: Fleet) -> Iterator[HostObject]:
    return chain.from_iterable(components.values() for components in hosts(fleet).values())
