"""Command source that flies the vehicles of a scenario as members of a hub."""

import time
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float64

from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.decision import is_guided
from kittiwake.adapters.hub.packets import SetPoint, VehicleNotice
from kittiwake.core.commands import VelocityYaw
from kittiwake.core.errors import HubError, ScenarioError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.command_source import Notice, VehicleReport
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.schedule import steps_between

# without a hub: gain from the position error to the velocity, and largest speed
HOLD_HZ, HOLD_MPS = 1.0, 1.0
# longest wait for the hub to compile its program
READY_S = 60.0

LOST, BACK = "holds its position without the hub", "joined the hub again"


class HubCommandSource:
    """Command source of a scenario whose vehicles report to a hub; it guides those in flocks.

    A vehicle that has lost the hub holds its position.
    """

    def __init__(self, scenario: Scenario, rate_hz: float) -> None:
        try:
            self.steps = steps_between(scenario.rate_hz, rate_hz, "the hub's rate")
        except ScenarioError as error:
            message = f"{error}; give it to the hub as --rate"
            raise HubError(message) from None
        self._members: Mapping[str, Member] = {}
        self._changes: list[VehicleNotice] = []
        self._known_changes: set[VehicleNotice] = set()
        self._positions: Mapping[str, Vec3] = {}
        self.command_types = command_types(scenario.vehicles)
        self._held_m: dict[str, Float64[np.ndarray, 3]] = {}
        self._yaw_rad: dict[str, float] = {}
        self._disconnected: set[str] = set()
        self._notices: list[Notice] = []

    def attach(self, members: Mapping[str, Member], reports: Mapping[str, VehicleReport]) -> None:
        """Attach the vehicles' connections to the hub, just before the flight begins.

        To a hub in real time all vehicles report their initial state, and this method waits until
        it has set points for all that it guides.
        """
        self._members = members
        hello = next(iter(members.values())).hello
        if hello is None or hello.lockstep:
            return
        end_s = time.monotonic() + READY_S
        while time.monotonic() < end_s:
            answers = self._answers(0.0, reports)
            if all(answers[name] is not None for name in self.command_types):
                return
            time.sleep(1.0 / hello.rate_hz)

    def change(self, scenario: Scenario, joined: Mapping[str, Member]) -> None:
        """Continue with the vehicles of another scenario, some of which have just joined."""
        for name, member in self._members.items():
            if name not in scenario.vehicles:
                member.close()
        members = {**self._members, **joined}
        self._members = {name: members[name] for name in scenario.vehicles if name in members}
        self.command_types = command_types(scenario.vehicles)
        self._disconnected &= self._members.keys()

    def leave(self) -> None:
        """Let all members leave the hub."""
        for member in self._members.values():
            member.leave()

    def take_changes(self) -> list[VehicleNotice]:
        """Return and clear the changes of the hub's vehicles, each once."""
        changes, self._changes = self._changes, []
        return changes

    def positions(self) -> Mapping[str, Vec3]:
        """Return the position of each vehicle in its last report, in meters in the world."""
        return self._positions

    def commands(
        self, time_s: float, reports: Mapping[str, VehicleReport]
    ) -> dict[str, VelocityYaw]:
        """Return the hub's commands; all vehicles report before any answer is awaited."""
        answers = self._answers(time_s, reports)
        self._update_notices()
        commands: dict[str, VelocityYaw] = {}
        for name in self.command_types:
            answer = answers[name]
            if answer is None:
                commands[name] = self._hold(name, reports[name])
                continue
            self._held_m.pop(name, None)
            self._yaw_rad[name] = answer.yaw_rad
            acceleration = Vec3.of(answer.acceleration_mps2 or (0.0, 0.0, 0.0))
            commands[name] = VelocityYaw(Vec3.of(answer.velocity_mps), answer.yaw_rad, acceleration)
        return commands

    def _answers(
        self, time_s: float, reports: Mapping[str, VehicleReport]
    ) -> dict[str, SetPoint | None]:
        for name, member in self._members.items():
            report = reports[name]
            member.report(
                time_s,
                report.position_m,
                report.velocity_mps,
                report.yaw_rad,
                report.acceleration_mps2,
            )
        self._positions = {name: Vec3.of(own.position_m) for name, own in reports.items()}
        answers = {name: member.set_point() for name, member in self._members.items()}
        # each member receives each change
        for change in [one for member in self._members.values() for one in member.take_changes()]:
            if change not in self._known_changes:
                self._known_changes.add(change)
                self._changes.append(change)
        return answers

    def notices(self) -> Sequence[Notice]:
        """Return and clear the notices of vehicles that lost the hub or joined it again."""
        notices, self._notices = self._notices, []
        return notices

    def _hold(self, name: str, report: VehicleReport) -> VelocityYaw:
        held_m = self._held_m.setdefault(name, report.position_m)
        yaw_rad = self._yaw_rad.setdefault(name, report.yaw_rad)
        velocity = Vec3.of((held_m - report.position_m) * HOLD_HZ).clip_norm(HOLD_MPS)
        return VelocityYaw(velocity, yaw_rad)

    def _update_notices(self) -> None:
        disconnected = {name for name, member in self._members.items() if not member.joined}
        self._notices += [
            (name, LOST) for name in self._members if name in disconnected - self._disconnected
        ]
        self._notices += [
            (name, BACK) for name in self._members if name in self._disconnected - disconnected
        ]
        self._disconnected = disconnected


def command_types(vehicles: Mapping[str, AssembledVehicle]) -> dict[str, type]:
    """Return the type of the commands of a hub to each vehicle that it guides."""
    return {
        name: VelocityYaw
        for name, vehicle in vehicles.items()
        if is_guided(vehicle.guidance.component)
    }
