"""Fly a Pelican with a position controller of your own, in plain Python and NumPy.

A controller is any object with ``update``. It takes the place of the scenario's controllers; the
vehicle's own one converts its thrust and attitude to the Pelican's stick commands.
"""

from typing import Any

import numpy as np

import kittiwake as kw

GOAL_WORLD_M = [4.0, 3.0, 12.0]
MAX_ACCELERATION_MPS2 = 3.0


class SpringDamper:
    """Thrust vector of a damped spring toward the setpoint, as thrust and attitude."""

    rate_hz = 50

    def __init__(self, stiffness_per_s2: float, damping_per_s: float) -> None:
        self.stiffness_per_s2, self.damping_per_s = stiffness_per_s2, damping_per_s

    def reset(self, vehicle: Any) -> None:
        """Begin a flight, with what is known of the vehicle."""
        self.mass_kg = vehicle.mass_kg
        self.gravity_world_mps2 = np.array([0.0, 0.0, -vehicle.gravity_mps2])

    def update(
        self, t_s: float, setpoint: kw.PositionYaw, estimate: kw.Kinematics
    ) -> kw.ThrustAttitude:
        """Return the command, which is held until the next call."""
        del t_s
        error = setpoint.position_world_m.array - estimate.position_world_m.array
        velocity = estimate.velocity_world_mps.array
        acceleration = self.stiffness_per_s2 * error - self.damping_per_s * velocity
        acceleration = np.clip(acceleration, -MAX_ACCELERATION_MPS2, MAX_ACCELERATION_MPS2)
        thrust_per_kg = acceleration - self.gravity_world_mps2
        size = np.linalg.norm(thrust_per_kg)
        x, y, z = thrust_per_kg / size
        # the body's z axis along the thrust, the nose to the east
        attitude = kw.EulerZYX(roll_rad=-np.arcsin(y), pitch_rad=np.arctan2(x, z), yaw_rad=0.0)
        return kw.ThrustAttitude(self.mass_kg * size, kw.Quaternion.from_euler(attitude))


changes = {
    "vehicles.pelican.start.yaw_deg": 0.0,
    "vehicles.pelican.estimator": "truth",
    "vehicles.pelican.guidance": {"type": "hold", "position_world_m": GOAL_WORLD_M},
    "vehicles.pelican.controller": SpringDamper(stiffness_per_s2=1.2, damping_per_s=1.8),
}
simulation = kw.load("keep-spot", changes)
flown = simulation.run(duration_s=10.0, seed=1).frame("pelican").set_index("time_s")
for time_s in (2.0, 4.0, 6.0, 8.0, 10.0):
    miss_m = np.linalg.norm(flown.loc[time_s, ["x_m", "y_m", "z_m"]] - GOAL_WORLD_M)
    print(f"{time_s:5.1f} s  {miss_m:5.2f} m from the goal")
