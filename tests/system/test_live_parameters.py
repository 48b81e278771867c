"""Every library scenario can be flown with its parameters as arguments, as in a live flight."""

import jax
import pytest

import kittiwake as kw
from kittiwake.scenario import library
from kittiwake.scenario.dormant_faults import with_dormant_faults
from kittiwake.scenario.load import load_scenario

# the most complex guidance, estimators and sensors; a thousand vehicles are traced like eight
QUICK = {"mission", "surface-following"}
LEFT_OUT = {"flock-1000"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name in library.names()
        if name not in LEFT_OUT
    ],
)
def test_a_step_can_be_traced_with_parameters_as_arguments(name):
    fleet = with_dormant_faults(load_scenario(name, []), {}).fleet(live_parameters=True)
    with jax.enable_x64(True):
        form = jax.eval_shape(lambda: fleet.init(kw.seed_key(0)))
        later, _ = jax.eval_shape(fleet.step, form)
    assert jax.tree.structure(later) == jax.tree.structure(form)
