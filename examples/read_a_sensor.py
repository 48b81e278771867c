"""Keep a Pelican 1.5 m away from a wall and 1 m above the ground by two ultrasonic sensors.

The controller sees only what they say: ten times a second, with errors, and of the wall nothing
before it is within 2.5 m. It asks for a velocity, which a controller of the library follows.
"""

import numpy as np

import kittiwake as kw

WALL_X_M, DISTANCE_M, HEIGHT_M = 4.0, 1.5, 1.0
GAIN_PER_S, MAX_SPEED_MPS = 0.8, 0.5
SECONDS, SETTLED_S = 30.0, 12.0
ERRORS = [{"type": "noise", "deviation": 0.03}, {"type": "dropout", "probability": 0.2}]

simulation = kw.load(
    "hover-pelican",
    overrides={
        "world.obstacles.wall": {
            "type": "plane",
            "point_world_m": [WALL_X_M, 0, 0],
            "facing_world": [-1, 0, 0],
        },
        "vehicles.pelican.start": {"position_world_m": [0, 0, 1.3]},
        "vehicles.pelican.controller": "qrsim-velocity",
        "vehicles.pelican.guidance": {"type": "hold", "velocity_world_mps": [0, 0, 0]},
        "vehicles.pelican.sensors": {
            "ahead": {"type": "ultrasonic", "max_range_m": 2.5, "errors": ERRORS},
            "below": {"type": "ultrasonic", "direction_body": [0, 0, -1], "errors": ERRORS},
        },
    },
)


def speed_mps(seen: kw.Observation, sensor: str, wanted_m: float, before_mps: float) -> float:
    """How fast to go towards what the sensor sees; as before while it says nothing new."""
    reading = seen.measurements[sensor]
    if not (seen.fresh[sensor] and reading.valid):
        return before_mps
    wanted_mps = GAIN_PER_S * (reading.range_m - wanted_m)
    return float(np.clip(wanted_mps, -MAX_SPEED_MPS, MAX_SPEED_MPS))


forward_mps, down_mps = MAX_SPEED_MPS, 0.0  # onward until the wall answers
readings_m, distances_m = [], []
seen = simulation.reset(seed=1)["pelican"]
while seen.time_s < SECONDS:
    forward_mps = speed_mps(seen, "ahead", DISTANCE_M, forward_mps)
    down_mps = speed_mps(seen, "below", HEIGHT_M, down_mps)
    velocity_world_mps = kw.Vec3(forward_mps, 0.0, -down_mps)
    simulation.step({"pelican": kw.VelocityYaw(velocity_world_mps, 0.0)})
    seen = simulation.observe()["pelican"]
    if seen.time_s >= SETTLED_S and seen.fresh["ahead"]:
        readings_m.append(seen.measurements["ahead"].range_m)
        distances_m.append(WALL_X_M - seen.truth.position_world_m.x)  # for the report alone

errors_m, misses_m = np.subtract(readings_m, distances_m), np.subtract(distances_m, DISTANCE_M)
error_cm, miss_cm = (100 * np.sqrt(np.mean(them**2)) for them in (errors_m, misses_m))
print(f"{len(readings_m)} readings of the wall erred by {error_cm:.1f} cm (RMS),")
print(f"and yet the Pelican kept its distance to {miss_cm:.1f} cm (RMS).")
