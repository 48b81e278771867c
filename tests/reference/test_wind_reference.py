"""The mean wind against figures of QRSim."""

import jax
import numpy as np
import pytest

from kittiwake.analysis.reproduction.reference_tables import FOLDER
from kittiwake.environment.wind import ShearWind

TABLE = np.genfromtxt(FOLDER / "qrsim" / "c_wind_shear.csv", delimiter=",", names=True)


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def test_shear_wind_is_that_of_qrsim_at_every_height():
    velocity = jax.vmap(lambda w, d, h: ShearWind(w, d).velocity_world_mps(h))(
        TABLE["W6_mps"], TABLE["direction_rad"], TABLE["altitude_m"]
    )
    # both are a logarithm and a few products in double precision
    np.testing.assert_allclose(velocity.x, TABLE["wind_E_mps"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(velocity.y, TABLE["wind_N_mps"], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(velocity.z, -TABLE["wind_D_mps"])
