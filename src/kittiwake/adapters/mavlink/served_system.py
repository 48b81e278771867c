"""A vehicle with its telemetry and the rates of its messages."""

from math import isfinite
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.system_report import MEASURED, SystemReport, ThrottleMeter
from kittiwake.adapters.mavlink.telemetry import RATES_HZ, SystemTelemetry
from kittiwake.adapters.mavlink.vehicle import MavlinkVehicle
from kittiwake.adapters.mavlink.world_frame import WorldFrame
from kittiwake.core.errors import CommandError
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.row_layout import RowBlock

# intervals of messages, in microseconds: the default one, and none
DEFAULT_INTERVAL, NO_INTERVAL = 0, -1


class ServedSystem:
    """A vehicle with its telemetry and the rates of its messages."""

    def __init__(
        self, dialect: ModuleType, executor: LiveExecutor, name: str, frame: WorldFrame
    ) -> None:
        dynamics = executor.scenario.vehicles[name].dynamics
        max_thrust_n = executor.capabilities(name).max_thrust_n
        self._d = dialect
        self.vehicle = MavlinkVehicle(dialect, executor, name, frame)
        self.telemetry = SystemTelemetry(
            dialect,
            frame,
            is_vessel=dynamics.is_vessel,
            rotors=dynamics.actuator_count,
            max_thrust_n=max_thrust_n,
        )
        self.rates_hz = dict(RATES_HZ)
        columns = executor.layout.columns[name]
        self._places = {key: columns.index(key) for key in MEASURED if key in columns}
        self._meter = ThrottleMeter(columns, dynamics, max_thrust_n)
        self._sent_s: dict[str, float] = {}
        self._measured: dict[str, float] = {}
        self._throttle: float | None = None

    def due(self, block: RowBlock) -> list[Message]:
        """Return the messages that are due after a block."""
        rows = block.get(self.vehicle.name)
        if rows is None:
            return []
        row = rows[-1]
        values = {key: float(row[at]) for key, at in self._places.items()}
        self._measured = {key: value for key, value in values.items() if isfinite(value)}
        self._throttle = self._meter.throttle(row)
        messages = self.vehicle.update()
        report = self._report()
        if report is None:
            return messages
        if report.home_time_s > self._sent_s.get("HOME_POSITION", 0.0):
            # a new home is sent at once
            self._sent_s.pop("HOME_POSITION", None)
        for name, rate_hz in self.rates_hz.items():
            if rate_hz > 0.0 and report.time_s - self._sent_s.get(name, -1e9) > 0.999 / rate_hz:
                self._sent_s[name] = report.time_s
                message = self.telemetry.messages[name](report)
                messages += [] if message is None else [message]
        return messages

    def message(self, name: str, argument: float = 0.0) -> Message | None:
        """Return a message on request; None for one that does not exist."""
        if name == "AUTOPILOT_VERSION":
            return self.telemetry.version(flies_attitudes=self.vehicle.flies_attitudes)
        if name == "MESSAGE_INTERVAL":
            return self._interval(argument)
        report = self._report()
        if report is None or name not in self.telemetry.messages:
            return None
        return self.telemetry.messages[name](report)

    def heartbeat(self) -> list[Message]:
        """Return the heartbeat, from the first block on."""
        if self._report() is None:
            return []
        return [self.telemetry.heartbeat(self.vehicle.mode, armed=self.vehicle.armed)]

    def set_interval(self, name: str, interval_us: float) -> None:
        """Set the interval of a message.

        Raises:
            CommandError: for an interval that is not finite.
            NotImplementedError: for an unknown message.
        """
        if name not in self.rates_hz:
            raise NotImplementedError
        if not isfinite(interval_us):
            text = f"interval: got {interval_us:g}; must be a number of microseconds"
            raise CommandError(text)
        if interval_us == DEFAULT_INTERVAL:
            self.rates_hz[name] = RATES_HZ[name]
        else:
            self.rates_hz[name] = 0.0 if interval_us <= NO_INTERVAL else 1e6 / interval_us

    def _interval(self, number: float) -> Message | None:
        """Return the interval of a message; 0 for an unknown one."""
        if not (isfinite(number) and 0 <= number < 2**16):
            return None
        kind = self._d.mavlink_map.get(round(number))
        rate_hz = self.rates_hz.get("" if kind is None else kind.msgname)
        if rate_hz is None:
            interval_us = 0
        else:
            interval_us = round(1e6 / rate_hz) if rate_hz > 0.0 else NO_INTERVAL
        return self._d.MAVLink_message_interval_message(round(number), min(interval_us, 2**31 - 1))

    def _report(self) -> SystemReport | None:
        return self.vehicle.report(self._measured, self._throttle)
