"""Guide a Hummingbird along a path of your own, in plain Python.

Guidance is any object with ``update(t_s, estimate)`` that returns a setpoint.
"""

import numpy as np

import kittiwake as kw


class Lemniscate:
    """Figure of eight, flown no faster than the vehicle follows."""

    rate_hz = 50

    def __init__(self, size_m: float, height_m: float, speed_mps: float) -> None:
        self.size_m, self.height_m, self.speed_mps = size_m, height_m, speed_mps
        self.phase_rad = 0.0

    def update(self, t_s: float, estimate: kw.Kinematics) -> kw.PositionYaw:
        """Return the setpoint, which is held until the next call."""
        del t_s
        goal_m, slope_m = self.point(self.phase_rad)
        behind_m = float(np.linalg.norm(goal_m - estimate.position_world_m.array))
        # the further the vehicle is behind, the slower is the point that it follows
        speed_mps = self.speed_mps / (1.0 + behind_m**2)
        rate_radps = speed_mps / float(np.linalg.norm(slope_m))
        self.phase_rad += rate_radps / self.rate_hz
        return kw.PositionYaw(goal_m, 0.0, velocity_world_mps=slope_m * rate_radps)

    def point(self, phase_rad: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the point of a phase, and its derivative."""
        sine, cosine = np.sin(phase_rad), np.cos(phase_rad)
        point_m = [self.size_m * sine, self.size_m * sine * cosine, self.height_m]
        slope_m = [self.size_m * cosine, self.size_m * (cosine**2 - sine**2), 0.0]
        return np.array(point_m), np.array(slope_m)


scenario = kw.Scenario(
    vehicles={
        "h": kw.Vehicle(
            model="hummingbird",
            start={"position_world_m": [0, 0, 2]},
            guidance=Lemniscate(size_m=2.0, height_m=2.0, speed_mps=1.5),
        )
    },
    rate_hz=500,
    duration_s=12,
)
log = kw.Simulation(scenario).run()
flown = log.frame("h")
rms_m = (log.summary or {})["vehicles"]["h"]["tracking_rms_m"]
print(
    f"It flew {flown['x_m'].max():.1f} m to the east and {-flown['x_m'].min():.1f} m to the west,"
)
print(f"{100 * rms_m:.0f} cm from the setpoint (RMS).")
