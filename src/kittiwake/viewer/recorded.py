"""A run's folder as something to look at."""

from pathlib import Path

from kittiwake.analysis.log import SCENARIO_FILE, Log
from kittiwake.core.errors import LogError
from kittiwake.scenario.load import load_scenario
from kittiwake.viewer.frame import Show
from kittiwake.viewer.replay import Replay


def recorded(folder: Path) -> tuple[Show, Replay]:
    """What was flown, and its log to be replayed.

    Raises:
        LogError: if there is no log, nothing in it, or not what was flown.
        ScenarioError: if the scenario beside it cannot be read.
    """
    log = Log.read(folder)
    return show_of(log, folder), Replay(log)


def show_of(log: Log, folder: Path) -> Show:
    """What was flown, by the scenario beside a log.

    Raises:
        LogError: if there is none, or nothing was recorded.
    """
    file = folder / SCENARIO_FILE
    if not file.is_file():
        message = f"'{folder}' holds no {SCENARIO_FILE}, which says what was flown"
        raise LogError(message)
    flown = {name: table.columns for name, table in log.tables.items() if len(table.values)}
    if not flown:
        message = f"the log in '{folder}' holds nothing"
        raise LogError(message)
    scenario = load_scenario(str(file))
    if set(scenario.vehicles) != set(flown):
        message = f"'{file}' is not of the flight beside it: its vehicles are others"
        raise LogError(message)
    return Show(scenario, scenario.seed, flown)
