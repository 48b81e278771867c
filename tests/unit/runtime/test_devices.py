"""Worlds on several devices of a host, and the engine of batches on a host with a GPU."""

import os
import subprocess
import sys
import textwrap

import jax
import pytest

import kittiwake as kw
from kittiwake.runtime.vector_env_engines import XlaBatch, batch_engine
from kittiwake.tasks.make import make

# flies the same worlds on one device and on two, in parts that are filled with worlds nobody sees
ON_DEVICES = """
    import jax
    import numpy as np

    import kittiwake as kw

    devices = jax.local_devices()
    assert len(devices) == 2
    simulation = kw.load("hover-pelican", precision="float32", engine="xla")
    states = []
    for count in (1, 2):
        jax.local_devices = lambda: devices[:count]
        batch = simulation.batch(37, seed=3)
        batch.advance(5)
        states.append(batch.state)
        assert len(batch.state.groups[0].status.devices()) == count
    for one, other in zip(*map(jax.tree.leaves, states), strict=True):
        if jax.dtypes.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = map(jax.random.key_data, (one, other))
        np.testing.assert_array_equal(one, other, strict=True)
        assert one.shape[:1] in ((), (37,))
"""


@pytest.mark.slow
def test_worlds_have_the_same_bits_on_one_device_and_on_two():
    # compiled without optimization, which takes seconds for each device
    flags = "--xla_force_host_platform_device_count=2 --xla_backend_optimization_level=0"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", textwrap.dedent(ON_DEVICES)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def with_gpu(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")


@pytest.mark.slow
@pytest.mark.usefixtures("with_gpu")
def test_batches_of_a_host_with_a_gpu_fly_by_xla():
    batch = kw.load("hover-pelican", precision="float32").batch(2)
    assert (batch.engine, batch.engine_reason) == ("xla", "JAX computes on a GPU")
    many = batch_engine(make("hover"), 2)
    assert isinstance(many, XlaBatch)
    assert many.reason == "JAX computes on a GPU"


@pytest.mark.slow
@pytest.mark.usefixtures("with_gpu")
def test_a_requested_engine_counts_and_single_flights_stay_on_processors():
    simulation = kw.load("hover-pelican", engine="simd")
    assert simulation.batch(2).engine == "simd"
    flown = kw.load("hover-pelican").program.functions.chosen_engine
    assert flown.engine.name == "simd"
