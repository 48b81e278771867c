"""Identification from logs of a simulated Pelican, whose parameters are known."""

import json

import numpy as np
import pytest
import yaml

import kittiwake as kw
from kittiwake.analysis.flight_logs.flight_log import FlightLog, Signal
from kittiwake.analysis.identification_result import ALL
from kittiwake.core.errors import KittiwakeError
from kittiwake.scenario.load import load_scenario

TRUE = {"attitude_gain": 0.71, "yaw_rate_gain_per_s": 2.4}
RATE_HZ, DURATION_S = 50.0, 12.0
NOISE = {"wx_radps": 0.02, "wy_radps": 0.02, "wz_radps": 0.02}
ANGLES_RAD = 0.004
STATE = ("qw", "qx", "qy", "qz", "wx_radps", "wy_radps", "wz_radps")
OPTIONS = {"window_s": 2.0, "settle_s": 1.0, "rate_hz": RATE_HZ}


def sticks(folder):
    """Inputs that move roll, pitch and yaw."""
    t = np.arange(0.0, DURATION_S, 1.0 / RATE_HZ)
    rows = np.column_stack(
        [
            t,
            0.2 * np.sin(2.0 * t),
            0.2 * np.sin(3.1 * t + 1.0),
            np.full(t.size, 0.59),
            np.sin(1.3 * t),
            np.full(t.size, 11.0),
        ]
    )
    names = "time_s,pitch_rad,roll_rad,throttle,yaw_rate_radps,battery_v"
    np.savetxt(folder / "sticks.csv", rows, delimiter=",", header=names, comments="")
    return folder / "sticks.csv"


def turned(q, angles):
    """Quaternions turned by small rotation vectors in body axes."""
    w, v, half = q[:, :1], q[:, 1:], 0.5 * angles
    scalar = w - (v * half).sum(axis=1, keepdims=True)
    return np.concatenate([scalar, v + w * half + np.cross(v, half)], axis=1)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    overrides = {
        "vehicles.pelican.guidance.file": str(sticks(tmp_path_factory.mktemp("inputs"))),
        "time.duration_s": DURATION_S,
        **{f"vehicles.pelican.parameters.{key}": value for key, value in TRUE.items()},
    }
    return kw.load("pelican-playback", overrides=overrides).run().tables["pelican"]


def flight_log(table, seed=0, bias=0.0, late=0):
    """The log with noise, a bias of the yaw rate, and commands that are logged too early."""
    rng = np.random.default_rng(seed)
    time_s = table.part(("time_s",))[:, 0]
    count = len(time_s) - late
    signals = {
        name: Signal(time_s[:count], table.part((name,))[late:, 0])
        for name in table.columns
        if name.startswith("cmd_")
    }
    q = turned(table.part(STATE[:4]), ANGLES_RAD * rng.normal(size=(len(time_s), 3)))
    signals |= {
        name: Signal(time_s[:count], values[:count])
        for name, values in zip(STATE[:4], q.T, strict=True)
    }
    for name, deviation in NOISE.items():
        values = table.part((name,))[:count, 0] + deviation * rng.normal(size=count)
        signals[name] = Signal(time_s[:count], values + bias * (name == "wz_radps"))
    return FlightLog("flight.csv", signals)


@pytest.mark.slow
def test_parameters_are_found_with_their_deviations(table, tmp_path):
    result = kw.identify(
        flight_log(table), "pelican", [*TRUE], train=(0, 8), test=(8, 12), out=tmp_path, **OPTIONS
    )
    for own in result.values:
        true = TRUE[own.name]
        assert own.after == pytest.approx(true, rel=0.02)
        assert abs(own.after - true) < 4.0 * own.deviation
        assert 0.0 < own.deviation < 0.02 * true
    errors = {own.name: own for own in result.errors}
    assert errors["wz_radps"].train[1] == pytest.approx(0.02, rel=0.15)
    assert all(own.test[1] < own.test[0] for own in errors.values()), "predicts better, too"
    assert errors[ALL].train[1] == pytest.approx(1.0, abs=0.05)
    assert result.windows == (3, 2)
    assert result.ambiguities() == []


