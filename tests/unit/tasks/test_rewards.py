"""Building blocks of rewards."""

import jax
import numpy as np
import pytest

from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.rewards import nearness, square, tolerance

SLOPES = ["gaussian", "hyperbolic", "linear", "quadratic", "cosine"]


@pytest.mark.parametrize("slope", SLOPES)
def test_tolerance_is_one_inside_and_at_margin_one_margin_away(slope):
    given = {"margin": 0.5, "slope": slope, "at_margin": 0.2}
    assert float(tolerance(1.0, 0.0, 2.0, **given)) == 1.0
    for value in (-0.5, 2.5):
        assert float(tolerance(value, 0.0, 2.0, **given)) == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("slope", SLOPES)
def test_tolerance_decreases_monotonically(slope):
    values = [float(tolerance(x, margin=1.0, slope=slope)) for x in np.linspace(0.0, 5.0, 60)]
    assert (np.diff(values) <= 0.0).all()
    assert 0.0 <= values[-1] < 0.05


@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("value", [0.0, 0.3, 40.0])
def test_gradient_of_tolerance_is_finite(slope, value):
    assert np.isfinite(jax.grad(lambda x: tolerance(x, margin=1.0, slope=slope))(value))


def test_tolerance_without_margin_is_zero_outside():
    assert float(tolerance(0.1)) == 0.0
    assert float(tolerance(0.0)) == 1.0


@pytest.mark.parametrize(
    "given",
    [{"low": 1.0, "high": 0.0}, {"margin": -1.0}, {"margin": 1.0, "at_margin": 0.0}],
)
def test_invalid_tolerance_parameters_are_refused(given):
    with pytest.raises(ValueError, match="got "):
        tolerance(0.0, **given)


def test_square_is_the_squared_length():
    assert square(Vec3(3.0, 4.0, 12.0)) == 169.0


def test_nearness_grows_from_zero_to_one_at_contact():
    distances = [-0.1, 0.0, 0.1, 0.4, 0.5, 3.0, np.inf]
    expected = [1.0, 1.0, 0.64, 0.04, 0.0, 0.0, 0.0]
    np.testing.assert_allclose([nearness(d, 0.5) for d in distances], expected, atol=1e-12)
