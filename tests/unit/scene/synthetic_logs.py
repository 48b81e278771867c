"""Synthetic logs of vehicles on given paths."""

import numpy as np

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import STATE_COLUMNS, Event, Table
from kittiwake.scenario.load import load_scenario

COLUMNS = (*STATE_COLUMNS, "status")
PAIR = """
name: pair
time: {rate_hz: 100, duration_s: 4}
world: {area: {x_m: [-9, 9], y_m: [-9, 9], z_m: [0, 9]}}
vehicles:
  ann:
    model: hummingbird
    start: {position_world_m: [-1, 0, 2]}
    controller: position
    guidance: {type: hold}
  bob:
    model: hummingbird
    start: {position_world_m: [1, 0, 2]}
    controller: position
    guidance: {type: hold}
"""


def rows(positions_world_m, rate_hz=10.0, quaternions=None, status=0.0):
    """Return the table of a vehicle at consecutive positions."""
    count = len(positions_world_m)
    values = np.zeros((count, len(COLUMNS)))
    values[:, 0] = np.arange(count) / rate_hz
    values[:, 1:4] = positions_world_m
    values[:, 4:8] = (1.0, 0.0, 0.0, 0.0) if quaternions is None else quaternions
    values[:, -1] = status
    return Table(COLUMNS, values)


def straight(start, end, seconds=4.0, rate_hz=10.0):
    """Return positions along a straight line."""
    return np.linspace(start, end, round(seconds * rate_hz) + 1)


def pair_log(ann=None, bob=None, events=()):
    """Return the log of two vehicles: one moves, the other hovers."""
    ann = rows(straight((-1.0, 0.0, 2.0), (1.0, -3.0, 3.0))) if ann is None else ann
    bob = rows(straight((1.0, 0.0, 2.0), (1.0, 0.0, 2.0))) if bob is None else bob
    events = tuple(Event(*event) for event in events)
    return Log({"ann": ann, "bob": bob}, events, {"name": "pair", "seed": 7})


def scenario_in(folder, text=PAIR):
    """Write a scenario into a folder, and load it."""
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return load_scenario(str(path))
