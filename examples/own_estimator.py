"""Estimate position and velocity by an alpha-beta filter of your own, in plain Python.

An estimator is any object with ``update(t_s, measurements)`` that returns the estimated motion.
"""

from typing import Any

import numpy as np

import kittiwake as kw

PERIOD_S = 0.01


class AlphaBeta:
    """Motion from measured acceleration, attitude and rates, corrected by satellite fixes."""

    rate_hz = 1.0 / PERIOD_S

    def __init__(self, alpha: float, beta_per_s: float) -> None:
        self.alpha, self.beta_per_s = alpha, beta_per_s

    def reset(self, vehicle: Any) -> None:
        """Begin a flight where the vehicle starts."""
        self.position_m = vehicle.start.position_world_m.array
        self.velocity_mps = vehicle.start.velocity_world_mps.array
        self.gravity_mps2 = np.array([0.0, 0.0, -vehicle.gravity_mps2])

    def update(self, t_s: float, measurements: kw.measurements.LatestMeasurements) -> kw.Kinematics:
        """Return the estimate, which is held until the next call."""
        imu, gnss, angles = (measurements[name] for name in ("imu", "gnss", "orientation"))
        euler = kw.EulerZYX(angles.roll_rad, angles.pitch_rad, angles.yaw_rad)
        attitude = kw.Quaternion.from_euler(euler)
        force_mps2 = attitude.rotate(imu.specific_force_body_mps2).array
        self.velocity_mps = self.velocity_mps + (force_mps2 + self.gravity_mps2) * PERIOD_S
        self.position_m = self.position_m + self.velocity_mps * PERIOD_S
        if measurements.fresh["gnss"] and gnss.valid and t_s > 0.0:
            miss_m = gnss.position_world_m.array - self.position_m
            self.position_m = self.position_m + self.alpha * miss_m
            self.velocity_mps = self.velocity_mps + self.beta_per_s * miss_m
        rates_radps = imu.angular_velocity_body_radps
        return kw.Kinematics.of(self.position_m, self.velocity_mps, attitude, rates_radps)


gnss = kw.sensors.Gnss(rate_hz=2, delay_periods=0)
vehicle = kw.Vehicle(
    model="hummingbird",
    start={"position_world_m": [1, 0, 10]},
    sensors={"gnss": gnss, "imu": "imu", "orientation": "orientation"},
    estimator=AlphaBeta(alpha=0.4, beta_per_s=0.2),
    guidance=kw.guidance.Circle(radius_m=1.0, period_s=6.0),
)
scenario = kw.Scenario(kw.World(satellites="nominal"), {"h": vehicle}, rate_hz=200, duration_s=20)
flown = kw.Simulation(scenario).run(seed=1).frame("h")
for name, column in (
    ("last fix", "sensor.gnss.position_{}_world_m"),
    ("estimate", "estimate.{}_m"),
):
    scatter_m = [(flown[column.format(axis)] - flown[f"{axis}_m"]).std() for axis in "xy"]
    print(f"Beside its constant error, the {name} scatters by {np.hypot(*scatter_m):.2f} m.")
