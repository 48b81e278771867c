"""Latency and losses of a hub under load.

Starts ``kittiwake hub`` as a separate process, connects members from this one over loopback, and
lets each send updates at a steady rate, evenly staggered. Prints percentiles of the time from an
update to its answer, the number of updates without an answer within a second, and the load of the
machine. A member whose answer is late sends its next update when it has it.

Run: ``python benchmarks/hub.py --seconds 300``.
"""

import argparse
import json
import os
import random
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.packets import SetPoint
from kittiwake.core.errors import HubError

LOST_S = 1.0
LONGEST_START_S = 120.0
SCENARIO = """
name: many
time: {{rate_hz: 100, duration_s: 1}}
vehicles:
  drone:
    model: crazyflie
    count: {count}
    spacing_m: [1.5, 0.3, 0.2]
    start: {{position_world_m: [0, 0, 2]}}
    controller: [velocity, acceleration, attitude, mixer]
    guidance:
      type: flock
      behaviors: [separation, alignment, cohesion, {{type: targeting, target_world_m: [5, 5, 5]}}]
"""


@dataclass
class FlyingMember:
    """A member, which moves as commanded, with its waiting times."""

    member: Member
    position_m: list[float]
    due_s: float = 0.0
    sent_s: float | None = None
    velocity_mps: tuple[float, float, float] = (0.0, 0.0, 0.0)
    waits_s: list[float] = field(default_factory=list)
    lost: int = 0
    idle: int = 0

    def send(self, now_s: float, period_s: float) -> None:
        """Move by a period and send the next update."""
        for axis, speed_mps in enumerate(self.velocity_mps):
            self.position_m[axis] += speed_mps * period_s
        self.sent_s = now_s
        self.due_s = max(self.due_s + period_s, now_s)
        self.member.report(now_s, self.position_m, self.velocity_mps)

    def take(self, answer: SetPoint | None) -> None:
        """Note an answer of the hub."""
        assert self.sent_s is not None
        self.waits_s.append(time.perf_counter() - self.sent_s)
        self.sent_s = None
        if answer is None:
            self.idle += 1
        else:
            self.velocity_mps = answer.velocity_mps


def free_ports(count: int) -> int:
    """Return the first of ``count`` consecutive free ports."""
    for base in random.sample(range(20_000, 32_000 - count), 200):
        with ExitStack() as stack:
            try:
                for port in range(base, base + count):
                    one = stack.enter_context(socket.socket())
                    one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return base
    message = f"there are no {count} free ports in a row"
    raise RuntimeError(message)


def start_hub(count: int, base_port: int, folder: str) -> "subprocess.Popen[str]":
    """Start the hub in a process of its own."""
    scenario = Path(folder) / "many.yaml"
    scenario.write_text(SCENARIO.format(count=count), encoding="utf-8")
    command = "from kittiwake.cli import main; main()"
    options = ["hub", str(scenario), "--base-port", str(base_port), "--json"]
    return subprocess.Popen(
        [sys.executable, "-c", command, *options], stdout=subprocess.PIPE, text=True
    )


def connect(base_port: int, number: int, count: int) -> FlyingMember:
    """Connect a member, as soon as the hub is ready."""
    place = [1.5 * number, 0.3 * number, 2.0 + 0.2 * number]
    name = f"drone-{number + 1:0{len(str(count))}}"
    end_s = time.monotonic() + LONGEST_START_S
    while True:
        try:
            return FlyingMember(Member(port=base_port + number, name=name, position_m=place), place)
        except HubError as error:
            if error.reason is not None or time.monotonic() > end_s:
                raise
            time.sleep(0.2)


def fly(members: list[FlyingMember], seconds: float, rate_hz: float) -> None:
    """Send and receive for some seconds."""
    period_s = 1.0 / rate_hz
    with selectors.DefaultSelector() as selector:
        begin_s = time.perf_counter()
        for number, flown in enumerate(members):
            flown.due_s = begin_s + period_s * number / len(members)
            selector.register(flown.member, selectors.EVENT_READ, flown)
        while (now_s := time.perf_counter()) < begin_s + seconds:
            for flown in members:
                if flown.sent_s is not None and now_s - flown.sent_s > LOST_S:
                    flown.lost, flown.sent_s = flown.lost + 1, None
                if flown.sent_s is None and flown.due_s <= now_s:
                    flown.send(time.perf_counter(), period_s)
            receive(selector, min(flown.due_s for flown in members) - time.perf_counter())
        end_s = time.perf_counter() + LOST_S
        while any(f.sent_s is not None for f in members) and time.perf_counter() < end_s:
            receive(selector, 0.01)
    for flown in members:
        flown.lost += flown.sent_s is not None


def receive(selector: selectors.BaseSelector, wait_s: float) -> None:
    """Receive the answers that arrive within a time."""
    for key, _ in selector.select(max(0.0, wait_s)):
        flown = key.data
        answer = flown.member.set_point(wait_s=0.0)
        if flown.sent_s is not None:
            flown.take(answer)


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description="Round trips of the members of a hub.")
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    base_port = free_ports(given.members)
    with tempfile.TemporaryDirectory() as folder:
        process = start_hub(given.members, base_port, folder)
        try:
            members = [connect(base_port, i, given.members) for i in range(given.members)]
            fly(members, 5.0, given.rate)  # until the hub has compiled
            members = [FlyingMember(f.member, f.position_m) for f in members]
            fly(members, given.seconds, given.rate)
            load = os.getloadavg()
            for flown in members:
                flown.member.leave()
        finally:
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
    show(given, members, json.loads(out), load)


def show(
    given: argparse.Namespace,
    members: list[FlyingMember],
    counters: dict[str, object],
    load: tuple[float, ...],
) -> None:
    """Print the figures."""
    waits_ms = sorted(1e3 * wait for flown in members for wait in flown.waits_s)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {
        "members": given.members,
        "updates": len(waits_ms),
        "asked_updates": round(given.members * given.rate * given.seconds),
        "lost": sum(flown.lost for flown in members),
        "idle": sum(flown.idle for flown in members),
        **{
            f"p{part:g}_ms": waits_ms[min(len(waits_ms) - 1, int(len(waits_ms) * part / 100))]
            for part in (50, 95, 99, 99.9)
        },
        "most_ms": waits_ms[-1],
        "hub_cpu_s": used.ru_utime + used.ru_stime,
        "hub_memory_mb": used.ru_maxrss / 1024,
        "load": load[0],
        "counters": counters,
    }
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:14s} {value:.2f}" if isinstance(value, float) else f"{name:14s} {value}")


if __name__ == "__main__":
    main()
