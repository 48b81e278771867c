"""Programs that are built beside a flight."""

import time
from queue import SimpleQueue

from kittiwake.runtime.program_builder import BuildRequest, ProgramBuilder
from kittiwake.scenario.load import load_scenario

PATIENCE_S = 30.0


def until(holds):
    end_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_abandon_interrupts_a_build(monkeypatch):
    begun = []

    def build(self, order):
        begun.append(order)
        while True:  # as tracing does, without ever looking whether anybody waits
            sum(range(1000))

    monkeypatch.setattr(ProgramBuilder, "_update", build)
    builder = ProgramBuilder(load_scenario("hover-pelican"), SimpleQueue(), lambda _: None)
    monkeypatch.setattr(ProgramBuilder, "_build", lambda self, request: None)
    builder.open(BuildRequest(1, 0, None))
    until(lambda: begun)
    assert builder._thread_id is not None
    builder.abandon()
    until(lambda: builder._thread_id is None)
    assert builder.closed
    assert builder.latest is None
