"""World of contract tests: something to measure for every sensor, and what surrounds a vehicle."""

import dataclasses
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tests.contract.operating_points import OperatingPoint

from kittiwake.contact.deck import DeckState
from kittiwake.core.component import Scheduled
from kittiwake.environment.fields.from_seed import SeededField
from kittiwake.environment.plumes.gaussian import GaussianPlume
from kittiwake.environment.plumes.puffs import PuffPlume
from kittiwake.environment.satellites.nominal import NominalConstellation
from kittiwake.environment.terrain import PouredTerrain
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.renderer import (
    BODIES,
    AbstractRenderer,
    Bodies,
    ImageFormat,
    RenderedImage,
    Viewpoint,
)
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.world.field import FIELD, FieldProcess
from kittiwake.world.plume import PLUME, PlumeProcess, Site
from kittiwake.world.satellites import SKY, SatelliteProcess
from kittiwake.world.terrain import TERRAIN, TerrainProcess
from kittiwake.world.world import FlightArea, WorldModel

DT_S = 0.02
# a body at a thousand meters a second needs a shorter step than its controllers
PHYSICS_DT_S = 0.002
# of the vehicle of the operating points, on its way
AHEAD = Vec3(4.0, 2.0, 10.0)
AREA = FlightArea((-9.0, 9.0), (-9.0, 9.0), (0.0, 9.0))
# a deck that sails, heaves and rolls below the vehicle of the operating points
PARTNER = DeckState(
    Vec3(1.2, 1.9, 9.0),
    Quaternion.from_euler(EulerZYX(0.5, -0.1, 0.2)),
    Vec3(1.0, 0.2, 0.1),
    Vec3(0.1, 0.2, 0.0),
    0.6,
    0.6,
)


def to_measure(point: OperatingPoint, tick: int) -> SensorInputs:
    """Return sensor inputs in the world of the contracts."""
    around = dataclasses.replace(point.surroundings, partner=PARTNER, body=0)
    processes = _evolved(tick, jnp.result_type(float)) | {BODIES: Bodies(DRAWN, jnp.eye(1, 7))}
    return SensorInputs(tick * DT_S, point.motion, around, world(), processes)


class Stripes(AbstractRenderer):
    """Renderer that draws stripes in place of a world."""

    def picture(self, frame: ImageFormat, viewpoint: Viewpoint, poses: Any) -> RenderedImage:
        """Return stripes, whatever the viewpoint."""
        del viewpoint, poses
        rgb = np.zeros((frame.height, frame.width, 3), np.uint8)
        rgb[:, ::2] = 200
        return RenderedImage(
            rgb, np.full(rgb.shape[:2], 3.0, np.float32) if frame.with_depth else None
        )


DRAWN = Stripes()


@cache
def world() -> WorldModel:
    """Return a world with something to measure for every sensor."""
    plain = load_scenario("keep-spot").world
    satellites = satellites_of(NominalConstellation(), plain)
    processes = {
        SKY: satellites,
        f"{FIELD}algae": FieldProcess(SeededField(length_scale_m=9.0, waves=8)),
        f"{PLUME}cloud": plume_of(GaussianPlume(Vec3(1.0, 2.0, 9.0)), plain),
        f"{PLUME}puffs": plume_of(PuffPlume(mean_interval_s=0.01), plain),
        TERRAIN: TerrainProcess(PouredTerrain(cells=10), AREA),
    }
    scheduled = {name: Scheduled(process) for name, process in processes.items()}
    return dataclasses.replace(plain, processes=scheduled)


def satellites_of(constellation: Any, plain: WorldModel) -> SatelliteProcess:
    """Return a satellite constellation as seen from a world."""
    orbits = constellation.orbits(plain.origin, plain.start_utc)
    return SatelliteProcess(orbits, constellation.errors)


def plume_of(kind: Any, plain: WorldModel) -> PlumeProcess:
    """Return a plume in a world with wind."""
    return PlumeProcess(kind, Site(Vec3(2.0, 1.0, 0.0), plain.ground_z_m, plain.area))


@cache
def _evolved(tick: int, dtype: Any) -> dict[str, Any]:
    """Return the outputs of the world's processes at a tick, cached for each precision."""
    del dtype
    key = jax.random.key(0)
    processes = {name: part.component for name, part in world().processes.items()}
    return {
        name: process.step(process.init(key), tick * DT_S, DT_S, key)[1]
        for name, process in processes.items()
    }
