"""A run as a bag: what ``kittiwake serve`` would have told ROS of it, as often as it was logged.

Both kinds of bag hold all vehicles' topics, each in its namespace, ``/tf``, ``/clock``, and what
tells once what does not change: ``/tf_static`` and ``/obstacles``. Times are simulated ones from
zero; ROS 1 takes zero itself for no time, and its tools refuse a bag with it, so that the first
row lies at a nanosecond (``plain.stamp_ns``).
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from kittiwake.adapters.ros.messages.encoding import EXTRA, Encoding, full_kind
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
from kittiwake.adapters.ros.messages.topic import Rhythm
from kittiwake.analysis.log import Log
from kittiwake.analysis.output_file import output_file, writing
from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.core.extras import optional
from kittiwake.scenario.scenario import Scenario

Storage = Literal["sqlite3", "mcap"]
# the newest that rosbag2 of Humble, which still is in use, and Jazzy both read
ROSBAG2_VERSION = 8
# what is made of so much of a flight is sorted by time, and written
WINDOW_S = 1.0
# SQLite keeps a journal beside a bag that is not complete
ROSBAG2_FILES = ("metadata.yaml", "*.db3", "*.db3-*", "*.mcap")

Show = Callable[[int, int], None]
Tell = Callable[[PlainMessage, int], None]


class BagMessage(NamedTuple):
    """A message of a bag."""

    ns: int
    topic: str
    message: PlainMessage


def write_rosbag1(log: Log, scenario: Scenario, path: Path, show: Show = lambda *_: None) -> None:
    """Write a bag of ROS 1 into a file; one that is there is replaced.

    Args:
        log: of the run.
        scenario: that was flown.
        path: of the file.
        show: is told how many seconds are written of how many.

    Raises:
        MissingExtraError: without the library rosbags.
        LogError: if the log is not one of this scenario, or the file cannot be written.
    """
    writer = optional("rosbags.rosbag1", EXTRA).Writer
    vehicles = _vehicles(log, scenario)
    with output_file(path) as unfinished:
        unfinished.unlink(missing_ok=True)
        with writer(unfinished) as bag:
            _write(vehicles, scenario, _Bag(bag, Encoding(1)), show)


def write_rosbag2(
    log: Log,
    scenario: Scenario,
    path: Path,
    storage: Storage = "sqlite3",
    show: Show = lambda *_: None,
) -> None:
    """Write a bag of ROS 2 into a folder; a bag that is there is replaced.

    Args:
        log: of the run.
        scenario: that was flown.
        path: of the folder.
        storage: as what the messages lie in it.
        show: is told how many seconds are written of how many.

    Raises:
        MissingExtraError: without the library rosbags.
        LogError: if the log is not one of this scenario, or the folder cannot be written.
    """
    library = optional("rosbags.rosbag2", EXTRA)
    plugin = library.StoragePlugin[storage.upper()]
    vehicles = _vehicles(log, scenario)
    with writing(path):
        _remove_rosbag2(path)
        try:
            with library.Writer(path, version=ROSBAG2_VERSION, storage_plugin=plugin) as bag:
                _write(vehicles, scenario, _Bag(bag, Encoding(2)), show)
        except BaseException as error:
            with suppress(OSError, LogError):
                _remove_rosbag2(path)
            if isinstance(error, sqlite3.Error):  # such as of a full disk
                raise OSError(str(error)) from error
            raise


class _Bag:
    """A writer of the library, and the topics that it has."""

    def __init__(self, writer: Any, encoding: Encoding) -> None:
        self._writer, self._encoding = writer, encoding
        self._ros1 = hasattr(writer, "chunks")

    def topic(self, topic: str, kind: str, *, latched: bool = False) -> Tell:
        """What writes messages on a topic; latched ones are for those who come later, too."""
        how: dict[str, Any] = {"typestore": self._encoding.store}
        if latched and self._ros1:
            how["latching"] = 1
        elif latched:
            how["offered_qos_profiles"] = [_kept_for_all()]
        connection = self._writer.add_connection(topic, full_kind(kind), **how)
        encode, write = self._encoding.encoder(kind), self._writer.write

        def tell(message: PlainMessage, ns: int) -> None:
            write(connection, ns, encode(message))

        return tell


def _vehicles(log: Log, scenario: Scenario) -> "list[_Vehicle]":
    """All of a log; refuses one that was not logged in this scenario."""
    found: list[_Vehicle] = []
    for name, legal in legal_names(log.names).items():
        if name not in scenario.vehicles:
            known = did_you_mean(name, list(scenario.vehicles))
            message = f"the scenario of this log has no vehicle '{name}'. {known}"
            raise LogError(message)
        try:
            found.append(_Vehicle(log, scenario, name, legal))
        except KeyError as error:
            message = (
                f"the log of '{name}' has no column {error}, which its scenario would give it. Put "
                "back the scenario.yaml that 'kittiwake run' wrote"
            )
            raise LogError(message) from None
    return found


def _write(vehicles: "list[_Vehicle]", scenario: Scenario, bag: _Bag, show: Show) -> None:
    """All of a run, second by second."""
    tellers = {"/clock": bag.topic("/clock", CLOCK), "/tf": bag.topic("/tf", TRANSFORMS)}
    for vehicle in vehicles:
        for topic, kind in vehicle.topics.items():
            tellers[topic] = bag.topic(topic, kind)
    frames = [frame for vehicle in vehicles for frame in vehicle.static]
    tell_static = bag.topic("/tf_static", TRANSFORMS, latched=True)
    tell_static({"transforms": frames}, FIRST_NS)
    tell_obstacles = bag.topic("/obstacles", OBSTACLES, latched=True)
    tell_obstacles(obstacles(scenario.world, scenario.ros), FIRST_NS)
    end_s = max((vehicle.end_s for vehicle in vehicles), default=0.0)
    windows = 1 + int(end_s / WINDOW_S)
    for number in range(windows):
        told = [one for vehicle in vehicles for one in vehicle.messages(number * WINDOW_S)]
        clocks = [BagMessage(ns, "/clock", {"clock": ns}) for ns in {one.ns for one in told}]
        for ns, topic, message in sorted([*clocks, *told], key=lambda one: one.ns):
            tellers[topic](message, ns)
        show(number + 1, windows)


class _Vehicle:
    """A vehicle of a log, and what it tells."""

    def __init__(self, log: Log, scenario: Scenario, name: str, legal: str) -> None:
        vehicle, columns = scenario.vehicles[name], log.columns(name)
        self._namespace = f"/{legal}"
        self._rows = log.values(name)
        self._telemetry = Telemetry(
            *(legal, vehicle, columns, scenario.world, scenario.ros, scenario.rate_hz)
        )
        self._frames = Rhythm(float(scenario.ros.odometry_hz))
        self.static = static_transforms(legal, vehicle, scenario.ros, columns, scenario.rate_hz)

    @property
    def topics(self) -> dict[str, str]:
        """The kinds of its topics."""
        told = self._telemetry.topics
        return {f"{self._namespace}/{topic}": kind for topic, kind in told.items()}

    @property
    def end_s(self) -> float:
        """When it was logged last."""
        return float(self._rows[-1, 0]) if len(self._rows) else 0.0

    def messages(self, begin_s: float) -> Iterator[BagMessage]:
        """Everything in a window of time."""
        edges = np.searchsorted(self._rows[:, 0], [begin_s, begin_s + WINDOW_S])
        rows = self._rows[slice(*edges)]
        for row in rows:
            if self._frames.due(float(row[0])):
                frames = {"transforms": self._telemetry.transforms(row)}
                yield BagMessage(stamp_ns(float(row[0])), "/tf", frames)
        for topic, message in self._telemetry.messages(rows):
            yield BagMessage(message["header"]["stamp"], f"{self._namespace}/{topic}", message)


def _kept_for_all() -> Any:
    """That a message waits for those who come later, as ROS 2 says it."""
    named = optional("rosbags.interfaces", EXTRA)
    no_limit = named.QosTime(0, 0)
    return named.Qos(
        history=named.QosHistory.KEEP_LAST,
        depth=1,
        reliability=named.QosReliability.RELIABLE,
        durability=named.QosDurability.TRANSIENT_LOCAL,
        deadline=no_limit,
        lifespan=no_limit,
        liveliness=named.QosLiveliness.AUTOMATIC,
        liveliness_lease_duration=no_limit,
        avoid_ros_namespace_conventions=False,
    )


def _remove_rosbag2(path: Path) -> None:
    """Takes away a bag that is there, and nothing else."""
    if not path.exists():
        return
    if path.is_dir():
        there = [file for pattern in ROSBAG2_FILES for file in path.glob(pattern)]
        if len(there) == len(list(path.iterdir())):
            for file in there:
                file.unlink()
            path.rmdir()
            return
    message = f"'{path}' is there already and is no bag of ROS 2; name another with -o"
    raise LogError(message)
