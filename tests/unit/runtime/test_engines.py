"""Engines fly alike, are chosen by name or by what they compile, and share functions."""

import json

import numpy as np
import pytest
from tests.selection import slow_besides
from typer.testing import CliRunner

import kittiwake as kw
from kittiwake import simd
from kittiwake.cli.app import app
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.engine import ENGINES

# a vehicle with process noise, one with blade elements and feet, vessels, and a mixed fleet
SCENARIOS = ["hover-pelican", "hover-os4", "cruise-strider", "moving-deck"]
# of sums in another order, amplified in a second of flight
RELATIVE, ABSOLUTE = 1e-9, 1e-9


def numbers(log):
    return {name: log.values(name) for name in log.names}


@pytest.fixture
def no_compiling(monkeypatch):
    def refuse(*_arguments, **_options):
        pytest.fail("something was compiled")

    return lambda: monkeypatch.setattr(simd, "compile_jaxpr", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_besides(["hover-pelican", "cruise-strider"], SCENARIOS))
def test_both_engines_fly_alike(name):
    logs = [kw.load(name, engine=engine).run(1.0) for engine in ENGINES]
    for vehicle, one in numbers(logs[0]).items():
        other = numbers(logs[1])[vehicle]
        np.testing.assert_allclose(one, other, rtol=RELATIVE, atol=ABSOLUTE)
    assert logs[0].events == logs[1].events


@pytest.mark.parametrize("name", slow_besides(["hover-pelican"], ["hover-pelican", "keep-spot"]))
def test_steps_and_a_run_have_equal_bits(name):
    simulation = kw.load(name, engine="simd")
    log = simulation.run(0.5)
    simulation.reset()
    for _ in range(round(0.5 * simulation.scenario.rate_hz)):
        simulation.step()
    for vehicle, rows in numbers(simulation.log()).items():
        np.testing.assert_array_equal(rows, numbers(log)[vehicle])


def test_the_summary_names_the_engine():
    metrics = kw.load("hover-pelican").run(0.1).summary["metrics"]
    assert metrics["engine"] == "simd"
    assert "engine_reason" not in metrics


def many_pelicans(count, precision, engine=None):
    given = {"vehicles.pelican.count": count, "lost_vehicle": "continue"}
    return kw.load("hover-pelican", given, precision=precision, engine=engine).run(0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("precision", "tolerance"),
    [("float32", 1e-4), pytest.param("float64", 1e-9, marks=pytest.mark.slow)],
)
def test_vehicles_that_share_a_loop_fly_alike_in_any_number_of_them(precision, tolerance):
    by_simd, by_xla = (many_pelicans(37, precision, engine) for engine in (None, "xla"))
    assert by_simd.summary["metrics"]["engine"] == "simd"
    # 37 and 40 are several passes each, of which the last one begins elsewhere
    more = numbers(many_pelicans(40, precision))
    for vehicle, rows in numbers(by_simd).items():
        np.testing.assert_allclose(rows, numbers(by_xla)[vehicle], rtol=tolerance, atol=tolerance)
        np.testing.assert_array_equal(rows, more[vehicle])


def test_an_unknown_engine_is_refused():
    with pytest.raises(ScenarioError, match="there is no engine 'simt'.*simd"):
        kw.load("hover-pelican", engine="simt")


def test_other_numbers_compile_nothing(no_compiling):
    kw.load("hover-pelican").run(0.1)
    no_compiling()
    changes = {
        "vehicles.pelican.start.position_world_m": [0.0, 0.0, 5.0],
        "vehicles.pelican.controller": {"type": "position", "natural_frequency_radps": 2.0},
        "world.gravity_mps2": 9.7,
    }
    kw.load("hover-pelican", changes, engine=None).run(0.1)


def test_gains_are_changed_without_compiling(no_compiling):
    simulation = kw.load("hover-pelican")
    before = simulation.run(1.0)
    no_compiling()
    simulation.set_gains("pelican", "position", natural_frequency_radps=2.5)
    after = simulation.run(1.0)
    assert (numbers(before)["pelican"] != numbers(after)["pelican"]).any()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_the_command_line_flies_by_an_engine(engine, tmp_path):
    out = tmp_path / "run"
    arguments = ["run", "hover-pelican", "--duration", "0.1", "--out", str(out)]
    answer = CliRunner().invoke(app, [*arguments, "--engine", engine])
    assert answer.exit_code == 0, answer.output
    assert json.loads((out / "summary.json").read_text())["metrics"]["engine"] == engine
