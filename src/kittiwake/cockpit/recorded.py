"""A run's folder as something to look at."""

from pathlib import Path

from kittiwake.analysis.log import SCENARIO_FILE, Log
from kittiwake.core.errors import LogError
from kittiwake.scenario.load import load_scenario
from kittiwake.scene.log_playback import LogPlayback


def recorded(folder: Path) -> LogPlayback:
    """The flight in a folder.

    Raises:
        LogError: if there is no log, nothing in it, or not what was flown.
        ScenarioError: if the scenario beside it cannot be read.
    """
    log = Log.read(folder)
    file = folder / SCENARIO_FILE
    if not file.is_file():
        message = (
            f"'{folder}' holds no {SCENARIO_FILE}, which says what was flown. Put back the one "
            "that 'kittiwake run' wrote."
        )
        raise LogError(message)
    return LogPlayback(log, load_scenario(str(file)))