@pytest.mark.slow
def test_the_files_of_a_result_can_be_flown(table, tmp_path):
    log = flight_log(table)
    result = kw.identify(log, "pelican", [*TRUE], out=tmp_path, **OPTIONS)
    vehicle = yaml.safe_load((tmp_path / "vehicle.yaml").read_text())["vehicles"]["pelican"]
    assert vehicle["model"] == "pelican"
    assert vehicle["parameters"] == result.parameters_of_vehicle()
    figures = json.loads((tmp_path / "identification.json").read_text())
    path = "vehicles.pelican.parameters.attitude_gain"
    assert figures["values"][path]["after"] == vehicle["parameters"]["attitude_gain"]
    assert (tmp_path / "identification.png").stat().st_size > 10_000
    flown = kw.Simulation(load_scenario(str(tmp_path / "scenario.yaml"))).run()
    measured = np.interp(8.0, *log.signals["wz_radps"])
    again = flown.tables["pelican"]
    modeled = np.interp(8.0, again.part(("time_s",))[:, 0], again.part(("wz_radps",))[:, 0])
    assert modeled == pytest.approx(measured, abs=0.1)
    with pytest.raises(KittiwakeError, match="holds the result of another identification"):
        kw.identify(log, "pelican", [*TRUE], out=tmp_path, **OPTIONS)


@pytest.mark.slow
def test_delay_and_bias_are_parameters(table, tmp_path):
    log = flight_log(table, bias=0.05, late=2)
    free = {"guidance.delay_s": (0.0, 0.2), "bias.wz_radps": None, "attitude_gain": None}
    overrides = {"vehicles.pelican.parameters.yaw_rate_gain_per_s": TRUE["yaw_rate_gain_per_s"]}
    result = kw.identify(log, "pelican", free, overrides=overrides, out=tmp_path, **OPTIONS)
    found = {own.name: own.after for own in result.values}
    assert found["guidance.delay_s"] == pytest.approx(2.0 / RATE_HZ, abs=0.002)
    assert found["bias.wz_radps"] == pytest.approx(0.05, abs=0.01)
    assert found["attitude_gain"] == pytest.approx(TRUE["attitude_gain"], rel=0.02)
    assert [own.limit for own in result.values] == [None, None, None]


@pytest.mark.slow
def test_a_value_at_its_limit_is_said(table, tmp_path):
    # the truth is 0.71
    free = {"attitude_gain": (0.73, 1.0), "bias.wz_radps": (-0.5, 0.5)}
    result = kw.identify(flight_log(table), "pelican", free, out=tmp_path, **OPTIONS)
    assert [own.limit for own in result.values] == [0.73, None]
    (sentence,) = result.ambiguities()
    assert "attitude_gain: at its limit 0.73" in sentence


@pytest.mark.slow
def test_commands_beyond_the_limits_and_pauses_are_noted(table, tmp_path):
    log = flight_log(table)
    throttle, yaw_rate = (log.signals[f"cmd_{name}"] for name in ("throttle", "yaw_rate_radps"))
    values = throttle.values.copy()
    values[77] = 1.5
    kept = np.r_[0:100, 150:300, 350:500]
    signals = log.signals | {
        "cmd_throttle": Signal(throttle.time_s, values),
        "cmd_yaw_rate_radps": Signal(yaw_rate.time_s[kept], yaw_rate.values[kept]),
    }
    changed = FlightLog("flight.csv", signals)
    result = kw.identify(changed, "pelican", ["attitude_gain"], out=tmp_path, **OPTIONS)
    limited, paused = result.notes
    # the first second settles
    assert limited.startswith("cmd_throttle: 1 of 551 values lie beyond the vehicle's limits, 0 to")
    assert paused.startswith("cmd_yaw_rate_radps: 3 pauses, the longest of 2.02 s from 9.98 s on")


