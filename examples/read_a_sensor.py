"""Keep a Pelican 1.5 m away from a wall and 1 m above the ground by two ultrasonic sensors.

The custom controller uses only their measurements, which come ten times per second, have errors,
and detect the wall within 2.5 m. It commands a velocity, which a library controller tracks.
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


def speed_mps(seen: kw.Observation, sensor: str, target_m: float, before_mps: float) -> float:
    """Return the speed toward the detected surface; the former one without a new measurement."""
    reading = seen.measurements[sensor]
    if not (seen.fresh[sensor] and reading.valid):
        return before_mps
    command_mps = GAIN_PER_S * (reading.range_m - target_m)
    return float(np.clip(command_mps, -MAX_SPEED_MPS, MAX_SPEED_MPS))


forward_mps, down_mps = MAX_SPEED_MPS, 0.0  # forward until there is an echo from the wall
seen_m: list[tuple[float, float]] = []  # measured and true distance
seen = simulation.reset(seed=1)["pelican"]
while seen.time_s < SECONDS:
    forward_mps = speed_mps(seen, "ahead", DISTANCE_M, forward_mps)
    down_mps = speed_mps(seen, "below", HEIGHT_M, down_mps)
    command = kw.VelocityYaw([forward_mps, 0.0, -down_mps], 0.0)
    seen = simulation.step({"pelican": command})["pelican"]
    if seen.time_s >= SETTLED_S and seen.fresh["ahead"]:
        true_m = WALL_X_M - float(seen.truth.position_world_m.x)  # for the report alone
        seen_m.append((seen.measurements["ahead"].range_m, true_m))

readings_m, distances_m = np.transpose(seen_m)
errors_m, misses_m = np.subtract(readings_m, distances_m), np.subtract(distances_m, DISTANCE_M)
error_cm, miss_cm = (100 * np.sqrt(np.mean(values**2)) for values in (errors_m, misses_m))
print(f"{len(readings_m)} measurements of the wall had an error of {error_cm:.1f} cm (RMS),")
print(f"and the Pelican kept its distance to {miss_cm:.1f} cm (RMS).")
