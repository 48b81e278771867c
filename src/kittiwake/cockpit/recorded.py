"""Loading of recorded flights for playback."""

import shutil
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


def playback_of(log: Log, folder: Path) -> LogPlayback:
    """Return the playback of a log that may be in memory alone.

    Args:
        log: the log.
        folder: an empty folder for the files of its scenario, which lasts as long as the playback.

    Raises:
        LogError: if the log is empty, or its scenario is unknown or different.
        ScenarioError: if the scenario cannot be read.
    """
    if log.portable is None:
        message = (
            "this log has no scenario, without which it cannot be shown. Take the log of a run, or "
            "that of a folder by Log.read."
        )
        raise LogError(message)
    file = folder / SCENARIO_FILE
    file.write_text(log.portable.text, encoding="utf-8")
    for name, source in log.portable.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
    return LogPlayback(log, load_recorded(file))
