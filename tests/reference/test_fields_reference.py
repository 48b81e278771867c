"""Plumes and the person camera against figures of QRSim, whose axes are NED."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.kinematics import Start
from kittiwake.environment.plumes.dispersion import DispersedCloud
from kittiwake.environment.plumes.downwind import Downwind
from kittiwake.environment.plumes.gaussian import GaussianPlume
from kittiwake.environment.plumes.puffs import PuffCloud
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.person_camera import PersonCamera, Scores
from kittiwake.sensors.ranging_pose import mounted_pose
from kittiwake.world.plume import Site
from kittiwake.world.world import FlightArea

DATA = Path(__file__).parent / "data"
# the figures' sources, 10 and 20 m up
SOURCES = [[0.0, 0.0, 10.0], [-5.0, 10.0, 20.0]]
AREA = FlightArea()
KEY = jax.random.key(0)


def table(name):
    return np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True)


FRAMES = table("x_camera_projection")


def concentrations(cloud, figures, times_s):
    places = figures["py"], figures["px"], -figures["pz"]

    def one(x, y, z, time_s):
        return cloud.concentration(Vec3(x, y, z), time_s)

    return np.asarray(jax.vmap(one)(*map(jnp.asarray, places), jnp.asarray(times_s)))


def downwind(wind):
    return Downwind.at(Site(wind, 0.0, AREA), 0.33, 0.86)


def test_gaussian_plume_is_that_of_qrsim():
    figures = table("x_plume_gaussian")
    # a yaw from north to the east is one of a right angle less it from east to the north
    plume = GaussianPlume(Vec3(-3.0, 5.0, 20.0), (4.0, 9.0, 15.0), np.pi / 2 - 0.6)
    found = concentrations(
        plume.init_cloud(Site(Vec3.zero(), 0.0, AREA), KEY), figures, figures["px"]
    )
    # the figures have twelve digits
    np.testing.assert_allclose(found, figures["concentration"], rtol=1e-11)


def test_dispersed_plume_is_that_of_qrsim():
    figures = table("x_plume_dispersion")
    cloud = DispersedCloud(
        jnp.asarray(SOURCES), jnp.asarray([1.5, 0.7]), downwind(Vec3(1.2, -2.5, 0.0))
    )
    found = concentrations(cloud, figures, figures["px"])
    # the figures have twelve digits, and an exponent of 100 loses two
    np.testing.assert_allclose(found, figures["concentration"], rtol=1e-9, atol=1e-200)


def test_puffs_are_those_of_qrsim():
    figures = table("x_plume_puff")
    # that is what its figures are found with: 1 m/s to the north, two puffs of the first source
    # after 2 and 7 s and one of the second after 9 s
    cloud = PuffCloud(
        sources_world_m=jnp.asarray(SOURCES),
        source_exists=jnp.ones(2, bool),
        left_s=jnp.asarray([[2.0, 7.0], [9.0, 0.0]]),
        amounts=jnp.asarray([[1.2, 0.4], [2.0, 0.0]]),
        emitted=jnp.asarray([2, 1], jnp.int32),
        next_s=jnp.full(2, 100.0),
        downwind=downwind(Vec3(0.0, 1.0, 0.0)),
    )
    found = concentrations(cloud, figures, figures["t"])
    assert (figures["concentration"] > 1e-6).sum() == 5
    np.testing.assert_allclose(found, figures["concentration"], rtol=1e-9, atol=1e-200)


def test_scores_of_the_classifier_are_those_of_qrsim():
    figures = table("x_camera_indep_obs_model")
    ground = jnp.asarray(figures["terrain_class"], jnp.int32)
    scores = Scores.at(jnp.asarray(figures["range_m"]), ground)
    names = ("mean_person", "sd_person", "mean_noperson", "sd_noperson")
    # the figures have ten digits
    for found, name in zip(scores, names, strict=True):
        np.testing.assert_allclose(found, figures[name], rtol=1e-9)
    told = scores.log_likelihood_difference(jnp.full(len(ground), 0.6))
    np.testing.assert_allclose(told, figures["llr_at_y06"], rtol=1e-8)


@pytest.mark.parametrize("row", range(len(FRAMES)))
def test_points_appear_in_the_image_and_pixels_on_the_ground_as_in_qrsim(row):
    figures = {name: jnp.asarray(FRAMES[name][row]) for name in FRAMES.dtype.names}
    attitude = {"roll_rad": figures["phi"], "pitch_rad": -figures["theta"]}
    start = Start(
        Vec3(figures["cam_e"], figures["cam_n"], -figures["cam_d"]),
        **attitude,
        yaw_rad=np.pi / 2 - figures["psi"],
    )
    camera = PersonCamera()
    view = mounted_pose(start.kinematics(), camera.mount)
    point = Vec3(figures["pt_e"], figures["pt_n"], -figures["pt_d"])
    right, down, ahead = map(float, camera.pixel(view, point))
    outside = not (0 <= right <= 1280 and 0 <= down <= 960)
    assert ahead
    assert outside == bool(jnp.isnan(figures["u_px"]))
    if not outside:
        # the figures have ten digits
        assert right == pytest.approx(float(figures["u_px"]), abs=1e-6)
        assert down == pytest.approx(float(figures["v_px"]), abs=1e-6)
        patch = camera.patch(view, 0.0, right, down)
        assert float(patch.x_world_m) == pytest.approx(float(figures["ground_e"]), abs=1e-9)
        assert float(patch.y_world_m) == pytest.approx(float(figures["ground_n"]), abs=1e-9)
