"""Scenarios whose vehicles are members of a hub in another process."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.system.commands import kittiwake_does
from tests.system.test_hub import free_ports
from tests.unit.adapters.flocks import write_mission

import kittiwake as kw

ROOT = Path(__file__).parents[2]


def positions_m(summary):
    return np.array([one["final_position_m"] for one in summary["vehicles"].values()])


def served(folder, *options):
    """What ``serve`` says of the eight in a folder, by a hub of its own."""
    port = free_ports(8)
    answer = kittiwake_does(
        *("serve", "flock-hub-8", "--hub", "--base-port", port, "--out", folder, "--json"), *options
    )
    assert answer.status == 0, answer.err
    return json.loads(answer.out)


@pytest.mark.slow  # eight programs
def test_flock_with_a_hub_ends_where_it_does_without_one(tmp_path):
    by_hub = served(tmp_path, "--lockstep")
    alone = kw.load("flock-hub-8").run().summary
    np.testing.assert_allclose(positions_m(by_hub), positions_m(alone), atol=0.05)
    assert by_hub["min_separation_m"] == pytest.approx(alone["min_separation_m"], abs=0.05)
    flock, other = (one["metrics"]["flock"]["all"] for one in (by_hub, alone))
    assert flock["target_offset_m"] < 0.2
    assert flock["cohesion_radius_m"] == pytest.approx(other["cohesion_radius_m"], abs=0.05)
    assert flock["time_to_target_s"] == pytest.approx(other["time_to_target_s"], abs=0.5)
    assert by_hub["events"] == []


@pytest.mark.slow  # two hubs
def test_in_lockstep_a_flight_is_the_same_each_time(tmp_path):
    flights = [served(tmp_path / name, "--lockstep", "--duration", "10") for name in "ab"]
    np.testing.assert_array_equal(*map(positions_m, flights))


@pytest.mark.slow  # a hub
def test_a_mission_of_flocks_is_flown_by_a_hub_on_another_kind_of_address(tmp_path):
    try:
        port = free_ports(2, "::1")
    except OSError as error:
        pytest.skip(f"no such address here: {error}")
    scenario, out = write_mission(tmp_path), tmp_path / "out"
    options = ("--host", "::1", "--base-port", port, "--lockstep", "--duration", 6)
    answer = kittiwake_does("serve", scenario, "--hub", *options, "--out", out, "--json")
    assert answer.status == 0, answer.err
    alone = kw.load(scenario).run(duration_s=6.0).summary
    by_hub = json.loads(answer.out)
    # two seconds to the east, then west
    assert (positions_m(alone)[:, 0] < 0.0).all()
    np.testing.assert_allclose(positions_m(by_hub), positions_m(alone), atol=0.15)


@pytest.mark.slow  # by the clock
def test_flock_in_real_time_ends_at_the_same_position(tmp_path):
    by_hub = served(tmp_path)
    alone = kw.load("flock-hub-8").run().summary
    np.testing.assert_allclose(positions_m(by_hub), positions_m(alone), atol=0.05)
    assert by_hub["min_separation_m"] == pytest.approx(alone["min_separation_m"], abs=0.05)
    assert by_hub["realtime_factor"] == pytest.approx(1.0, abs=0.05)


@contextmanager
def hub(port):
    command = [sys.executable, "-m", "kittiwake", "hub", "--base-port", str(port), "--quiet"]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT / "src")}) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow  # by the clock
def test_vehicle_without_hub_holds_its_position_and_joins_the_next_hub(tmp_path):
    port = free_ports(8)
    ended_s: list[float] = []

    def fate(first):
        time.sleep(6.0)
        first.send_signal(signal.SIGKILL)
        ended_s.append(time.monotonic())
        time.sleep(1.0)
        with hub(port):
            answers.wait(120.0)

    answers = threading.Event()
    with hub(port) as first:
        from kittiwake.adapters.hub.client import Member
        from kittiwake.core.errors import HubError

        def open_():
            try:
                with Member(port=port, name="drone-1", position_m=(0.0, 0.0, 2.0)):
                    return True
            except HubError:
                return False

        end_s = time.monotonic() + 60.0
        while not open_() and time.monotonic() < end_s:
            time.sleep(0.1)
        command = ("serve", "flock-hub-8", "--hub", "--base-port", port, "--out", tmp_path)
        log_file = tmp_path / "log.mcap"
        killer = threading.Thread(
            target=lambda: (_wait_for_rows(log_file), fate(first)), daemon=True
        )
        killer.start()
        answer = kittiwake_does(*command, "--json")
        answers.set()
        killer.join(30.0)
    assert answer.status == 0, answer.err
    summary = json.loads(answer.out)
    lost = [e for e in summary["events"] if "without the hub" in e["event"]]
    back = [e for e in summary["events"] if "joined" in e["event"]]
    assert {e["vehicle"] for e in lost} == {e["vehicle"] for e in back} == set(summary["vehicles"])
    log = kw.Log.read(tmp_path)
    time_s = log.column("drone-1", "time_s")
    away = (time_s > lost[0]["time_s"] + 1.5) & (time_s < back[0]["time_s"])
    speed = np.linalg.norm([log.column("drone-1", f"v{axis}_mps")[away] for axis in "xyz"], axis=0)
    assert speed.max() < 0.5
    assert summary["metrics"]["flock"]["all"]["target_offset_m"] < 0.5


def _wait_for_rows(file):
    """Until a flight has begun to write its log."""
    end_s = time.monotonic() + 120.0
    while not (file.exists() and file.stat().st_size > 0) and time.monotonic() < end_s:
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), "no mode is given; write --hub"),
        (("--hub", "--speed", "2"), "a hub in real time requires 1"),
        (("--hub", "--speed", "-1"), "must be a number above 0"),
        (("--hub", "--token-file", "/nowhere/token"), "/nowhere/token: No such file"),
        (("--mavlink", "--base-port", "47200"), "`--base-port`: not allowed with --mavlink"),
        (("--joystick", "--host", "127.0.0.1"), "`--host`: not allowed with --joystick"),
    ],
    ids=["alone", "too fast", "backwards", "no token", "port of no hub", "host of no hub"],
)
def test_mistakes_are_reported_before_the_flight(options, expected):
    answer = kittiwake_does("serve", "flock-hub-8", *options)
    assert answer.status == 2
    assert expected in answer.err
