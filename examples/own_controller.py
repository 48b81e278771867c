"""Fly a Pelican with a custom position controller, in plain Python and NumPy.

At every step the controller receives an estimate and returns a thrust and an attitude. The
vehicle's own controller converts them to the Pelican's stick commands.
"""

import numpy as np

import kittiwake as kw

GOAL_WORLD_M = np.array([4.0, 3.0, 12.0])
GRAVITY_WORLD_MPS2 = np.array([0.0, 0.0, -9.81])
MAX_ACCELERATION_MPS2 = 3.0

simulation = kw.load(
    "keep-spot",
    overrides={"vehicles.pelican.start.yaw_deg": 0.0, "vehicles.pelican.estimator": "truth"},
)
pelican = simulation.scenario.vehicles["pelican"].dynamics
mass_kg = pelican.vehicle_parameters(gravity_mps2=9.81)["mass_kg"]


def command(estimate: kw.Kinematics) -> kw.ThrustAttitude:
    """Return the thrust vector of a damped spring toward the goal, as thrust and attitude."""
    position, velocity = estimate.position_world_m.array, estimate.velocity_world_mps.array
    acceleration = 1.2 * (GOAL_WORLD_M - position) - 1.8 * velocity
    acceleration = np.clip(acceleration, -MAX_ACCELERATION_MPS2, MAX_ACCELERATION_MPS2)
    thrust_per_kg = acceleration - GRAVITY_WORLD_MPS2
    x, y, z = thrust_per_kg / np.linalg.norm(thrust_per_kg)
    # the body's z axis along the thrust, the nose to the east
    attitude = kw.EulerZYX(roll_rad=-np.arcsin(y), pitch_rad=np.arctan2(x, z), yaw_rad=0.0)
    thrust_n = mass_kg * np.linalg.norm(thrust_per_kg)
    return kw.ThrustAttitude(thrust_n, kw.Quaternion.from_euler(attitude))


observations = simulation.reset(seed=1)
for step in range(1, 501):
    simulation.step({"pelican": command(observations["pelican"].estimate)})
    observations = simulation.observe()
    if step % 100 == 0:
        seen = observations["pelican"]
        miss_m = np.linalg.norm(seen.truth.position_world_m.array - GOAL_WORLD_M)
        print(f"{seen.time_s:5.1f} s  {miss_m:5.2f} m from the goal")
