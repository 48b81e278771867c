"""Fly custom vehicles as members of a flock that a hub guides over sockets.

A hub is a separate process, ``kittiwake hub``; here it runs in a thread, in lockstep, faster than
real time. A member needs its port and its name: it reports its motion and receives a setpoint. The
members here are points that reach a velocity with a lag.
"""

import sys
from contextlib import ExitStack
from typing import Any

import kittiwake as kw
from kittiwake.adapters.hub.client import Member
from kittiwake.adapters.hub.flock_server import FlockServer
from kittiwake.adapters.hub.server import Hub, serving

TARGET_M, LAG_S = (5.0, 5.0, 5.0), 0.2


class Point:
    """Point that follows a velocity with a lag, and feeds the acceleration forward."""

    def __init__(self, port: int, name: str, position_m: tuple[float, float, float]) -> None:
        self.position_m = list(position_m)
        self.velocity_mps, self.acceleration_mps2 = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        self.member = Member(port=port, name=name, position_m=position_m)

    def move(self, set_point: Any, dt_s: float) -> None:
        """Advance by a step; without a setpoint the point slows to a stop."""
        target_mps = feedforward_mps2 = (0.0, 0.0, 0.0)
        if set_point is not None:
            target_mps, feedforward_mps2 = set_point.velocity_mps, set_point.acceleration_mps2
        for i in range(3):
            error_mps = target_mps[i] - self.velocity_mps[i]
            self.acceleration_mps2[i] = feedforward_mps2[i] + error_mps / LAG_S
            self.velocity_mps[i] += self.acceleration_mps2[i] * dt_s
            self.position_m[i] += self.velocity_mps[i] * dt_s


scenario = kw.Scenario.load(sys.argv[1] if len(sys.argv) > 1 else "flock-hub-8")
with serving(Hub(FlockServer(scenario), lockstep=True)) as ports, ExitStack() as leaving:
    points = [Point(p, n, (1.5 * i, 0.0, 2.0)) for i, (n, p) in enumerate(ports.items())]
    for point in points:
        leaving.callback(point.member.leave)
    hello = points[0].member.hello
    assert hello is not None  # a hub greets each member
    dt_s = 1.0 / hello.rate_hz
    for step in range(round(30.0 / dt_s)):
        for point in points:
            motion = point.position_m, point.velocity_mps
            point.member.report(step * dt_s, *motion, acceleration_mps2=point.acceleration_mps2)
        for point in points:  # in lockstep setpoints arrive after all members have reported
            point.move(point.member.set_point(), dt_s)

middle_m = [sum(point.position_m[i] for point in points) / len(points) for i in range(3)]
miss_m = sum((m - t) ** 2 for m, t in zip(middle_m, TARGET_M, strict=True)) ** 0.5
print(f"After 30 s the middle of {len(points)} points is {100 * miss_m:.1f} cm from the target.")
