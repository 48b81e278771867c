"""Timing of a live flight: real-time factor, lateness of blocks and latency of commands.

Twenty Crazyflies, each with a controller at 100 Hz, fly in real time while the cockpit draws them
and random commands arrive. Run: ``python benchmarks/cockpit.py [--vehicles N]``.
"""

import argparse
import random
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from kittiwake.cli.run import keep_compiled
from kittiwake.cockpit.cockpit import Cockpit
from kittiwake.cockpit.frame_buffer import FrameBuffer
from kittiwake.cockpit.live_source import LiveSource
from kittiwake.cockpit.server import PageServer
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.session import Session
from kittiwake.scenario.load import load_scenario
from kittiwake.scene.scene_state import FlightInfo

SCENARIO = """
name: twenty
lost_vehicle: continue
time: {{rate_hz: 200, duration_s: 3600, log_rate_hz: 50}}
world: {{area: {{x_m: [-200, 200], y_m: [-200, 200], z_m: [0, 60]}}}}
vehicles:
  drone:
    model: crazyflie
    count: {count}
    spacing_m: [2, 0, 0]
    start: {{position_world_m: [0, 0, 5]}}
    controller: [{{type: position, rate_hz: 100}}, {{type: acceleration, rate_hz: 100}},
      {{type: attitude, rate_hz: 100}}]
    guidance: hold
"""


class TimedManeuver:
    """Maneuver that records when it was requested and when the flight first used it."""

    def __init__(self, position_m: tuple[float, float, float]) -> None:
        self._command = PositionYaw(Vec3(*position_m), 0.0)
        self.requested_s, self.done_s = time.monotonic(), 0.0
        self._thread = threading.get_ident()

    @property
    def description(self):
        """Text for the event log."""
        return "goes to a random position"

    def command(self, now, capabilities):
        """Return the position, and record the time of the first use."""
        del now, capabilities
        if not self.done_s and threading.get_ident() != self._thread:
            self.done_s = time.monotonic()
        return self._command


def command(session, seconds, maneuvers):
    """Send vehicles to random positions at random times."""
    names = list(session.executor.scenario.vehicles)
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        target_m = (random.uniform(0, 40), random.uniform(-3, 3), random.uniform(4, 8))
        maneuver = TimedManeuver(target_m)
        session.executor.command(random.choice(names), maneuver)
        maneuvers.append(maneuver)
        time.sleep(random.uniform(0.05, 0.2))


def main():
    """Fly, command and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vehicles", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30.0)
    given = parser.parse_args()
    keep_compiled()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "twenty.yaml"
        file.write_text(SCENARIO.format(count=given.vehicles))
        scenario = load_scenario(str(file))
        posted: list[tuple[float, float]] = []
        boards: list[FrameBuffer] = []

        def on_block(block):
            posted.append((time.monotonic(), float(next(iter(block.values()))[-1, 0])))
            boards[0].post(block)

        session = Session(scenario, RealTimeClock(1.0), on_block)
        columns = session.simulation.program.layout.columns
        boards.append(FrameBuffer(columns))
        server = PageServer()
        out = Path(folder) / "run"
        out.mkdir()
        flight = threading.Thread(target=lambda: session.fly(out))
        source = LiveSource(boards[0], session)
        with Cockpit(server, FlightInfo(scenario, 0, columns), source, session):
            flight.start()
            while not session.executor.ready or not posted:
                time.sleep(0.1)
            posted.clear()
            maneuvers: list[TimedManeuver] = []
            command(session, given.seconds, maneuvers)
            session.close()
            flight.join()
    report(given.vehicles, posted[20:], maneuvers)


def report(vehicles, posted, maneuvers):
    """Print the figures."""
    walls, times = np.array(posted).T
    flown_s, passed_s = times[-1] - times[0], walls[-1] - walls[0]
    late_ms = 1e3 * (walls - times)
    late = np.percentile(late_ms - late_ms.min(), [50, 99])
    delays_ms = [1e3 * (one.done_s - one.requested_s) for one in maneuvers if one.done_s]
    middle, most = np.percentile(delays_ms, [50, 95])
    print(f"{vehicles} vehicles, {flown_s:.1f} s flown in {passed_s:.1f} s")
    print(f"real-time factor {flown_s / passed_s:.4f}")
    print(f"blocks late by {late[0]:.1f} ms (median), {late[1]:.1f} ms (99 %)")
    print(
        f"command to applied input: {middle:.1f} ms (median), {most:.1f} ms (95 %), "
        f"of {len(delays_ms)}"
    )


if __name__ == "__main__":
    main()
