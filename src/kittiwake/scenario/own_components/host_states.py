"""States of a fleet's objects in plain Python, for checkpoints.

They are by vehicle and by component: ``sensor.NAME``, ``estimator``, ``guidance`` and
``controller.0``, the names of their random streams. A state consists of numbers, texts, NumPy
arrays, lists and dictionaries if that of the user's ``state()`` does.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from kittiwake.core.errors import OwnComponentError
from kittiwake.scenario.own_components.hosts import hosts
from kittiwake.sim.fleet import Fleet

HostStates: TypeAlias = dict[str, dict[str, Any]]


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
