"""Loading of recorded flights for playback."""

from pathlib import Path

from kittiwake.analysis.log import SCENARIO_FILE, Log
from kittiwake.core.errors import LogError
from kittiwake.scenario.load import load_recorded, recorded_scenario
from kittiwake.scenario.scenario import Scenario
from kittiwake.scene.log_playback import LogPlayback


def recorded(folder: Path) -> LogPlayback:
    """Return the recorded flight of a folder.

    Raises:
        LogError: if there is no log, it is empty, or its scenario is missing or different.
        ScenarioError: if the scenario file cannot be read.
    """
    return playback_of(Log.read(folder))


def playback_of(log: Log) -> LogPlayback:
    """Return the playback of a log, whether it was read or only flown.

    Raises:
        LogError: if it is empty, or its scenario is missing or different.
        ScenarioError: if the scenario cannot be read.
    """
    return LogPlayback(log, _scenario(log))


def _scenario(log: Log) -> Scenario:
    if isinstance(log.source, Scenario):
        return log.source
    if log.source is None:
        if not log.scenario:
            message = "this log has no scenario, by which it could be shown; read it by Log.read"
            raise LogError(message)
        return recorded_scenario(log.scenario)
    file = log.source / SCENARIO_FILE
    if not file.is_file():
        message = (
            f"'{log.source}' contains no {SCENARIO_FILE}, the scenario of the flight. Restore the "
            "file that 'kittiwake run' wrote."
        )
        raise LogError(message)
    return load_recorded(file)
