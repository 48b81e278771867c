"""The first-order gust filters against figures of QRSim."""

import jax
import numpy as np
import pytest

from kittiwake.analysis.reproduction.reference_tables import FOLDER
from kittiwake.core.units import FOOT_M
from kittiwake.environment.turbulence import first_order_filters, intensities, scale_lengths

TABLE = np.genfromtxt(FOLDER / "qrsim" / "d_turbulence_coefficients.csv", delimiter=",", names=True)
STEP_S = 0.02
PRINTED = 1e-11  # the table has twelve digits


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def test_intensities_are_those_of_qrsim():
    horizontal, vertical = jax.vmap(intensities)(TABLE["altitude_m"], TABLE["W6_mps"])
    np.testing.assert_allclose(horizontal / FOOT_M, TABLE["sigma_u_fts"], rtol=PRINTED)
    np.testing.assert_allclose(horizontal / FOOT_M, TABLE["sigma_v_fts"], rtol=PRINTED)
    np.testing.assert_allclose(vertical / FOOT_M, TABLE["sigma_w_fts"], rtol=PRINTED)


def test_scale_lengths_are_those_of_qrsim():
    horizontal, vertical = jax.vmap(scale_lengths)(TABLE["altitude_m"])
    np.testing.assert_allclose(horizontal / FOOT_M, TABLE["Lu_ft"], rtol=PRINTED)
    np.testing.assert_allclose(horizontal / FOOT_M, TABLE["Lv_ft"], rtol=PRINTED)
    np.testing.assert_allclose(vertical / FOOT_M, TABLE["Lw_ft"], rtol=PRINTED)


@pytest.mark.parametrize(("axis", "index"), [("u", 0), ("v", 0), ("w", 1)])
def test_first_order_filters_are_those_of_qrsim(axis, index):
    filters = jax.vmap(lambda h, v, w: first_order_filters(h, v, w, STEP_S))(
        TABLE["altitude_m"], TABLE["body_speed_mps"], TABLE["W6_mps"]
    )
    found = filters[index]
    gain = jax.vmap(lambda axis_filter: axis_filter.innovation * axis_filter.deviation_mps)(found)
    np.testing.assert_allclose(found.decay, TABLE[f"phi_{axis}"], rtol=PRINTED)
    np.testing.assert_allclose(gain / FOOT_M, TABLE[f"gain_{axis}_fts"], rtol=PRINTED)
    np.testing.assert_allclose(found.deviation_mps, TABLE[f"stat_std_{axis}_mps"], rtol=PRINTED)


@pytest.mark.parametrize(("axis", "index"), [("u", 0), ("w", 1)])
def test_first_order_correlation_times_are_those_of_qrsim(axis, index):
    filters = jax.vmap(lambda h, v, w: first_order_filters(h, v, w, STEP_S))(
        TABLE["altitude_m"], TABLE["body_speed_mps"], TABLE["W6_mps"]
    )
    correlation_time = -STEP_S / np.log(filters[index].decay)
    # the logarithm of a number that misses one by 1e-5 magnifies rounding by as much
    np.testing.assert_allclose(correlation_time, TABLE[f"corr_time_{axis}_s"], rtol=2e-11)
