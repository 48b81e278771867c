"""What stable-baselines3 learns is what flies."""

import importlib.util
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from kittiwake.scenario.files.networks import read_network

FILE = Path(__file__).parents[2] / "examples" / "learning" / "stable_baselines.py"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def example():
    pytest.importorskip("stable_baselines3")
    # as for a script in its folder
    sys.path.insert(0, str(FILE.parent))
    spec = importlib.util.spec_from_file_location("stable_baselines", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(FILE.parent))


def test_the_file_holds_the_policy_that_was_learned(example, tmp_path):
    ppo, scaled = example.train("keep-spot", minutes=0.05, count=8)
    example.save(tmp_path / "policy.npz", "keep-spot", ppo, scaled)
    network = read_network(tmp_path / "policy.npz")
    assert network.task == "keep-spot"
    seen = np.random.default_rng(0).normal(0.0, 0.1, (5, network.inputs)).astype(np.float32)
    wanted = ppo.predict(scaled.normalize_obs(seen), deterministic=True)[0]
    with jax.enable_x64(True):
        given = jax.vmap(network)(seen.astype(np.float64))
    np.testing.assert_allclose(np.clip(given, -1.0, 1.0), wanted, atol=1e-5)
