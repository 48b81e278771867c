"""Fly a Hummingbird around a circle by a controller of your own on SE(3), beside two others."""

from typing import Any

import numpy as np

import kittiwake as kw


class Se3Control:
    """Geometric tracking control: Lee, Leok and McClamroch (2010)."""

    rate_hz = 250

    def reset(self, vehicle: Any) -> None:
        """Begin a flight, with the numbers of the vehicle."""
        self.mass_kg, self.inertia = vehicle.mass_kg, vehicle.inertia_kgm2.matrix
        self.up_mps2 = np.array([0.0, 0.0, vehicle.gravity_mps2])

    def update(self, t_s: float, setpoint: kw.PositionYaw, estimate: kw.Kinematics) -> Any:
        """Return thrust and torque, which are held until the next call."""
        error = setpoint.position_world_m.array - estimate.position_world_m.array
        speed_error = setpoint.velocity_world_mps.array - estimate.velocity_world_mps.array
        acceleration = 6.5 * error + 4.0 * speed_error + setpoint.acceleration_world_mps2.array
        lift = acceleration + self.up_mps2
        attitude, rates = (
            estimate.q_world_from_body.matrix,
            estimate.angular_velocity_body_radps.array,
        )
        z = lift / np.linalg.norm(lift)
        y = np.cross(z, [np.cos(setpoint.yaw_rad), np.sin(setpoint.yaw_rad), 0.0])
        y /= np.linalg.norm(y)
        target = np.column_stack([np.cross(y, z), y, z])
        skew = 0.5 * (target.T @ attitude - attitude.T @ target)
        attitude_error = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        torque = self.inertia @ (-80.0 * attitude_error - 16.0 * rates)
        torque += np.cross(rates, self.inertia @ rates)
        return kw.ThrustTorque(self.mass_kg * lift @ attitude[:, 2], torque)


hummingbird = kw.Vehicle(
    model="hummingbird",
    start={"position_world_m": [0, 0, 2]},
    guidance=kw.guidance.Circle(radius_m=1, period_s=6),
)
scenario = kw.Scenario(vehicles={"h": hummingbird}, rate_hz=500, duration_s=12)
table = kw.compare(scenario, {"own": Se3Control(), "lee": "lee", "position": "position"})
print(table)
table.plot().savefig("circle.png")
