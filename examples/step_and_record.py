"""Fly a Hummingbird step by step, look at the log, and continue from a saved state.

The commands are positions that climb by half a meter per second. The state in the middle is
saved; the flight that continues from the file is the same to the last bit.
"""

from collections.abc import Mapping

import numpy as np

import kittiwake as kw

scenario = kw.Scenario(
    world=kw.World(wind=kw.environment.ShearWind(speed_at_6m_mps=3, from_deg=45)),
    vehicles={
        "h": kw.Vehicle(
            model="hummingbird",
            start={"position_world_m": [0, 0, 2]},
            sensors={"imu": kw.sensors.Imu(rate_hz=250)},
            controllers=[kw.control.Lee()],
        )
    },
    rate_hz=500,
    duration_s=4,
)
sim = kw.Simulation(scenario)


def climb(obs: Mapping[str, kw.Observation], until_s: float) -> Mapping[str, kw.Observation]:
    """Climb until a time, or until the end of the scenario."""
    while not sim.done and obs["h"].time_s < until_s:
        obs = sim.step({"h": kw.PositionYaw([0, 0, 2 + 0.5 * obs["h"].time_s], 0.0)})
    return obs


obs = climb(sim.reset(seed=1), until_s=2.0)
sim.save("there.state")
climb(obs, until_s=4.0)
log = sim.log()
log.save("climb")

climb(sim.restore("there.state"), until_s=4.0)
again = sim.log()
rows = log.values("h")[log.column("h", "time_s") >= 2.0]
same = np.array_equal(rows, again.values("h"))
print(f"After {log.end_s:g} s the Hummingbird is {log.column('h', 'z_m')[-1]:.2f} m high.")
print(f"The {len(rows)} rows of the restored flight are {'the same' if same else 'different'}.")
