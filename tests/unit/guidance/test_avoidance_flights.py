"""Flights among obstacles: what a barrier keeps, and where repulsion comes to a halt."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

from kittiwake.analysis.table import NEAREST_OBSTACLE
from kittiwake.guidance.avoidance.barrier import Barrier
from kittiwake.guidance.avoidance.repulsion import Repulsion
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import dump_document, parse_document

GRAVITY_MPS2 = 9.81
FLIERS = 10


def flown(data):
    return Simulation(build(parse_document(dump_document(data), "test.yaml"), Path())).run()


def scattered_boxes(seed, count=14):
    """Tall ones, turned, behind a free strip."""
    draw = np.random.default_rng(seed)
    return {
        f"box-{i}": {
            "type": "box",
            "center_world_m": [*draw.uniform([2.5, -1.0], [11.0, 11.0]).tolist(), 4.0],
            "sides_m": [*draw.uniform(0.4, 2.0, 2).tolist(), 12.0],
            "yaw_rad": float(draw.uniform(0.0, 1.5)),
        }
        for i in range(count)
    }


@pytest.mark.slow
def test_a_barrier_keeps_its_distance_from_boxes_at_random():
    log = flown(
        {
            "name": "boxes",
            "time": {"rate_hz": 200, "duration_s": 15, "log_rate_hz": 20},
            "world": {
                "obstacles": scattered_boxes(4),
                "turbulence": {"type": "dryden", "speed_at_6m_mps": 2},
            },
            "vehicles": {
                "point": {
                    "model": "rigid-body",
                    "count": FLIERS,
                    "spacing_m": [0, 1, 0],
                    "parameters": {"size_body_m": [0, 0, 0]},
                    "start": {"position_world_m": [0, 0, 4]},
                    # half a gap between beams is 1.2 cm at the safe distance
                    "sensors": {
                        "lidar": {"type": "lidar-2d", "rate_hz": 20, "beams": 200, "deviation_m": 0}
                    },
                    "controller": "velocity",
                    "avoidance": "barrier",
                    "guidance": {"type": "hold", "velocity_world_mps": [1.5, 0.1, 0]},
                }
            },
        }
    )
    frames = [log.frame(name) for name in log.tables]
    assert len(frames) == FLIERS
    nearest = np.array([frame[NEAREST_OBSTACLE].min() for frame in frames])
    safe_m = Barrier().safe_distance_m
    assert nearest.min() > safe_m - 0.02
    # they came as near as they may, and went on where there was a way
    assert (nearest < safe_m + 0.3).sum() >= FLIERS // 2
    assert max(frame["x_m"].max() for frame in frames) > 6.0


@pytest.mark.slow
def test_repulsion_halts_where_its_lean_balances_the_command():
    speed_mps, lag_s = 0.25, 0.4
    log = flown(
        {
            "name": "wall",
            "time": {"rate_hz": 200, "duration_s": 40, "log_rate_hz": 10},
            "world": {
                "obstacles": {
                    "wall": {"type": "box", "center_world_m": [4, 0, 5], "sides_m": [1, 20, 10]}
                }
            },
            "vehicles": {
                "drone": {
                    "model": "angle-velocity",
                    "start": {"position_world_m": [0, 0, 5]},
                    "sensors": {"nose": {"type": "ultrasonic", "rate_hz": 20}},
                    "controller": {"type": "velocity", "time_constant_s": lag_s},
                    "avoidance": "repulsion",
                    "guidance": {"type": "hold", "velocity_world_mps": [speed_mps, 0, 0]},
                }
            },
        }
    )
    frame = log.frame("drone")
    # at rest what leans forward, atan(v / (T g)), is what leans back
    commanded_rad = np.arctan(speed_mps / (lag_s * GRAVITY_MPS2))
    lean = Repulsion().lean_rad
    halt_m = brentq(lambda d: float(lean(jnp.asarray(d))) - commanded_rad, 0.6, 4.0)
    assert 3.5 - frame["x_m"].iloc[-1] == pytest.approx(halt_m, abs=0.05)
    assert frame["x_m"].max() < 3.5 - halt_m + 0.05
    assert abs(frame["vx_mps"].iloc[-1]) < 0.01
