"""A run's folder."""

import os
import signal

import pytest
from tests import interrupts

import kittiwake as kw
from kittiwake.runtime import run_folder
from kittiwake.runtime.loop import Flight
from kittiwake.runtime.watch import RowLayout


def test_ctrl_c_ends_what_comes_before_the_flight(tmp_path, monkeypatch):
    simulation = kw.load("hover-pelican")
    flight = object.__new__(Flight)  # one that is not compiled
    flight.seed, flight.duration_s = 0, 1.0
    flight.layout = RowLayout({"pelican": ("time_s",)}, {"pelican": ()}, {}, {}, {})

    def interrupted(*_):
        os.kill(os.getpid(), signal.SIGINT)
        return pytest.fail("nobody heard of it")

    monkeypatch.setattr(run_folder, "Recorder", interrupted)
    with interrupts.heard(), pytest.raises(KeyboardInterrupt):
        run_folder.fly_into(simulation, flight, tmp_path)


@pytest.mark.parametrize(
    ("scenario", "named"),
    [
        ("{vehicles: {otter: {}}}", ["otter-[0-9]*.csv", "otter.csv"]),
        ("{vehicles: {}, world: {fields: {algae: {}}}}", ["algae.tif"]),
        ("{vehicles: {../otter: {}}}", []),
        ("{vehicles: {}, world: {fields: {/algae: {}}}}", []),
        ("{vehicles: 3}", []),
        ("[]", []),
        ("{", []),
    ],
)
def test_exports_that_are_named_after_vehicles_and_fields_are_known(scenario, named, tmp_path):
    (tmp_path / "scenario.yaml").write_text(scenario)
    assert list(run_folder._named_products(tmp_path / "scenario.yaml")) == named
    assert list(run_folder._named_products(tmp_path / "nothing.yaml")) == []
