"""Flights that the start page offers: library scenarios, runs, recent files and an uploaded one.

A request names a scenario of the library, a folder directly in ``runs/``, or a recent file by its
key; it cannot name any other path. An uploaded scenario is alone in its folder, which it cannot
leave.
"""

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from kittiwake.analysis.log import SUMMARY_FILE
from kittiwake.analysis.output_file import LOG_FILE
from kittiwake.analysis.run_folder import RUNS
from kittiwake.analysis.run_outcome import outcome_text
from kittiwake.scenario import library

# runs and files on the page; files are one row, so that the library is seen below them
MAX_RUNS, MAX_RECENT = 60, 5
# larger summaries are not read for the page
MAX_SUMMARY_BYTES = 2**20
RECENT_FILE = "recent-scenarios.json"


class ScenarioChoice(NamedTuple):
    """Scenario to fly: a library name or a file's path."""

    scenario: str

    @property
    def title(self) -> str:
        """Name on the page."""
        return Path(self.scenario).stem


class RunChoice(NamedTuple):
    """Run to replay."""

    folder: Path

    @property
    def title(self) -> str:
        """Name on the page."""
        return self.folder.name


Choice = ScenarioChoice | RunChoice


class RecordedRun(NamedTuple):
    """Run in ``runs/``, with the scenario and outcome of its summary; empty if unknown."""

    name: str
    scenario: str
    outcome: str


def recorded_runs() -> list[RecordedRun]:
    """Return the runs in ``runs/``, newest first."""
    found: list[tuple[float, Path]] = []
    with suppress(OSError):
        for folder in RUNS.iterdir():
            with suppress(OSError):
                found.append(((folder / LOG_FILE).stat().st_mtime, folder))
    newest = sorted(found, reverse=True)[:MAX_RUNS]
    return [_recorded_run(folder) for _, folder in newest]


def _recorded_run(folder: Path) -> RecordedRun:
    summary: Any = None
    with suppress(OSError, ValueError, RecursionError):
        file = folder / SUMMARY_FILE
        if file.stat().st_size <= MAX_SUMMARY_BYTES:
            summary = json.loads(file.read_text("utf-8"))
    if not isinstance(summary, dict):
        return RecordedRun(folder.name, "", "no summary")
    return RecordedRun(folder.name, str(summary.get("scenario", "")), outcome_text(summary))


def chosen_scenario(name: str) -> ScenarioChoice | None:
    """Return a library scenario; None if there is none of this name."""
    return ScenarioChoice(name) if name in library.names() else None


def chosen_run(name: str) -> RunChoice | None:
    """Return a run in ``runs/``; None if there is none of this name."""
    return next((RunChoice(RUNS / one.name) for one in recorded_runs() if one.name == name), None)


def chosen_recent(key: str) -> ScenarioChoice | None:
    """Return a recent file by its key; None if there is none."""
    path = recent_files().get(key)
    return None if path is None else ScenarioChoice(str(path))


def recent_files() -> dict[str, Path]:
    """Return the scenario files that were flown last and still exist, by their keys."""
    paths = [Path(text) for text in _recent_paths()]
    return {_key(path): path for path in paths if path.is_file()}


def remember_file(scenario: str) -> None:
    """Note a scenario as the one that was flown last, unless it is of the library."""
    if not Path(scenario).is_file():
        return
    text = str(Path(scenario).absolute())
    paths = [text, *(other for other in _recent_paths() if other != text)]
    with suppress(OSError):
        _recent_file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _recent_file().write_text(json.dumps(paths[:MAX_RECENT]), "utf-8")


def _recent_file() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "kittiwake" / RECENT_FILE


def _recent_paths() -> list[str]:
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(_recent_file().read_text("utf-8"))
        if isinstance(found, list):
            return [path for path in found if isinstance(path, str)][:MAX_RECENT]
    return []


def _key(path: Path) -> str:
    return sha256(os.fsencode(path)).hexdigest()[:16]
