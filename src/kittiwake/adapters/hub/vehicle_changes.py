"""Changes of a hub's vehicles, each built beside the flight of the members.

The flock server with the other vehicles takes over the members of the former one between two
updates: in real time between two steps of the timer; in lockstep no turn is taken while one is
built.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from kittiwake.adapters.hub.connection import MemberConnection
from kittiwake.adapters.hub.control_connection import ChangeRequest
from kittiwake.adapters.hub.flock_server import FlockServer, MemberSlot
from kittiwake.adapters.hub.packets import (
    AddVehicle,
    Reason,
    VehicleAdded,
    VehicleChange,
    VehicleNotice,
    VehicleRemoved,
)
from kittiwake.adapters.hub.refusals import RefusalError
from kittiwake.adapters.hub.sessions import MemberSessions
from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.runtime.placement import require_room
from kittiwake.scenario.described_vehicle import DescribedVehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.vehicle_changes import require_few, with_vehicle, without_vehicle


class VehicleChanges:
    """Queue of the changes of a hub's vehicles, which are made one after another.

    Args:
        sessions: of the hub.
        open_port: opens the port of a vehicle and returns its number.
        close_port: closes the port of a vehicle.
    """

    def __init__(
        self,
        sessions: MemberSessions,
        open_port: Callable[[MemberSlot], Awaitable[int]],
        close_port: Callable[[str], None],
    ) -> None:
        self._sessions, self._open_port, self._close_port = sessions, open_port, close_port
        self._requests: asyncio.Queue[ChangeRequest] = asyncio.Queue(
            sessions.limits.waiting_changes
        )
        # of all vehicles and entries up to now
        self._names = {*sessions.flock_server.slots, *_entries(sessions.flock_server.scenario)}

    def request(self, request: ChangeRequest) -> None:
        """Queue a change.

        Raises:
            RefusalError: if too many are waiting.
        """
        try:
            self._requests.put_nowait(request)
        except asyncio.QueueFull:
            message = f"{self._requests.maxsize} changes are waiting; repeat this one later"
            raise RefusalError(Reason.VEHICLE, message, request.change.number) from None
        self._sessions.changing = True

    async def make(self) -> None:
        """Make all changes that are requested, until cancelled."""
        while True:
            request = await self._requests.get()
            try:
                notice = await self._made(request.change)
            except KittiwakeError as error:
                request.refused(str(error))
            # no description of a vehicle may end the hub
            except Exception as error:
                request.refused(repr(error))
            else:
                request.made(msgspec.structs.replace(notice, number=request.change.number))
            self._sessions.changing = not self._requests.empty()
            self._sessions.take_turns()

    async def _made(self, change: VehicleChange) -> VehicleNotice:
        """Make a change, and return it as members receive it.

        Raises:
            KittiwakeError: if it is not possible.
        """
        sessions = self._sessions
        before = sessions.flock_server
        scenario = await asyncio.to_thread(self._changed, before, change)
        after = await asyncio.to_thread(before.of_scenario, scenario)
        # what follows makes the change at once, unless a port cannot be opened
        notice: VehicleNotice = VehicleRemoved(change.name)
        if isinstance(change, AddVehicle):
            port = await self._open_port(after.slots[change.name])
            notice = VehicleAdded(change.name, port, change.vehicle)
        after.take_over(before)
        sessions.flock_server = after
        self._names |= {*after.slots, *_entries(scenario)}
        sessions.note(notice)
        members = [one for one in sessions.members.values() if isinstance(one, MemberConnection)]
        for member in members:
            member.tell(notice)
        for name in before.slots.keys() - after.slots.keys():
            self._close_port(name)
        for member in members:
            if member.name not in after.slots:
                member.dismiss()
        return notice

    def _changed(self, server: FlockServer, change: VehicleChange) -> Scenario:
        """Return the scenario with a change.

        Raises:
            KittiwakeError: if it is not possible.
        """
        scenario, name = server.scenario, change.name
        if not isinstance(change, AddVehicle):
            return without_vehicle(scenario, name)
        if name in self._names:
            message = f"`{name}`: is the name of a vehicle of this hub; write another one"
            raise ScenarioError(message)
        require_few(self._names)
        vehicle = DescribedVehicle.parse(change.vehicle, "vehicle")
        later = with_vehicle(scenario, name, vehicle)
        require_room(later.world, {name: later.vehicles[name]}, server.positions())
        return later


def _entries(scenario: Scenario) -> list[str]:
    return [*scenario.document.data["vehicles"]]
