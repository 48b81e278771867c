"""Fly a Hummingbird around a circle by a controller of your own on SE(3), beside two others."""

import numpy as np

import kittiwake as kw


class Se3Control:
    """Geometric tracking control: Lee, Leok and McClamroch (2010)."""

    rate_hz = 250

    def reset(self, vehicle):
        """Begin a flight, with the numbers of the vehicle."""
        self.mass_kg, self.gravity_mps2 = vehicle.mass_kg, vehicle.gravity_mps2
        self.inertia_kgm2 = vehicle.inertia_kgm2.matrix

    def update(self, t_s, setpoint, estimate):
        """Return thrust and torque, which are held until the next call."""
        error = setpoint.position_world_m.array - estimate.position_world_m.array
        speed_error = setpoint.velocity_world_mps.array - estimate.velocity_world_mps.array
        wanted = 6.5 * error + 4.0 * speed_error + setpoint.acceleration_world_mps2.array
        wanted[2] += self.gravity_mps2
        attitude = estimate.q_world_from_body.matrix
        z = wanted / np.linalg.norm(wanted)
        y = np.cross(z, [np.cos(setpoint.yaw_rad), np.sin(setpoint.yaw_rad), 0.0])
        y /= np.linalg.norm(y)
        target = np.column_stack([np.cross(y, z), y, z])
        skew = 0.5 * (target.T @ attitude - attitude.T @ target)
        rotation_error = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        rates = estimate.angular_velocity_body_radps.array
        inertia = self.inertia_kgm2
        torque = np.cross(rates, inertia @ rates) - inertia @ (80.0 * rotation_error + 16.0 * rates)
        return kw.ThrustTorque(self.mass_kg * wanted @ attitude[:, 2], torque)


hummingbird = kw.Vehicle(
    model="hummingbird",
    start={"position_world_m": [0, 0, 2]},
    guidance=kw.guidance.Circle(radius_m=1, period_s=6),
)
scenario = kw.Scenario(vehicles={"h": hummingbird}, rate_hz=500, duration_s=12)
table = kw.compare(scenario, {"own": Se3Control(), "lee": "lee", "position": "position"})
print(table)
table.plot().savefig("circle.png")
