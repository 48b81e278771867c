"""What libraries learn is what flies."""

import importlib.util
import sys
import warnings
from pathlib import Path

import jax
import numpy as np
import pytest

from kittiwake.scenario.files.networks import read_network

FOLDER = Path(__file__).parents[2] / "examples" / "learning"

pytestmark = pytest.mark.slow


@pytest.fixture
def example(request, monkeypatch):
    library, name = request.param
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(library)
    # as for a script in its folder
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def file_network(path, task):
    """Return the actions of a saved policy for some observations, and these."""
    network = read_network(path)
    assert network.task == task
    seen = np.random.default_rng(0).normal(0.0, 0.1, (5, network.inputs)).astype(np.float32)
    with jax.enable_x64(True):
        return seen, np.asarray(jax.vmap(network)(seen.astype(np.float64)))


@pytest.mark.parametrize("example", [("stable_baselines3", "stable_baselines")], indirect=True)
def test_the_file_holds_what_stable_baselines_has_learned(example, tmp_path):
    ppo, scaled = example.train("keep-spot", minutes=0.05, count=8)
    example.save(tmp_path / "policy.npz", "keep-spot", ppo, scaled)
    seen, found = file_network(tmp_path / "policy.npz", "keep-spot")
    wanted = ppo.predict(scaled.normalize_obs(seen), deterministic=True)[0]
    np.testing.assert_allclose(np.clip(found, -1.0, 1.0), wanted, atol=1e-5)


@pytest.mark.filterwarnings("ignore")  # of what the library will change
@pytest.mark.parametrize("example", [("torchrl", "torchrl_ppo")], indirect=True)
def test_the_file_holds_what_torchrl_has_learned(example, tmp_path):
    import torch

    learned = example.train("hover", minutes=0.05, count=8)
    assert learned.updates
    example.save(tmp_path / "policy.npz", "hover", learned)
    seen, found = file_network(tmp_path / "policy.npz", "hover")
    # nothing was flown that these have not normalized
    assert np.abs(learned.mean).max() > 0.1
    scaled = (seen - learned.mean) / learned.deviation
    with torch.no_grad():
        wanted = learned.network(torch.tensor(scaled, dtype=torch.float32)).numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("example", [("evosax", "evolution")], indirect=True)
def test_the_file_holds_what_evosax_has_learned(example, tmp_path, single_precision):
    # the library adds vectors to matrices
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        learned = example.train("hover", minutes=0.05, population=8)
    assert learned["generations"]
    example.save(tmp_path / "policy.npz", "hover", learned)
    seen, found = file_network(tmp_path / "policy.npz", "hover")
    assert np.abs(learned["mean"]).max() > 0.1
    scaled = (seen - np.asarray(learned["mean"])) / np.asarray(learned["deviation"])
    wanted = jax.vmap(example.act, (None, 0))(learned, scaled)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
