"""Maneuvers of one or several vehicles, by their labels on the page."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from kittiwake.core.commands import MotorsOff
from kittiwake.core.errors import CommandError, KittiwakeError
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.maneuvers import HoldCommand, Maneuver, go_to, hold, land, take_off

TAKE_OFF_M = 2.0
TAKE_OFF, LAND, HOLD, GO_TO = "Take off", "Land", "Hold", "Go to location"
DISARM, RESUME = "Disarm", "Resume guidance"
AIRCRAFT = (TAKE_OFF, LAND, HOLD, GO_TO, DISARM, RESUME)
VESSEL = (HOLD, GO_TO, DISARM, RESUME)


def maneuvers_of(vehicle: AssembledVehicle) -> tuple[str, ...]:
    """Return the labels of a vehicle's maneuvers."""
    return VESSEL if vehicle.dynamics.is_vessel else AIRCRAFT


def start_maneuvers(executor: LiveExecutor, label: str, names: Iterable[str]) -> None:
    """Start a maneuver of all named vehicles that have it.

    Raises:
        KittiwakeError: if one of them refuses it; the others have started.
    """
    _for_each(names, lambda name: _start(executor, label, name))


def go_to_point(executor: LiveExecutor, names: Sequence[str], x_m: float, y_m: float) -> None:
    """Send vehicles to a point at their heights; several keep their formation about it.

    Raises:
        CommandError: if a goal is outside the flight area; then none has started.
        KittiwakeError: if a vehicle refuses; the others have started.
    """
    known = {name: now for name in names if (now := executor.estimate(name)) is not None}
    if not known:
        return
    places = np.array([now.position_m for now in known.values()])
    center = places.mean(axis=0)
    goals = places + np.array([x_m - center[0], y_m - center[1], 0.0])
    area = executor.scenario.world.area
    for x, y, _ in goals:
        if not (area.x_m[0] < x < area.x_m[1] and area.y_m[0] < y < area.y_m[1]):
            message = f"({x:z.1f}, {y:z.1f}) m is outside the flight area (`world.area`)."
            raise CommandError(message)
    to = dict(zip(known, goals, strict=True))
    _for_each(known, lambda name: executor.command(name, go_to(to[name], known[name].yaw_rad)))


def _start(executor: LiveExecutor, label: str, name: str) -> None:
    vehicle = executor.scenario.vehicles[name]
    if label in maneuvers_of(vehicle):
        executor.command(name, _maneuver(executor, label, name, vehicle))


def _maneuver(
    executor: LiveExecutor, label: str, name: str, vehicle: AssembledVehicle
) -> Maneuver | None:
    """Return a maneuver; None to resume guidance."""
    now = executor.estimate(name)
    if label == RESUME or now is None:
        return None
    if label == TAKE_OFF:
        return take_off(TAKE_OFF_M)
    if label == LAND:
        return land(vehicle, executor.scenario.world, now)
    if label == DISARM:
        return HoldCommand(MotorsOff())
    return hold(now.position_m, now.yaw_rad)


def _for_each(names: Iterable[str], action: Callable[[str], None]) -> None:
    """Act on each vehicle; then raise the first error, if there was one."""
    errors: list[KittiwakeError] = []
    for name in names:
        try:
            action(name)
        except KittiwakeError as error:
            errors.append(error)
    if errors:
        raise errors[0]
