"""Live part of a fleet: the parameters that can be changed in flight."""

from typing import Any

from kittiwake.sim.fleet import Fleet


def live_parameters(fleet: Fleet) -> Any:
    """Return the vehicles of each group, wind and current."""
    return [group.vehicle for group in fleet.groups], fleet.world.wind, fleet.world.current


def cascade_parameters(fleet: Fleet) -> Any:
    """Return the control cascade of each group."""
    return [group.vehicle.cascade for group in fleet.groups]
