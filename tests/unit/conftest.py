"""Short flights to look at, and their scene states."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.analysis.log import Log
from kittiwake.scenario.load import load_scenario
from kittiwake.scene.scene_state import FlightInfo, SceneState


class Flown(NamedTuple):
    """A flight and its log."""

    flight: FlightInfo
    log: Log

    def scene_state(self, row: int) -> SceneState:
        """Return the scene state at a row of the log, with the whole path up to it."""
        tables = self.log.tables
        row = range(len(next(iter(tables.values())).values))[row]
        return SceneState(
            float(next(iter(tables.values())).values[row, 0]),
            {name: table.values[row] for name, table in tables.items()},
            {name: table.values[: row + 1, 1:4] for name, table in tables.items()},
        )

    def column(self, vehicle: str, column: str, row: int) -> float:
        """Return a value of the log."""
        table = self.log.tables[vehicle]
        return float(table.values[row, table.columns.index(column)])


def flown(name: str, duration_s: float, changes: Mapping[str, Any] | None = None) -> Flown:
    """A scenario as it was flown for a while."""
    simulation = kw.load(name, changes)
    log = simulation.run(duration_s=duration_s)
    columns = {name: table.columns for name, table in log.tables.items()}
    return Flown(FlightInfo(simulation.scenario, simulation.scenario.seed, columns), log)


@pytest.fixture(scope="session")
def ultrasonic_turns() -> Flown:
    """A Hummingbird with sensors that take turns, over a table."""
    # over a table that it does not touch feet change nothing but the time to compile
    changes = {f"vehicles.{name}.parameters": {"landing_gear": None} for name in ("drone", "other")}
    return flown("ultrasonic-turns", 1.2, changes)


@pytest.fixture(scope="session")
def surface_following() -> Flown:
    """A drone with a head along a slope."""
    return flown("surface-following", 1.0)


@pytest.fixture(scope="session")
def otter_in_waves() -> Flown:
    """A vessel in waves."""
    return flown("otter-in-waves", 3.0)


@pytest.fixture(scope="session")
def hallway_ranging() -> Flown:
    """An OS4 with a lidar and a range camera."""
    light = {"lidar": {"type": "lidar-2d", "beams": 60}}
    light |= {"camera": {"type": "range-camera", "width": 8, "height": 6}}
    # in the air feet change nothing but the time to compile
    changes = {"vehicles.os4.sensors": light, "vehicles.os4.parameters": {"landing_gear": None}}
    return flown("hallway-ranging", 0.2, changes)


STATE = ("time_s", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")


@pytest.fixture
def staged() -> Callable[..., FlightInfo]:
    """Factory of flight infos for a scenario, with additional log columns."""

    def make(
        name: str, columns: tuple[str, ...] = (), changes: list[str] | None = None
    ) -> FlightInfo:
        scenario = load_scenario(name, changes or [])
        return FlightInfo(scenario, 0, {name: STATE + columns for name in scenario.vehicles})

    return make


@pytest.fixture
def placed() -> Callable[..., SceneState]:
    """Factory of scene states: all vehicles at a position, 10 m apart, with given column values."""

    def make(
        flight: FlightInfo,
        position_m: tuple[float, float, float] = (0.0, 0.0, 0.0),
        q: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0),
        time_s: float = 0.0,
        **numbers: float,
    ) -> SceneState:
        rows = {}
        for number, (name, columns) in enumerate(flight.columns.items()):
            # one beside the other
            state = [time_s, position_m[0], position_m[1] + 10.0 * number, position_m[2], *q]
            rows[name] = np.array([*state, *(numbers.get(c, np.nan) for c in columns[8:])], float)
        trails = {name: np.tile(row[1:4], (5, 1)) for name, row in rows.items()}
        return SceneState(time_s, rows, trails)

    return make
