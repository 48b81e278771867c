"""Flies the vehicles of a scenario as members of a hub."""

import time
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float64

from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.decision import is_guided
from kittiwake.adapters.hub.packets import SetPoint
from kittiwake.core.commands import VelocityYaw
from kittiwake.core.errors import HubError, ScenarioError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.command_source import Notice, VehicleReport
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.schedule import steps_between

# towards the place to hold, without a hub: so fast in proportion to the way, and at most
HOLD_HZ, HOLD_MPS = 1.0, 1.0
# for a hub to compile what it computes
READY_S = 60.0

LOST, BACK = "holds its position without the hub", "joined the hub again"


class HubCommandSource:
    """Every vehicle of a scenario reports to the hub; those in flocks do what it says.

    A vehicle that has lost the hub holds the place where it was then.
    """

    def __init__(self, scenario: Scenario, rate_hz: float) -> None:
        try:
            self.steps = steps_between(scenario.rate_hz, rate_hz, "the hub's rate")
        except ScenarioError as error:
            message = f"{error}; give it to the hub as --rate"
            raise HubError(message) from None
        self._members: Mapping[str, Member] = {}
        self.kinds: dict[str, type] = {
            name: VelocityYaw
            for name, vehicle in scenario.vehicles.items()
            if is_guided(vehicle.guidance.component)
        }
        self._held_m: dict[str, Float64[np.ndarray, 3]] = {}
        self._yaw_rad: dict[str, float] = {}
        self._away: set[str] = set()
        self._notices: list[Notice] = []

    def take(self, members: Mapping[str, Member], reports: Mapping[str, VehicleReport]) -> None:
        """The vehicles' places at the hub, when the flight is about to begin.

        A hub that goes by the clock is told where all of them are, and is waited for, so that it
        knows what to do when the flight begins.
        """
        self._members = members
        hello = next(iter(members.values())).hello
        if hello is None or hello.lockstep:
            return
        end_s = time.monotonic() + READY_S
        while time.monotonic() < end_s:
            answers = self._answers(0.0, reports)
            if all(answers[name] is not None for name in self.kinds):
                return
            time.sleep(1.0 / hello.rate_hz)

    def commands(
        self, time_s: float, reports: Mapping[str, VehicleReport]
    ) -> dict[str, VelocityYaw]:
        """What the hub says; all report first, so that it can decide for all together."""
        answers = self._answers(time_s, reports)
        self._note_absence()
        commands: dict[str, VelocityYaw] = {}
        for name in self.kinds:
            answer = answers[name]
            if answer is None:
                commands[name] = self._hold(name, reports[name])
                continue
            self._held_m.pop(name, None)
            self._yaw_rad[name] = answer.yaw_rad
            ahead = Vec3.of(answer.acceleration_mps2 or (0.0, 0.0, 0.0))
            commands[name] = VelocityYaw(Vec3.of(answer.velocity_mps), answer.yaw_rad, ahead)
        return commands

    def _answers(
        self, time_s: float, reports: Mapping[str, VehicleReport]
    ) -> dict[str, SetPoint | None]:
        for name, member in self._members.items():
            told = reports[name]
            moves = (told.position_m, told.velocity_mps, told.yaw_rad, told.acceleration_mps2)
            member.report(time_s, *moves)
        return {name: member.set_point() for name, member in self._members.items()}

    def notices(self) -> Sequence[Notice]:
        """Who has lost the hub or found it again."""
        told, self._notices = self._notices, []
        return told

    def _hold(self, name: str, report: VehicleReport) -> VelocityYaw:
        place_m = self._held_m.setdefault(name, report.position_m)
        yaw_rad = self._yaw_rad.setdefault(name, report.yaw_rad)
        back = Vec3.of((place_m - report.position_m) * HOLD_HZ).shortened(HOLD_MPS)
        return VelocityYaw(back, yaw_rad)

    def _note_absence(self) -> None:
        away = {name for name, member in self._members.items() if not member.joined}
        self._notices += [(name, LOST) for name in self._members if name in away - self._away]
        self._notices += [(name, BACK) for name in self._members if name in self._away - away]
        self._away = away
