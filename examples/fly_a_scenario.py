"""Fly a library scenario in weaker wind, print a summary and plot the flight."""

import kittiwake as kw

simulation = kw.load("waypoint-tour", overrides={"world.wind.speed_at_6m_mps": 1.0})
log = simulation.run(seed=1)

for event in log.events:
    print(f"{event.time_s:6.2f} s  {event.vehicle} {event.event}")

height_m = log.column("pelican", "z_m")  # one column; log.frame("pelican") is a table of them all
summary = log.summary or {}
flight = summary["vehicles"]["pelican"]
print(f"The flight of {summary['duration_s']:.0f} s {summary['status']}.")
print(f"It was {flight['distance_m']:.0f} m long and up to {height_m.max():.1f} m high.")

log.plot().savefig("tour.png")
print("The picture is tour.png.")