@pytest.mark.slow
def test_what_cannot_be_told_apart_is_said(table, tmp_path):
    # nothing that is measured depends on the thrust
    result = kw.identify(
        flight_log(table), "pelican", ["attitude_gain", "mass_kg"], out=tmp_path, **OPTIONS
    )
    (sentence,) = result.ambiguities()
    assert sentence.startswith("vehicles.pelican.parameters.mass_kg: the measured quantities")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vehicle": "pelicn"}, "there is no vehicle 'pelicn'. Did you mean 'pelican'"),
        ({"free": ["atitude_gain"]}, "there is no number. Did you mean"),
        ({"free": []}, "nothing is free"),
        ({"free": ["bias.wq_radps"]}, "free: bias.wq_radps: Did you mean 'wz_radps'"),
        ({"free": {"bias.wz_radps": (1.0, 2.0)}}, "a bias begins at 0"),
        ({"train": (5.0, 4.0)}, "`train`: got 5:4; the end must be after the begin"),
        ({"train": (0.0, np.nan)}, "`train`: got 0:nan; the end must be after the begin"),
        ({"train": (20.0, 30.0)}, "`train`: got 20:30; must be within the log"),
        ({"train": (0.0, 6.0), "test": (5.0, 9.0)}, "`test`: got 5:9, which overlaps `train`, 1:6"),
        ({"free": "attitude_gain"}, "`free`: got 'attitude_gain'; must be several keys"),
        ({"test": (0.0, 1.5)}, "`test`: 0.5 s of the log are left"),
        ({"window_s": 0.0}, "`window_s`: got 0; must be above 0"),
        ({"settle_s": -1.0}, "`settle_s`: got -1; must be at least 0"),
        ({"vehicle": "keep-spot-10"}, "keep-spot-10 has 10 vehicles; identify one at a time"),
        ({"overrides": ["world.gravty=9"]}, "gravty"),
    ],
)
def test_wrong_arguments_say_what_is_allowed(table, tmp_path, changes, message):
    arguments = {"vehicle": "pelican", "free": ["attitude_gain"], **OPTIONS, **changes}
    with pytest.raises(KittiwakeError) as refused:
        kw.identify(flight_log(table), out=tmp_path / "out", **arguments)
    assert message in str(refused.value)
    assert not (tmp_path / "out").exists(), "nothing is left behind"


@pytest.mark.slow
def test_without_a_part_to_fit_it_is_the_longer_one_beside_the_test(table, tmp_path):
    log = flight_log(table)
    result = kw.identify(log, "pelican", [*TRUE], test=(2, 5), out=tmp_path, **OPTIONS)
    assert result.spans[0] == pytest.approx((5.0, log.span_s()[1]))
    assert result.spans[1] == (2.0, 5.0)


@pytest.mark.slow
def test_the_scenario_of_a_result_flies_the_log(table, tmp_path):
    log = flight_log(table)
    result = kw.identify(log, "pelican", [*TRUE], out=tmp_path / "a", **OPTIONS)
    flown = kw.Simulation(result.scenario).run()
    flown.save(tmp_path / "b")
    again, time_s = flown.tables["pelican"], log.signals["wx_radps"].time_s
    modeled = np.interp(time_s, again.part(("time_s",))[:, 0], again.part(("wx_radps",))[:, 0])
    assert np.std(modeled - log.signals["wx_radps"].values) < 0.05


@pytest.mark.slow
def test_a_signal_with_few_samples_is_refused(table, tmp_path):
    log = flight_log(table)
    few = {**log.signals, "z_m": Signal(np.array([1.0, 4.0, 9.0]), np.full(3, 500.0))}
    with pytest.raises(KittiwakeError, match="z_m: a window of 2 s has 0.6 samples on average"):
        kw.identify(FlightLog("a.csv", few), "pelican", [*TRUE], out=tmp_path / "a", **OPTIONS)
    only = {**OPTIONS, "compare": [name for name in STATE if name != "z_m"]}
    kw.identify(FlightLog("a.csv", few), "pelican", [*TRUE], out=tmp_path / "b", **only)


def test_a_log_without_commands_is_refused(table, tmp_path):
    log = flight_log(table)
    states = {name: own for name, own in log.signals.items() if not name.startswith("cmd_")}
    with pytest.raises(KittiwakeError, match="no column is a command"):
        kw.identify(FlightLog("a.csv", states), "pelican", ["attitude_gain"], out=tmp_path)
