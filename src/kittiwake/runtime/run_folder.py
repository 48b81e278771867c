"""A flight into a folder: the resolved scenario, the log, the summary and the picture.

A folder holds one run. What a former one left in it, its pictures and exports with their own names
as well, is removed as the flight begins, so that nothing in the folder tells of another flight.
"""

import copy
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import yaml

from kittiwake.analysis.log import LOG_FILE, SCENARIO_FILE, SUMMARY_FILE, Log
from kittiwake.core.errors import LogError
from kittiwake.runtime.interrupt import stop_requests
from kittiwake.runtime.loop import Flight
from kittiwake.runtime.recorder import Recorder
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.document import dump_document
from kittiwake.scenario.schema import NAME_PATTERN

PICTURE_FILE = "overview.png"
FILM_MP4, FILM_GIF, STILL_FILE = "film.mp4", "film.gif", "still.png"
ROSBAG1_FILE, ROSBAG2_FOLDER = "log.bag", "rosbag2"
# what run, plot and export write; a file of each vehicle and field comes on top
PRODUCTS = (
    LOG_FILE,
    SUMMARY_FILE,
    PICTURE_FILE,
    "flock-*.png",
    "sensors-*.png",
    "survey-*.png",
    FILM_MP4,
    FILM_GIF,
    STILL_FILE,
    "log.parquet",
    "export.mcap",
    "samples.geojson",
    ROSBAG1_FILE,
    f"{ROSBAG2_FOLDER}/metadata.yaml",
    f"{ROSBAG2_FOLDER}/{ROSBAG2_FOLDER}.*",
)


def prepare_folder(folder: Path) -> None:
    """Makes the folder, before a long flight finds out that it cannot.

    Raises:
        LogError: if it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        message = f"cannot write to '{folder}': {error.strerror or error}. Name another with --out."
        raise LogError(message) from None


def holds_run(folder: Path) -> bool:
    """Whether a run has been flown into the folder."""
    return (folder / LOG_FILE).is_file()


def fly_into(
    simulation: Simulation,
    flight: Flight,
    folder: Path,
    progress: Callable[[float], None] = lambda _: None,
    ended: Callable[[], bool] = lambda: False,
) -> Log:
    """Flies and leaves scenario, log and summary in the folder; Ctrl-C ends it early and in order.

    So does what is ``ended`` from elsewhere. The log's blocks reach the disk as they are flown, so
    a killed run keeps all but its last one.
    """
    if holds_run(folder):
        _remove_products(folder, simulation.scenario.tables.values())
    _write_scenario(simulation, flight, folder)
    with (
        # before the requests: nothing looks at those until a block has been flown
        Recorder(folder / LOG_FILE, flight.layout.columns, flight.layout.quantities) as recorder,
        stop_requests() as stopped,
    ):
        outcome = flight.fly(recorder, progress, lambda: stopped() or ended())
    log = Log.read(folder)
    summary = simulation.summary(log, flight, outcome)
    (folder / SUMMARY_FILE).write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    return Log.read(folder)


def _remove_products(folder: Path, kept: Collection[Path]) -> None:
    """Removes what a former run left, but not what this one reads."""
    reads = {path.resolve() for path in kept}
    for pattern in (*PRODUCTS, *_named_products(folder / SCENARIO_FILE)):
        for path in folder.glob(pattern):
            if path.is_file() and path.resolve() not in reads:
                path.unlink()


def _named_products(scenario: Path) -> Iterator[str]:
    """The exports that are named after the vehicles and fields of a scenario."""
    try:
        data = yaml.safe_load(scenario.read_text(encoding="utf-8"))
        vehicles, fields = data["vehicles"], data.get("world", {}).get("fields", {})
        # its names may have been changed by hand, to patterns or to what leads out of the folder
        named = [name for name in vehicles if re.fullmatch(NAME_PATTERN, name)]
        files = {
            *(f"{name}.csv" for name in named),
            *(f"{name}-[0-9]*.csv" for name in named),
            *(f"{name}.tif" for name in fields if re.fullmatch(NAME_PATTERN, name)),
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError):
        return
    yield from sorted(files)


def _write_scenario(simulation: Simulation, flight: Flight, folder: Path) -> None:
    """The scenario as it is flown, with the recorded files that it reads beside it."""
    data: dict[str, Any] = copy.deepcopy(simulation.scenario.document.data)
    data["seed"] = flight.seed
    data["time"] = {
        "rate_hz": simulation.scenario.rate_hz,
        **data.get("time", {}),
        "duration_s": flight.duration_s,
    }
    for path, file in simulation.scenario.tables.items():
        target = folder / "-".join([*map(str, path[1:-1]), file.name])
        if not target.exists() or not target.samefile(file):
            shutil.copyfile(file, target)
        entry: Any = data
        for key in path[:-1]:
            entry = entry[key]
        entry[path[-1]] = target.name
    for path, values in simulation.scenario.written_out.items():
        entry = data
        for key in path[:-1]:
            entry = entry[key]
        del entry[path[-1]]
        entry |= values
    (folder / SCENARIO_FILE).write_text(dump_document(data), encoding="utf-8")
