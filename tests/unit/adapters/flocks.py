"""A small flock for hubs, and point vehicles that follow velocities."""

import numpy as np

TARGET = (5.0, 5.0, 5.0)
SCENARIO = """
name: hub-of-tests
time: {{rate_hz: 100, duration_s: 30}}
vehicles:
  drone:
    model: crazyflie
    count: {count}
    spacing_m: [1.5, 0.3, 0.2]
    start: {{position_world_m: [0, 0, 2]}}
    controller: [velocity, acceleration, attitude, mixer]
    guidance:
      type: flock
      behaviors:
        - {{type: separation, distance_m: 3}}
        - alignment
        - cohesion
        - {{type: targeting, target_world_m: [5, 5, 5]}}
"""
MISSION = """
name: mission-of-tests
time: {{rate_hz: 100, duration_s: 30}}
{world}
vehicles:
  drone:
    model: crazyflie
    count: 2
    spacing_m: [0, 9, 0]
    start: {{position_world_m: [0, 0, 5]}}
    controller: [velocity, acceleration, attitude, mixer]
    guidance:
      type: mission
      steps:
        - do:
            type: flock
            behaviors: [separation, {{type: targeting, target_world_m: [50, 0, 5]}}]
          for_s: 2
        - do:
            type: flock
            behaviors: [separation, {{type: targeting, target_world_m: [-50, 0, 5]}}]
"""


def write_scenario(folder, count=8, more=""):
    path = folder / "flock.yaml"
    path.write_text(SCENARIO.format(count=count) + more, encoding="utf-8")
    return str(path)


def write_mission(folder, world=""):
    """Write a scenario of two vehicles that fly east for two seconds, then west."""
    path = folder / "mission.yaml"
    path.write_text(MISSION.format(world=world), encoding="utf-8")
    return str(path)


def start_m(number):
    """Return the initial position of a vehicle."""
    return (1.5 * number, 0.3 * number, 2.0 + 0.2 * number)


class Point:
    """Point mass that reaches a velocity with a delay."""

    DELAY_S = 0.15

    def __init__(self, position_m):
        self.position_m, self.velocity_mps = np.array(position_m, float), np.zeros(3)

    def move(self, velocity_mps, dt_s):
        self.velocity_mps += (np.array(velocity_mps) - self.velocity_mps) * dt_s / self.DELAY_S
        self.position_m += self.velocity_mps * dt_s

    @property
    def report(self):
        return tuple(self.position_m.tolist()), tuple(self.velocity_mps.tolist())


def least_distance_m(points):
    positions_m = np.array([point.position_m for point in points])
    distances_m = np.linalg.norm(positions_m[:, None] - positions_m[None], axis=-1)
    return distances_m[~np.eye(len(points), dtype=bool)].min()
