"""Vehicles that are added to a live flight and removed from it, and its log."""

from math import inf

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.analysis.log_reader import files_beside
from kittiwake.analysis.output_file import digest
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.session import Session
from kittiwake.scenario.load import load_scenario
from kittiwake.scene.log_playback import LogPlayback

GULL = {
    "model": "angle-velocity",
    "controller": "position",
    "start": {"position_world_m": [3, 3, 5]},
    "guidance": {"type": "hold"},
}
ADD_AT, REMOVE_AT, END_AT = 5, 10, 15


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("hover-angle-velocity", ["time.duration_s=9", "time.log_rate_hz=200"])


@pytest.fixture(scope="module")
def flown(scenario, tmp_path_factory):
    """A flight into a folder, to which a gull comes and which the drone leaves."""
    folder = tmp_path_factory.mktemp("flown")
    blocks = []

    def change(block):
        blocks.append(block)
        executor = session.executor
        if len(blocks) == ADD_AT:
            executor.add_vehicle("gull", GULL)
        if len(blocks) == REMOVE_AT:
            executor.remove_vehicle("drone")
            with pytest.raises(ScenarioError, match="last vehicle"):
                executor.remove_vehicle("gull")
        if len(blocks) in (ADD_AT, REMOVE_AT):
            # the flight waits for the program, so that each change comes with the next block
            executor._builder._thread.submit(lambda: None).result(timeout=300)
        if len(blocks) == END_AT:
            with pytest.raises(ScenarioError, match="name of a vehicle of this flight"):
                executor.add_vehicle("drone", GULL)
            session.close()

    session = Session(scenario, RealTimeClock(inf), change)
    log = session.fly(folder)
    assert session.executor.take_problems() == []
    return folder, log


def test_the_log_has_each_vehicle_over_the_time_it_flew(flown):
    _, log = flown
    steps = 4  # of a block at 200 Hz
    assert log.names == ("drone", "gull")
    ticks = {name: np.rint(log.column(name, "time_s") * 200).astype(int) for name in log.names}
    np.testing.assert_array_equal(ticks["drone"], np.arange(REMOVE_AT * steps))
    np.testing.assert_array_equal(ticks["gull"], np.arange(ADD_AT * steps, END_AT * steps))
    changes = [(event.vehicle, event.event) for event in log.events]
    assert changes == [("gull", "added"), ("drone", "removed")]
    assert [*log.summary["vehicles"]] == ["drone", "gull"]


@pytest.mark.slow
def test_an_added_vehicle_flies_as_from_the_beginning(flown):
    _, log = flown
    alone = {"name": "alone", "time": {"rate_hz": 200, "duration_s": 0.2}}
    expected = kw.load({**alone, "vehicles": {"gull": GULL}}).run().values("gull")
    rows = log.values("gull")
    np.testing.assert_allclose(rows[:, 1:], expected[: len(rows), 1:], rtol=0, atol=1e-9)


def test_the_scenario_beside_the_log_has_all_vehicles(flown):
    folder, log = flown
    noted = files_beside(folder / "log.mcap")
    assert noted["scenario.yaml"] == digest(folder / "scenario.yaml")
    playback = LogPlayback(log, load_scenario(str(folder / "scenario.yaml")))
    begin, end = playback.span_s
    assert [*playback.scene_state(begin).rows] == ["drone"]
    assert [*playback.scene_state(end).rows] == ["gull"]


def test_code_in_an_added_vehicle_is_refused(scenario):
    session = Session(scenario, RealTimeClock(inf))
    own = {"file": "mine.py", "class": "Mine"}
    with pytest.raises(ScenarioError):
        session.executor.add_vehicle("gull", {**GULL, "controller": own})
    session.close()
