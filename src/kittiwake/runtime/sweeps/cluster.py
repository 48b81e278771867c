"""Flights of a sweep as tasks of a Ray cluster.

A task gets the files of the sweep and numbers of runs, and returns rows. Ray sends them by a
serializer of its own, which runs code: join only clusters that are your own.
"""

import os
import re
import socket
import tempfile
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from kittiwake.analysis.flown_scenario import data_files
from kittiwake.analysis.log import SCENARIO_FILE
from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.core.extras import import_optional
from kittiwake.core.version import VERSION
from kittiwake.runtime.sweeps.plan import PLAN_FILE, SweepPlan
from kittiwake.runtime.sweeps.rows import Row, flown_rows
from kittiwake.runtime.sweeps.workers import ATTEMPTS, Chunk, Flights, chunks
from kittiwake.scenario.load import load_scenario

LOCAL = "local"
ADDRESS = re.compile(r"(ray://)?[^/\s]+:\d+")
# of the files that each node receives once, and of what a task returns
MAX_FILES_BYTES = 64 * 2**20
# tasks that wait for a processor, so that none idles
WAITING_PER_PROCESSOR = 2
# time to wait for a cluster
CONNECT_S = 10.0
# Ray sends reports of its use to its makers, and listens to all networks, unless these say other
NO_REPORTS = {"RAY_USAGE_STATS_ENABLED": "0"}
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

# module and objects of Ray, which are typed as anything
Ray: TypeAlias = Any


class SweepFiles(NamedTuple):
    """Files of a sweep as a task needs them.

    Attributes:
        version: version of Kittiwake that wrote them.
        content: bytes of each file by its name in the folder.
    """

    version: str
    content: dict[str, bytes]

    @classmethod
    def of(cls, flights: Flights) -> "SweepFiles":
        """Return the files of a sweep.

        Raises:
            ScenarioError: if they are too large, or the scenario needs Python code.
        """
        if flights.code:
            message = "ray: code of a scenario is not sent to a cluster; use --workers"
            raise ScenarioError(message)
        folder = flights.folder
        scenario = load_scenario(str(folder / SCENARIO_FILE))
        names = (PLAN_FILE, SCENARIO_FILE, *data_files(scenario))
        content = {name: (folder / name).read_bytes() for name in names}
        size = sum(map(len, content.values()))
        if size > MAX_FILES_BYTES:
            message = (
                f"ray: the scenario's files have {size / 2**20:.0f} MiB; at most "
                f"{MAX_FILES_BYTES // 2**20} are sent to a cluster"
            )
            raise ScenarioError(message)
        return cls(VERSION, content)

    def unpacked(self) -> Path:
        """Return a folder of this node with the files, written unless it is there."""
        digest = sha256()
        for name, content in sorted(self.content.items()):
            digest.update(name.encode() + b"\0" + sha256(content).digest())
        folder = Path(tempfile.gettempdir()) / f"kittiwake-sweep-{digest.hexdigest()[:32]}"
        if not folder.exists():
            unfinished = Path(tempfile.mkdtemp(prefix="kittiwake-sweep-"))
            for name, content in self.content.items():
                (unfinished / name).parent.mkdir(parents=True, exist_ok=True)
                (unfinished / name).write_bytes(content)
            try:
                unfinished.rename(folder)
            except OSError:
                # another task of the node was first
                if not folder.exists():
                    raise
        return folder


def fly_on_cluster(
    flights: Flights, missing: Sequence[int], address: str, workers: int | None
) -> Iterator[list[Row]]:
    """Yield the rows of runs as they are ready, flown by tasks of a Ray cluster.

    A task whose worker ends is begun again, ``ATTEMPTS`` times in all; then its runs are flown
    apart, and one that ends each of its workers has a row that says so.

    Args:
        flights: the flights.
        missing: numbers of the runs.
        address: address of a cluster, or ``local`` for one of this machine that ends afterwards.
        workers: number of processors; all of the cluster by default.

    Raises:
        ScenarioError: if the cluster cannot be joined, or has another version of Kittiwake.
        MissingExtraError: without Ray.
    """
    if address != LOCAL and not ADDRESS.fullmatch(address):
        message = (
            f"`ray`: got '{address}'; must be HOST:6379, the address of a cluster, or {LOCAL}, for "
            "one of this machine"
        )
        raise ScenarioError(message)
    files = SweepFiles.of(flights)
    with _joined(address, workers) as ray:
        processors = workers or int(ray.cluster_resources().get("CPU", 1))
        fly = ray.remote(_fly).options(num_cpus=1, max_retries=ATTEMPTS - 1)
        sent = ray.put(files)
        waiting = deque(chunks(missing, processors))
        flying: dict[Ray, Chunk] = {}
        while waiting or flying:
            while waiting and len(flying) < WAITING_PER_PROCESSOR * processors:
                part = waiting.popleft()
                flying[fly.remote(sent, part)] = part
            ready, _ = ray.wait([*flying], num_returns=1)
            part = flying.pop(ready[0])
            try:
                yield ray.get(ready[0])
            except ray.exceptions.RayTaskError as error:
                raise _refusal(error) from None
            except ray.exceptions.RayError as error:
                if len(part) == 1:
                    yield [flights.lost_row(part[0], error)]
                else:
                    waiting.extendleft((number,) for number in reversed(part))


def _fly(files: SweepFiles, part: Chunk) -> list[Row]:
    """Fly some runs, in a process of a cluster."""
    if files.version != VERSION:
        message = (
            f"ray: the cluster has Kittiwake {VERSION}, this machine "
            f"{files.version}; install the same version"
        )
        raise ScenarioError(message)
    folder = files.unpacked()
    return flown_rows(folder, SweepPlan.read(folder), part)


def _refusal(error: Exception) -> Exception:
    """Return the error that a task has raised."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, KittiwakeError) else error


@contextmanager
def _joined(address: str, workers: int | None) -> Generator[Ray]:
    """Join a cluster, or start one on this machine, and leave it at the end.

    Raises:
        ScenarioError: if there is no cluster at the address.
        MissingExtraError: without Ray.
    """
    with _environment(NO_REPORTS | (LOOPBACK if address == LOCAL else {})):
        yield from _connected(address, workers)


def _connected(address: str, workers: int | None) -> Generator[Ray]:
    ray: Ray = import_optional("ray", "cluster")
    if ray.is_initialized():
        # by the caller, who also ends it
        yield ray
        return
    _require_reachable(address)
    options = {"num_cpus": workers, "include_dashboard": False} if address == LOCAL else {}
    try:
        with warnings.catch_warnings():
            # of JAX, for processes that begin another program at once
            warnings.filterwarnings("ignore", "os.fork", RuntimeWarning)
            ray.init(address=address, log_to_driver=False, configure_logging=False, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        message = f"ray: cannot join '{address}': {error}"
        raise ScenarioError(message) from None
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def _environment(settings: Mapping[str, str]) -> Generator[None]:
    """Set variables that the user has not set, and remove them at the end."""
    own = {name: value for name, value in settings.items() if name not in os.environ}
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name, None)


def _require_reachable(address: str) -> None:
    """Refuse an address where nothing listens, for which Ray would wait minutes.

    Raises:
        ScenarioError: if no connection is made.
    """
    if address == LOCAL:
        return
    host, _, port = address.rpartition("://")[2].rpartition(":")
    try:
        socket.create_connection((host, int(port)), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        message = f"ray: cannot join '{address}': {error}"
        raise ScenarioError(message) from None
