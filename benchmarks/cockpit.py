"""How well a live flight keeps to the clock, and how soon it does what it is told.

Twenty Crazyflies, each with a controller at 100 Hz, fly in real time while the cockpit draws them
and somebody commands one after another. Run as ``python benchmarks/cockpit.py [--vehicles N]``.
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
from kittiwake.cockpit.server import PageServer
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.session import Session
from kittiwake.scenario.load import load_scenario
from kittiwake.scene.frame import Show

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


class Watched:
    """A maneuver that notes when the flight first asks for it."""

    def __init__(self, place_m: tuple[float, float, float]) -> None:
        self._signal = PositionYaw(Vec3(*place_m), 0.0)
        self.asked_s, self.done_s = time.monotonic(), 0.0
        self._asker = threading.get_ident()

    @property
    def said(self):
        """For the log."""
        return "goes somewhere"

    def command(self, now, able):
        """The place, always."""
        del now, able
        if not self.done_s and threading.get_ident() != self._asker:
            self.done_s = time.monotonic()
        return self._signal


def command(session, seconds, found):
    """Asks vehicles for places, at times that have nothing to do with the flight's."""
    names = list(session.executor.scenario.vehicles)
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        wish = Watched((random.uniform(0, 40), random.uniform(-3, 3), random.uniform(4, 8)))
        session.executor.ask(random.choice(names), wish)
        found.append(wish)
        time.sleep(random.uniform(0.05, 0.2))


def main():
    """Flies, commands, tells."""
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

        def watch(block):
            posted.append((time.monotonic(), float(next(iter(block.values()))[-1, 0])))
            boards[0].post(block)

        session = Session(scenario, RealTimeClock(1.0), watch)
        columns = session.simulation.program.layout.columns
        boards.append(FrameBuffer(columns))
        server = PageServer()
        out = Path(folder) / "run"
        out.mkdir()
        flight = threading.Thread(target=lambda: session.fly(out))
        with Cockpit(server, Show(scenario, 0, columns), boards[0], session):
            flight.start()
            while not session.executor.ready or not posted:
                time.sleep(0.1)
            posted.clear()
            wishes: list[Watched] = []
            command(session, given.seconds, wishes)
            session.close()
            flight.join()
    tell(given.vehicles, posted[20:], wishes)


def tell(vehicles, posted, wishes):
    """What was measured, in words."""
    walls, times = np.array(posted).T
    flown_s, passed_s = times[-1] - times[0], walls[-1] - walls[0]
    late_ms = 1e3 * (walls - times)
    late = np.percentile(late_ms - late_ms.min(), [50, 99])
    delays_ms = [1e3 * (wish.done_s - wish.asked_s) for wish in wishes if wish.done_s]
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
