"""Gains that are tuned by the gradient of a flight, and what they are worth in others."""

import importlib.util
import re
import subprocess
import sys
from os import environ
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
import yaml

import kittiwake as kw

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "learning" / "tune_gains.py"

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("single_precision")]


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("tune_gains", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.SECONDS, module.WINDS = 2.0, 1
    return module


@pytest.fixture(scope="module")
def gentle(example):
    """A slow curve in calm air: an error at no limit, where integrals hold, has no jumps."""
    changes = {
        "start": {"position_world_m": [0, 0, 1], "velocity_world_mps": [0.3, 0.3, 0]},
        "controller": {"type": example.CONTROLLER, "height": {"initial": 65.7}},
        "guidance": {
            "type": "curve",
            "center_world_m": [0, 0, 1],
            "amplitude_world_m": [0.6, 0.3, 0],
            "angular_rates_radps": [0.5, 1, 0],
        },
    }
    overrides = {f"vehicles.ar-drone.{key}": value for key, value in changes.items()}
    return kw.load("step-ar-drone", overrides, precision="float32")


def test_the_gradient_is_the_quotient_of_differences(example, gentle):
    hand = jnp.log(jnp.asarray(example.gains_of(gentle.fleet)))
    slope = jax.jit(jax.value_and_grad(lambda at: example.flown(gentle, at, seed=0)[0]))
    gradient = slope(hand)[1]
    step = 0.02
    moved = step * jnp.eye(hand.size)
    quotients = jnp.stack(
        [(slope(hand + own)[0] - slope(hand - own)[0]) / (2.0 * step) for own in moved]
    )
    # curvature over the step, and single precision of what hardly matters
    smallest = 0.01 * float(jnp.abs(gradient).max())
    assert jnp.isfinite(gradient).all()
    assert jnp.allclose(gradient, quotients, rtol=0.02, atol=smallest)


def test_a_few_steps_make_the_error_smaller(example, gentle):
    with jax.numpy_dtype_promotion("standard"):  # Adam counts in integers
        better, errors_m = example.tuned(gentle, steps=4)
    assert jnp.isfinite(better).all()
    assert errors_m == sorted(errors_m, reverse=True)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the example prints, and the folder in which it saves."""
    folder = tmp_path_factory.mktemp("tuning")
    answer = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE), "--out", str(folder)],
        env=environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout, folder


def test_tuned_gains_fly_both_curves_better_by_a_third(told):
    out, folder = told
    ratios = {name: float(ratio) for name, ratio in re.findall(r"(\w+) .*RMS, ratio (\S+)", out)}
    assert ratios.keys() == {"eight", "circle"}
    assert max(ratios.values()) < 0.7
    assert (folder / "tuning.png").read_bytes().startswith(b"\x89PNG")


def test_the_saved_gains_are_a_piece_of_a_scenario(told):
    piece = yaml.safe_load((told[1] / "gains.yaml").read_text(encoding="utf-8"))
    cascade = piece["vehicles"]["ar-drone"]["controller"]
    simulation = kw.load("step-ar-drone", {"vehicles.ar-drone.controller": cascade})
    component = simulation.scenario.vehicles["ar-drone"].cascade[0].component
    assert component.position.proportional == cascade["position"]["proportional"]
    # what is not tuned stays
    assert component.height.lower == 35.0
