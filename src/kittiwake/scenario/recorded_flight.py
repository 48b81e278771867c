"""Vehicles whose motion or measurements come from files."""

from collections.abc import Mapping
from dataclasses import dataclass

from kittiwake.core.component import Scheduled
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.recording import Recording
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.instrument import Instrument
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.problems import KeyPath, shortened
from kittiwake.scenario.schema import RECORDED, VehicleSchema
from kittiwake.sensors.errors.playback import MeasurementPlayback
from kittiwake.sim.recorded_motion import RecordedMotion

# what moves a vehicle, and has no effect on one with a recorded motion
MOVING = {
    "start",
    "count",
    "controller",
    "guidance",
    "avoidance",
    "computation_delay_s",
    "faults",
}

Instruments = Mapping[str, Scheduled[Instrument] | None]


@dataclass(frozen=True)
class RecordedFlight:
    """Parts of an entry of ``vehicles`` that come from files; none by default.

    Attributes:
        components: the builder, which reads files and collects mistakes.
        entry: the entry.
        path: its path.
    """

    components: ComponentBuilder
    entry: VehicleSchema
    path: KeyPath

    def motion(
        self, dynamics: AbstractDynamics | None, start: Start | None
    ) -> tuple[AbstractDynamics | None, Start | None]:
        """Return dynamics and start, those of the recorded motion if there is one.

        What else would move the vehicle is noted as a mistake.
        """
        written = self.entry.motion
        if written is None:
            return dynamics, start
        problems = self.components.problems
        for key in sorted(MOVING & self.entry.model_fields_set):
            message = f"the vehicle moves as {shortened(written)} says; omit `{key}`"
            problems.add((*self.path, key), message)
        key = (*self.path, "motion")
        with problems.collecting(key):
            file = self.components.read(Recording, written, key)
            size_body_m, deck = Vec3.zero(), None
            if dynamics is not None:
                size_body_m, deck = dynamics.size_body_m, dynamics.deck
            try:
                motion = RecordedMotion(file=file, size_body_m=size_body_m, deck=deck)
            except ValueError as error:
                raise ScenarioError(str(error)) from None
            return motion, motion.start()
        return None, None

    def sensors(self, simulated: Instruments) -> Instruments:
        """Return the sensors, with the recorded measurements if there is a file of them."""
        if RECORDED not in self.entry.sensors:
            return simulated
        name, key = self.entry.sensors[RECORDED], (*self.path, "sensors", RECORDED)
        with self.components.problems.collecting(key):
            if not isinstance(name, str):
                message = f"{shortened(name)} is not allowed; must be the name of a CSV file"
                raise ScenarioError(message)
            if not simulated:
                message = "name the sensors whose measurements the file has, such as imu: imu"
                raise ScenarioError(message)
            file = self.components.read(Recording, name, key)
            return {sensor: _played_back(own, file, sensor) for sensor, own in simulated.items()}
        return simulated


def _played_back(
    instrument: Scheduled[Instrument] | None, file: Recording, name: str
) -> Scheduled[Instrument] | None:
    """Return a sensor with the measurements of a file before its errors."""
    if instrument is None:
        return None
    own = instrument.component
    playback = MeasurementPlayback(file, name)
    playback.check(own.sensor.measured_type(), 0.0)
    return Scheduled(Instrument(own.sensor, (playback, *own.errors)), instrument.every)
