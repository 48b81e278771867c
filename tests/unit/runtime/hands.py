"""A flight flown block by block without waiting for any clock."""

from math import inf

import numpy as np

from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.simulation import Simulation


class Hands:
    """A live flight that goes on when it is told to, and can be flown again from its start."""

    def __init__(self, scenario, executor=None):
        self.scenario = scenario
        if executor is None:
            executor = LiveExecutor(scenario, Simulation(scenario).program, RealTimeClock(inf))
        self.executor = executor
        self.start = self.executor.begin(scenario.seed, 0)
        self.begin()

    def begin(self, state=None, tick=0):
        """From the start, or from a state; what vehicles were asked for is taken back."""
        for name in self.scenario.vehicles:
            self.executor.ask(name, None)
        # a state of the plain program is handed over again if somebody has done something
        self.executor._tunable, self.executor._rows = None, {}
        self.state, self.tick = self.start if state is None else state, tick

    def settle(self):
        """Returns when what was asked for is ready to be flown."""
        self.executor._builder._thread.submit(lambda: None).result(timeout=300)

    def fly(self, seconds):
        """So many seconds more; the rows by vehicle."""
        blocks = []
        for _ in range(round(seconds * self.executor.rate_hz / self.executor._steps)):
            self.state, block = self.executor.fly(self.state, self.tick)
            self.tick += len(next(iter(block.values())))
            blocks.append(block)
        return {name: np.concatenate([b[name] for b in blocks]) for name in blocks[0]}

    def columns(self, rows, vehicle, *names):
        """Some columns of rows."""
        places = [self.executor.layout.columns[vehicle].index(name) for name in names]
        return rows[vehicle][:, places]

    def flown(self, seconds, vehicle, *names):
        """Some columns of so many seconds more."""
        return self.columns(self.fly(seconds), vehicle, *names)
