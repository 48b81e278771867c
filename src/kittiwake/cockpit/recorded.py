"""Loading of a run folder for playback."""

from pathlib import Path

from kittiwake.analysis.log import SCENARIO_FILE, Log
from kittiwake.core.errors import LogError
from kittiwake.scenario.load import load_recorded
from kittiwake.scene.log_playback import LogPlayback


def recorded(folder: Path) -> LogPlayback:
    """Return the recorded flight of a folder.

    Raises:
        LogError: if there is no log, it is empty, or its scenario is missing or different.
        ScenarioError: if the scenario file cannot be read.
    """
    log = Log.read(folder)
    file = folder / SCENARIO_FILE
    if not file.is_file():
        message = (
            f"'{folder}' contains no {SCENARIO_FILE}, the scenario of the flight. Restore the "
            "file that 'kittiwake run' wrote."
        )
        raise LogError(message)
    return LogPlayback(log, load_recorded(file))
