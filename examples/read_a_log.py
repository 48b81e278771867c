"""Record a flight of three vehicles into a folder and analyze it with xarray.

The folder is like that of ``kittiwake run``; this command would write the same:

    kittiwake run keep-spot-10 --set vehicles.pelican.count=3 --duration 10 --out three
"""

from pathlib import Path

import kittiwake as kw

folder = Path("three")
simulation = kw.load("keep-spot-10", overrides={"vehicles.pelican.count": 3})
simulation.run(duration_s=10.0, out=folder)
print(f"{folder} holds {', '.join(sorted(path.name for path in folder.iterdir()))}.")

log = kw.Log.read(folder)
data = log.dataset
print(f"{data.sizes['time']} rows of {data.sizes['vehicle']} vehicles: {', '.join(log.names)}.")

start = data.position_world_m.isel(time=0)
drift_m = ((data.position_world_m - start) ** 2).sum("axis") ** 0.5
for name in log.names:
    largest = drift_m.sel(vehicle=name).max().item()
    print(f"{name} drifted {100 * largest:.1f} cm at most.")

speed_mps = (data.velocity_world_mps.sel(time=slice(5.0, None)) ** 2).sum("axis") ** 0.5
print(f"From 5 s on they moved at {100 * speed_mps.mean().item():.1f} cm/s on average.")
