"""Objects in plain Python of a fleet's vehicles, by vehicle and component."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from kittiwake.core.component import AbstractComponent, Scheduled
from kittiwake.core.streams import Stream
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.own_components.host_object import HostObject
from kittiwake.scenario.own_components.python_component import AbstractPythonComponent
from kittiwake.sim.fleet import Fleet

# from names of vehicle and component and the present host to another one
ChangeHost = Callable[[str, str, HostObject], HostObject]


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
    """Return the fleet with each object replaced."""
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
