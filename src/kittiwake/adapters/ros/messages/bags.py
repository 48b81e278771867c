"""Bags of a run: the messages that ``kittiwake serve`` publishes, at the rate of the log.

Bags of ROS 1 and ROS 2 hold the topics of all vehicles, each in its namespace, ``/tf``, ``/clock``,
and the latched topics ``/tf_static`` and ``/obstacles``. Times are simulation times from zero. The
tools of ROS 1 reject a bag with a time of zero, so the first row is at 1 ns (``plain.stamp_ns``).
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from kittiwake.adapters.ros.message_types import LibraryObject
from kittiwake.adapters.ros.messages.encoding import EXTRA, Encoding, full_type_name
from kittiwake.adapters.ros.messages.plain import (
    CLOCK,
    FIRST_NS,
    TRANSFORMS,
    PlainMessage,
    legal_names,
    stamp_ns,
)
from kittiwake.adapters.ros.messages.scene import OBSTACLES, obstacles
from kittiwake.adapters.ros.messages.telemetry import Telemetry, static_transforms
from kittiwake.adapters.ros.messages.topic import RateLimiter
from kittiwake.analysis.log import Log
from kittiwake.analysis.output_file import output_file, writing
from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.core.extras import import_optional
from kittiwake.scenario.scenario import Scenario

Storage = Literal["sqlite3", "mcap"]
# the newest version that rosbag2 of both Humble and Jazzy can read
ROSBAG2_VERSION = 8
# messages are sorted and written in windows of this length
WINDOW_S = 1.0
# SQLite keeps a journal beside an incomplete bag
ROSBAG2_FILES = ("metadata.yaml", "*.db3", "*.db3-*", "*.mcap")

Progress = Callable[[int, int], None]
WriteMessage = Callable[[PlainMessage, int], None]


class BagMessage(NamedTuple):
    """Message of a bag, with its time and topic."""

    ns: int
    topic: str
    message: PlainMessage


def write_rosbag1(
    log: Log, scenario: Scenario, path: Path, progress: Progress = lambda *_: None
) -> None:
    """Write a bag of ROS 1 to a file; an existing file is replaced.

    Args:
        log: of the run.
        scenario: of the run.
        path: of the file.
        progress: called with the number of written and of all windows of one second.

    Raises:
        MissingExtraError: if the library rosbags is not installed.
        LogError: if the log does not belong to the scenario, or the file cannot be written.
    """
    writer = import_optional("rosbags.rosbag1", EXTRA).Writer
    vehicles = _vehicles(log, scenario)
    with output_file(path) as unfinished:
        unfinished.unlink(missing_ok=True)
        with writer(unfinished) as bag:
            _write(vehicles, scenario, _BagWriter(bag, Encoding(1)), progress)


def write_rosbag2(
    log: Log,
    scenario: Scenario,
    path: Path,
    storage: Storage = "sqlite3",
    progress: Progress = lambda *_: None,
) -> None:
    """Write a bag of ROS 2 to a folder; an existing bag is replaced.

    Args:
        log: of the run.
        scenario: of the run.
        path: of the folder.
        storage: storage plugin of rosbag2.
        progress: called with the number of written and of all windows of one second.

    Raises:
        MissingExtraError: if the library rosbags is not installed.
        LogError: if the log does not belong to the scenario, or the folder cannot be written.
    """
    library = import_optional("rosbags.rosbag2", EXTRA)
    plugin = library.StoragePlugin[storage.upper()]
    vehicles = _vehicles(log, scenario)
    with writing(path):
        _remove_rosbag2(path)
        try:
            with library.Writer(path, version=ROSBAG2_VERSION, storage_plugin=plugin) as bag:
                _write(vehicles, scenario, _BagWriter(bag, Encoding(2)), progress)
        except BaseException as error:
            with suppress(OSError, LogError):
                _remove_rosbag2(path)
            if isinstance(error, sqlite3.Error):  # for example a full disk
                raise OSError(str(error)) from error
            raise


class _BagWriter:
    """Writer of the library rosbags, with its message encoding."""

    def __init__(self, writer: LibraryObject, encoding: Encoding) -> None:
        self._writer, self._encoding = writer, encoding
        self._ros1 = hasattr(writer, "chunks")

    def add_topic(self, topic: str, type_name: str, *, latched: bool = False) -> WriteMessage:
        """Return a function that writes messages on a topic."""
        options: PlainMessage = {"typestore": self._encoding.store}
        if latched and self._ros1:
            options["latching"] = 1
        elif latched:
            options["offered_qos_profiles"] = [_transient_local_qos()]
        connection = self._writer.add_connection(topic, full_type_name(type_name), **options)
        encode, write = self._encoding.encoder(type_name), self._writer.write

        def write_message(message: PlainMessage, ns: int) -> None:
            write(connection, ns, encode(message))

        return write_message


def _vehicles(log: Log, scenario: Scenario) -> "list[_LoggedVehicle]":
    """Return all vehicles of a log; raises ``LogError`` for a log of another scenario."""
    found: list[_LoggedVehicle] = []
    for name, legal in legal_names(log.names).items():
        if name not in scenario.vehicles:
            known = did_you_mean(name, list(scenario.vehicles))
            message = f"the scenario of this log has no vehicle '{name}'. {known}"
            raise LogError(message)
        try:
            found.append(_LoggedVehicle(log, scenario, name, legal))
        except KeyError as error:
            message = (
                f"the log of '{name}' has no column {error}, which its scenario requires. Restore "
                "the scenario.yaml that 'kittiwake run' wrote"
            )
            raise LogError(message) from None
    return found


def _write(
    vehicles: "list[_LoggedVehicle]", scenario: Scenario, bag: _BagWriter, progress: Progress
) -> None:
    """Write all messages of a run, window by window."""
    writers = {"/clock": bag.add_topic("/clock", CLOCK), "/tf": bag.add_topic("/tf", TRANSFORMS)}
    for vehicle in vehicles:
        for topic, type_name in vehicle.topics.items():
            writers[topic] = bag.add_topic(topic, type_name)
    frames = [frame for vehicle in vehicles for frame in vehicle.static]
    write_static = bag.add_topic("/tf_static", TRANSFORMS, latched=True)
    write_static({"transforms": frames}, FIRST_NS)
    write_obstacles = bag.add_topic("/obstacles", OBSTACLES, latched=True)
    write_obstacles(obstacles(scenario.world, scenario.ros), FIRST_NS)
    end_s = max((vehicle.end_s for vehicle in vehicles), default=0.0)
    windows = 1 + int(end_s / WINDOW_S)
    for number in range(windows):
        messages = [one for vehicle in vehicles for one in vehicle.messages(number * WINDOW_S)]
        clocks = [BagMessage(ns, "/clock", {"clock": ns}) for ns in {one.ns for one in messages}]
        for ns, topic, message in sorted([*clocks, *messages], key=lambda one: one.ns):
            writers[topic](message, ns)
        progress(number + 1, windows)


class _LoggedVehicle:
    """Vehicle of a log, with its messages."""

    def __init__(self, log: Log, scenario: Scenario, name: str, legal: str) -> None:
        vehicle, columns = scenario.vehicles[name], log.columns(name)
        self._namespace = f"/{legal}"
        self._rows = log.values(name)
        self._telemetry = Telemetry(
            name=legal,
            vehicle=vehicle,
            columns=columns,
            world=scenario.world,
            settings=scenario.ros,
            rate_hz=scenario.rate_hz,
        )
        self._transform_limiter = RateLimiter(float(scenario.ros.odometry_hz))
        self.static = static_transforms(legal, vehicle, scenario.ros, columns, scenario.rate_hz)

    @property
    def topics(self) -> dict[str, str]:
        """Message type of each topic."""
        topics = self._telemetry.topics
        return {f"{self._namespace}/{topic}": type_name for topic, type_name in topics.items()}

    @property
    def end_s(self) -> float:
        """Time of the last row."""
        return float(self._rows[-1, 0]) if len(self._rows) else 0.0

    def messages(self, begin_s: float) -> Iterator[BagMessage]:
        """Yield the messages of a window of time."""
        edges = np.searchsorted(self._rows[:, 0], [begin_s, begin_s + WINDOW_S])
        rows = self._rows[slice(*edges)]
        for row in rows:
            if self._transform_limiter.due(float(row[0])):
                frames = {"transforms": self._telemetry.transforms(row)}
                yield BagMessage(stamp_ns(float(row[0])), "/tf", frames)
        for topic, message in self._telemetry.messages(rows):
            yield BagMessage(message["header"]["stamp"], f"{self._namespace}/{topic}", message)


def _transient_local_qos() -> LibraryObject:
    """Return the QoS profile of a latched topic in ROS 2."""
    interfaces = import_optional("rosbags.interfaces", EXTRA)
    unlimited = interfaces.QosTime(0, 0)
    return interfaces.Qos(
        history=interfaces.QosHistory.KEEP_LAST,
        depth=1,
        reliability=interfaces.QosReliability.RELIABLE,
        durability=interfaces.QosDurability.TRANSIENT_LOCAL,
        deadline=unlimited,
        lifespan=unlimited,
        liveliness=interfaces.QosLiveliness.AUTOMATIC,
        liveliness_lease_duration=unlimited,
        avoid_ros_namespace_conventions=False,
    )


def _remove_rosbag2(path: Path) -> None:
    """Remove an existing bag; raises ``LogError`` if the path is anything else."""
    if not path.exists():
        return
    if path.is_dir():
        bag_files = [file for pattern in ROSBAG2_FILES for file in path.glob(pattern)]
        if len(bag_files) == len(list(path.iterdir())):
            for file in bag_files:
                file.unlink()
            path.rmdir()
            return
    message = f"'{path}' already exists and is not a bag of ROS 2; choose another path with -o"
    raise LogError(message)
