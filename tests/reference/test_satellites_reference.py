"""Satellites and fixes against figures of QRSim, with its file of orbits."""

import csv
import math
from datetime import UTC, datetime, timedelta

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.analysis.reproduction.reference_tables import reference_path
from kittiwake.core.kinematics import Start
from kittiwake.environment.satellites.gps_time import utc_from_gps
from kittiwake.environment.satellites.precise import PreciseConstellation
from kittiwake.environment.satellites.selection import frame_at
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.scenario.files.sp3 import read_sp3
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors.gnss import Gnss
from kittiwake.world.satellites import SKY, SatelliteProcess
from kittiwake.world.surroundings import Air, Surroundings
from kittiwake.world.world import Origin

ORBITS = reference_path("qrsim/ngs15992_16to17.sp3")
POSITIONS = reference_path("qrsim/g_satellite_positions.csv")
ORIGIN = Origin(math.radians(51.71190), math.radians(-0.21052), 0.0)
# in the time of GPS, an hour into the file
BEGIN_S = 967305600.0
START_UTC = utc_from_gps(datetime(1980, 1, 6, tzinfo=UTC) + timedelta(seconds=BEGIN_S))
NUMBERS = (3, 5, 6, 7, 13, 16, 18, 19, 20, 22, 24, 29, 31)
DT_S = 0.2
MIDDLE_S, SKIES = 3600.0, 4000


def satellites(numbers=None):
    constellation = PreciseConstellation(read_sp3(ORBITS), numbers)
    return SatelliteProcess(constellation.orbits(ORIGIN, START_UTC), constellation.errors)


def test_satellite_positions_are_those_of_qrsim_to_a_millimeter():
    orbits, frame = satellites().orbits, frame_at(ORIGIN)
    positions = jax.jit(lambda time_s: orbits.positions_world_m(time_s))
    with POSITIONS.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 80
    for row in rows:
        expected = [float(row[f"ecef_{axis}_m"]) for axis in "xyz"]
        place = positions(float(row["gps_time_s"]) - BEGIN_S)[orbits.numbers.index(int(row["prn"]))]
        found = np.asarray(frame.ecef_from_local(Vec3.of(place.tolist())).array)
        assert np.linalg.norm(found - expected) < 1e-3


def test_errors_of_fixes_are_those_of_qrsim():
    above = satellites(NUMBERS)
    world = load_scenario("keep-spot").world
    receiver = Gnss(elevation_mask_rad=-math.pi / 2.0, delay_periods=0)
    air = Air(288.15, 101325.0, 1.225)
    calm = Surroundings(9.81, air, Vec3.zero(), 10.0, math.inf)
    truth = Start(Vec3(0.0, 0.0, 10.0)).kinematics()

    @jax.jit
    @jax.vmap
    def flown(key):
        begin, first, second = jax.random.split(key, 3)
        errors, state, measurement = above.init(begin), receiver.init(begin), None
        for i, draw in enumerate((first, second)):
            errors, sky = above.step(errors, jnp.asarray(MIDDLE_S + i * DT_S), DT_S, draw)
            inputs = SensorInputs(i * DT_S, truth, calm, world, {SKY: sky})
            state, measurement = receiver.step(state, inputs, DT_S, draw)
        return measurement.position_world_m.array, measurement.velocity_world_mps.array

    position, velocity = map(np.asarray, flown(jax.random.split(jax.random.key(4), SKIES)))
    places = np.asarray(above.orbits.positions_world_m(MIDDLE_S))
    directions = places / np.linalg.norm(places, axis=1, keepdims=True)
    rows = np.column_stack([-directions, np.ones(len(NUMBERS))])
    expected = above.errors.deviation_m * np.sqrt(np.diag(np.linalg.inv(rows.T @ rows))[:3])
    # independent skies: sd / sqrt(2 N)
    found = position.std(axis=0)
    assert (np.abs(found / expected - 1.0) < 3.0 / math.sqrt(2.0 * SKIES)).all()
    # one flight of QRSim, at a time and of a length that are not known: 0.33, 0.20 and 0.36 m to
    # the east, to the north and down, and 0.022 m/s in the horizontal
    assert np.linalg.norm(found) == pytest.approx(math.hypot(0.33, 0.20, 0.36), rel=0.1)
    assert math.sqrt(np.mean(velocity[:, :2] ** 2)) == pytest.approx(0.022, rel=0.1)
