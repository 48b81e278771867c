"""Fly with a sonar of your own, in plain Python, which loses its echo now and then.

A sensor is any object with ``update(t_s, truth)``. What it returns is a measurement, which is held
until the next one; ``None`` is none.
"""

from typing import Any

import kittiwake as kw


class Sonar:
    """Distance to the ground along the body's z axis, with noise and dropouts."""

    rate_hz = 20

    def __init__(self, noise_m: float, dropout: float) -> None:
        self.noise_m, self.dropout = noise_m, dropout

    def reset(self, vehicle: Any, rng: Any) -> None:
        """Begin a flight, with random numbers that follow from its seed."""
        del vehicle
        self.rng = rng

    def update(self, t_s: float, truth: kw.Kinematics) -> dict[str, float] | None:
        """Return the measured distance, or None without an echo."""
        del t_s
        if self.rng.random() < self.dropout:
            return None
        down = truth.q_world_from_body.rotate(kw.Vec3(0.0, 0.0, -1.0))
        distance_m = float(truth.position_world_m.z / -down.z)
        return {"range_m": distance_m + self.noise_m * self.rng.standard_normal()}


scenario = kw.Scenario(
    vehicles={
        "h": kw.Vehicle(
            model="hummingbird",
            start={"position_world_m": [0, 0, 2]},
            sensors={"sonar": Sonar(noise_m=0.02, dropout=0.3)},
            guidance=kw.guidance.Circle(radius_m=1.0, period_s=4.0),
        )
    },
    rate_hz=200,
    duration_s=10,
    seed=5,
)
flown = kw.Simulation(scenario).run().frame("h")
echoes = flown[flown["sensor.sonar.fresh"] > 0]
noise_m = (echoes["sensor.sonar.range_m"] - echoes["z_m"]).std()
print(f"{len(echoes)} echoes of 201, which differ from the height by {100 * noise_m:.1f} cm.")
