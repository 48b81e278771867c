"""Live flight that is flown block by block without waiting for the clock."""

from math import inf

import numpy as np

from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.simulation import Simulation


class SteppedFlight:
    """Live flight that is advanced explicitly, and can be flown again from its start."""

    def __init__(self, scenario, executor=None):
        self.scenario = scenario
        if executor is None:
            layout = Simulation(scenario).program.layout
            executor = LiveExecutor(scenario, layout, RealTimeClock(inf))
        self.executor = executor
        self.start = self.executor.begin(scenario.seed, 0)
        self.begin()

    def begin(self, state=None, tick=0):
        """Return to the start or to a state; all vehicles resume guidance."""
        for name in self.scenario.vehicles:
            self.executor.command(name, None)
        self.executor._rows._latest = {}
        self.state, self.tick = self.start if state is None else state, tick

    def settle(self):
        """Wait until all requested programs are built."""
        self.executor._builder._thread.submit(lambda: None).result(timeout=300)

    def fly(self, seconds):
        """Fly some more seconds; return the rows by vehicle."""
        blocks = []
        for _ in range(round(seconds * self.executor.rate_hz / self.executor._steps)):
            self.state, block = self.executor.fly(self.state, self.tick)
            self.tick += len(next(iter(block.values())))
            blocks.append(block)
        return {name: np.concatenate([b[name] for b in blocks]) for name in blocks[0]}

    def columns(self, rows, vehicle, *names):
        """Return some columns of rows."""
        places = [self.executor.layout.columns[vehicle].index(name) for name in names]
        return rows[vehicle][:, places]

    def flown(self, seconds, vehicle, *names):
        """Fly some more seconds; return some columns."""
        return self.columns(self.fly(seconds), vehicle, *names)
