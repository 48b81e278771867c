"""Trim a Hummingbird in forward flight, and analyze it and its closed loop as linear models."""

from math import degrees

import kittiwake as kw

for speed_mps in (0.0, 2.0, 4.0):
    point = kw.trim("hummingbird", velocity_world_mps=(speed_mps, 0.0, 0.0))
    speed_radps = sum(point.command.speeds_radps) / len(point.command.speeds_radps)
    slowest = max(pole.real for pole in kw.linearize(point).poles() if abs(pole) > 1e-3)
    print(
        f"{speed_mps:g} m/s: pitch {degrees(point.start.pitch_rad):.1f} deg, rotors "
        f"{speed_radps:.0f} rad/s, slowest mode {slowest:.2f} 1/s"
    )

scenario = kw.Scenario(
    vehicles={"h": kw.Vehicle(model="hummingbird", start={"position_world_m": [0, 0, 2]})},
    rate_hz=250,
    duration_s=2,
)
loop = kw.linearize(scenario)
response = loop.step("setpoint.position_x_world_m", "x_m")
print(
    f"A step along x rises in {response.rise_time_s:.2f} s, settles in "
    f"{response.settling_time_s:.2f} s, with {response.overshoot_percent:.1f} % overshoot."
)
largest = max(abs(pole) for pole in loop.poles())
print(f"{len(loop.states)} states, {len(loop.left_out)} left out; largest pole {largest:.6f}.")
