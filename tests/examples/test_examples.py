"""The examples run as a reader would run them, and what they print is true."""

import importlib.util
import os
import re
import subprocess
import sys
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.scenario.files.networks import read_network

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONGEST_LINES = 60


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Runs an example in an empty folder: what it printed, and the folder."""

    @cache
    def run(name):
        folder = tmp_path_factory.mktemp(name)
        answer = subprocess.run(
            [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py")],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert answer.returncode == 0, answer.stderr
        assert answer.stderr == ""
        return answer.stdout, folder

    return run


def numbers(pattern, text):
    """What the groups of a pattern hold, for each place where it is found."""
    found = [tuple(map(float, match.groups())) for match in re.finditer(pattern, text)]
    assert found, text
    return found


def test_every_example_is_tested():
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES} <= tests


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_shows(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_LINES
    assert text.startswith('"""')


def test_step_and_record(printed):
    out, folder = printed("step_and_record")
    ((end_s, height_m),) = numbers(r"After (\d+) s the Hummingbird is (\d+\.\d+) m high", out)
    assert end_s == 4
    # it follows a command without velocity, which ends at 4 m, by more than a second later
    assert 3.0 < height_m < 4.0
    assert "The 1001 rows of the restored flight are the same." in out
    assert kw.Log.read(folder / "climb").summary["steps"] == 2000


def test_fly_a_scenario(printed):
    out, folder = printed("fly_a_scenario")
    times = [time for time, _ in numbers(r"(\d+\.\d+) s  pelican reached waypoint (\d)", out)]
    assert len(times) == 5
    assert times == sorted(times)
    assert "The flight of 90 s completed." in out
    # the legs of the tour are 179 m long and its highest place is at 22 m
    ((length_m, height_m),) = numbers(r"was (\d+) m long and up to (\d+\.\d) m high", out)
    assert 170 < length_m < 200
    assert 22 < height_m < 24
    assert (folder / "tour.png").read_bytes().startswith(b"\x89PNG")


def test_own_controller(printed):
    out, _ = printed("own_controller")
    rows = numbers(r"(\d+\.\d) s +(\d+\.\d+) m from the goal", out)
    assert [time for time, _ in rows] == [2, 4, 6, 8, 10]
    misses = [miss for _, miss in rows]
    assert misses == sorted(misses, reverse=True)
    # the start is 5.4 m from the goal; process noise leaves a few centimeters
    assert misses[0] < 5.4
    assert misses[-1] < 0.15


def test_hummingbird_circle(printed):
    out, folder = printed("hummingbird_circle")
    assert out.split()[:4] == ["h", "own", "lee", "position"]
    # from rest, on a circle of 1 m
    ((own_m, lee_m, position_m),) = numbers(r"RMS \(m\) +(\S+) +(\S+) +(\S+)\n", out)
    assert own_m < 0.1
    assert max(lee_m, position_m) < 0.4
    assert (folder / "circle.png").read_bytes().startswith(b"\x89PNG")


def test_the_program_is_at_most_as_long_as_that_of_rotorpy():
    page = (ROOT / "docs" / "from-rotorpy.md").read_text("utf-8")
    assert '--8<-- "examples/hummingbird_circle.py"' in page
    (theirs,) = re.findall(r'=== "RotorPy"\n\n    ```python\n(.*?)\n    ```', page, re.DOTALL)
    own = (ROOT / "examples" / "hummingbird_circle.py").read_text("utf-8")
    assert len(own.splitlines()) <= len(theirs.splitlines())


def test_own_sensor(printed):
    out, _ = printed("own_sensor")
    ((echoes, all_echoes, noise_cm),) = numbers(r"(\d+) echoes of (\d+), .* by (\d+\.\d) cm", out)
    # three tenths are lost, give or take four standard deviations
    assert abs(echoes / all_echoes - 0.7) < 4 * (0.7 * 0.3 / all_echoes) ** 0.5
    # the noise, and the ground on which the cone of a tilted body ends
    assert 1.5 < noise_cm < 5.0


@pytest.mark.slow  # compiles two flights with an estimator each
def test_own_estimator(printed):
    out, _ = printed("own_estimator")
    (fix_m,), (estimate_m,) = numbers(r"scatters by (\d+\.\d+) m", out)
    # at about 1 m/s and two fixes per second
    assert 0.2 < fix_m < 0.6
    assert estimate_m < 0.65 * fix_m


def test_own_guidance(printed):
    out, _ = printed("own_guidance")
    ((east_m, west_m),) = numbers(r"flew (\S+) m to the east and (\S+) m to the west", out)
    # the figure reaches 2 m, and the vehicle swings a little beyond it
    assert 1.8 < east_m < 2.5
    assert 1.8 < west_m < 2.5
    ((rms_cm,),) = numbers(r"(\d+) cm from the setpoint", out)
    assert rms_cm < 60


@pytest.mark.slow
def test_monte_carlo(printed):
    out, _ = printed("monte_carlo")
    assert "200 flights of 20 s" in out
    rows = numbers(r"(-?\d+\.\d+) m, give or take (\d+\.\d+) m", out)
    assert len(rows) == 3
    for (mean, spread), wanted in zip(rows, (0.0, 0.0, 10.0), strict=True):
        assert 0.005 < spread < 0.1
        # five standard errors of a mean of 200, and the printed digits
        assert abs(mean - wanted) < 5 * spread / 200**0.5 + 0.001


@pytest.mark.slow
def test_gradient(printed):
    out, _ = printed("gradient")
    rows = numbers(r"gain (\S+) 1/s: ends (\S+) m from the goal, slope (\S+) m\^2 s", out)
    assert len(rows) == 8
    misses = [miss for _, miss, _ in rows]
    assert misses == sorted(misses, reverse=True)
    assert misses[-1] < 0.5 * misses[0]
    # each slope is the difference quotient up to the curvature between two gains
    for (gain, miss, slope), (gain_after, miss_after, slope_after) in pairwise(rows):
        quotient = (miss_after**2 - miss**2) / (gain_after - gain)
        assert slope * 1.1 < quotient < slope_after * 0.9


@pytest.mark.slow
def test_own_component(printed):
    out, _ = printed("own_component")
    ((rms_cm,),) = numbers(r"held the position to (\d+\.\d) cm", out)
    assert 0.1 < rms_cm < 10.0


def test_hub_client(printed):
    said, _ = printed("hub_client")
    off_cm = float(re.search(r"is ([\d.]+) cm from the target", said).group(1))
    assert off_cm < 20.0


@pytest.mark.slow
def test_read_a_log(printed):
    out, folder = printed("read_a_log")
    assert "log.mcap, scenario.yaml, summary.json" in out
    assert (folder / "three" / "log.mcap").is_file()
    assert "501 rows of 3 vehicles: pelican-1, pelican-2, pelican-3." in out
    drifts = numbers(r"pelican-\d drifted (\d+\.\d) cm at most", out)
    assert len(drifts) == 3
    assert all(0.1 < drift < 50.0 for (drift,) in drifts)
    assert "cm/s on average" in out


@pytest.mark.slow
def test_linear_model(printed):
    out, _ = printed("linear_model")
    pitches = numbers(r"m/s: pitch (-?\d+\.\d) deg", out)
    assert [pitch for (pitch,) in pitches] == sorted(pitch for (pitch,) in pitches)
    ((rise_s, settling_s),) = numbers(r"rises in (\d+\.\d+) s, settles in (\d+\.\d+) s", out)
    assert 0.1 < rise_s < settling_s < 10.0


@pytest.mark.slow
def test_read_a_sensor(printed):
    out, _ = printed("read_a_sensor")
    report = r"(\d+) measurements of the wall had an error of (\d+\.\d) cm"
    ((readings, error_cm),) = numbers(report, out)
    ((miss_cm,),) = numbers(r"kept its distance to (\d+\.\d) cm", out)
    # 180 samples, of which a fifth is lost; five standard errors of each
    assert abs(readings - 144) < 5 * (180 * 0.8 * 0.2) ** 0.5
    assert abs(error_cm - 3.0) < 5 * 3.0 / (2 * readings) ** 0.5
    assert miss_cm < error_cm


@pytest.fixture(scope="module")
def ppo():
    """The example of learning as a module."""
    spec = importlib.util.spec_from_file_location("ppo", ROOT / "examples" / "learning" / "ppo.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def leniently(single_precision):
    """JAX as a reader has it."""
    del single_precision
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield


@pytest.mark.usefixtures("leniently")
@pytest.mark.slow
def test_a_learned_policy_is_saved_as_plain_arrays(ppo, tmp_path):
    spot = kw.make("keep-spot", conditions="noiseless", overrides={"time.duration_s": 0.2})
    settings = ppo.Settings(envs=4, steps=8, epochs=1, batches=2, width=8)
    learner, curve = ppo.train(spot, settings, minutes=10.0, steps=3 * 4 * 8)
    assert curve[-1, 1] == 3 * 4 * 8
    ppo.save(tmp_path, "keep-spot", learner, curve)
    network = read_network(tmp_path / "policy.npz")
    assert network.task == "keep-spot"
    seen = np.linspace(-1.0, 1.0, spot.observation_size, dtype=np.float32)
    wanted = learner.policy.actor(learner.scale.apply(seen))
    np.testing.assert_allclose(network(jnp.asarray(seen)), wanted, rtol=0, atol=1e-6)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    rows = np.loadtxt(tmp_path / "curve.csv", delimiter=",", skiprows=1, ndmin=2)
    np.testing.assert_allclose(rows, curve, rtol=1e-6)


@pytest.fixture
def slow_compiler(ppo, monkeypatch):
    """Learning by a clock in which compiling takes 100 s and an update 10 s."""

    class Clock:
        now_s = 0.0

        def passes(self, seconds):
            self.now_s += seconds

    clock = Clock()

    class Ppo:
        def __init__(self, env, settings):
            self.learner = SimpleNamespace(scale=SimpleNamespace(batches=0))

        def begin(self, seed):
            clock.passes(100.0)
            return self.learner

        def compiled_update(self, learner):
            clock.passes(100.0)
            return self.update

        def update(self, learner, left):
            clock.passes(10.0)
            learner.scale.batches += 1
            return learner, (1, -3.0)

    monkeypatch.setattr(ppo, "Ppo", Ppo)
    monkeypatch.setattr(ppo.time, "monotonic", lambda: clock.now_s)
    monkeypatch.setattr(ppo.kw, "make", lambda *_, **__: SimpleNamespace(name="keep-spot"))


@pytest.mark.usefixtures("slow_compiler")
def test_the_time_of_learning_counts_from_the_first_update(ppo):
    learner, curve = ppo.train(None, ppo.Settings(), minutes=1.0)
    assert learner.scale.batches == 6
    np.testing.assert_array_equal(curve[:, 0], [10, 20, 30, 40, 50, 60])


@pytest.mark.usefixtures("slow_compiler")
def test_learning_without_an_update_says_so_and_saves_nothing(ppo, tmp_path, monkeypatch):
    out = tmp_path / "ppo"
    monkeypatch.setattr(ppo, "train", lambda *_: (ppo.Ppo(None, None).begin(0), np.zeros((0, 3))))
    monkeypatch.setattr(sys, "argv", ["ppo.py", "keep-spot", "--out", str(out)])
    with pytest.raises(SystemExit) as ended:
        ppo.main()
    # text as the status is printed, and the status then is 1
    assert str(ended.value.code).startswith("Nothing was learned or saved")
    assert not out.exists()


@pytest.mark.usefixtures("leniently")
def test_a_policy_without_a_finished_episode_is_saved_without_a_curve(ppo, tmp_path):
    spot = kw.make("keep-spot", conditions="noiseless")
    policy = ppo.Policy(spot, ppo.Settings(width=8), jax.random.key(0))
    seen = jnp.zeros(spot.observation_size)
    learner = SimpleNamespace(policy=policy, scale=ppo.Scale(seen, seen + 1.0, jnp.ones(())))
    ppo.save(tmp_path, "keep-spot", learner, np.zeros((0, 3)))
    assert [path.name for path in tmp_path.iterdir()] == ["policy.npz"]


@pytest.mark.slow
@pytest.mark.usefixtures("leniently")
def test_a_policy_learns_to_keep_its_spot(ppo):
    make = partial(kw.make, "keep-spot", conditions="noiseless")
    eased = make(overrides=ppo.TRAINING["keep-spot"])
    learner, _ = ppo.train(eased, ppo.Settings(), minutes=10.0, steps=8e6)
    env = make()
    act = lambda _, seen, __: learner.policy.actor(learner.scale.apply(seen))  # noqa: E731
    returned, lost = ppo.evaluate(env, act, episodes=4)
    assert lost == 0.0
    # at the end within a meter, at little effort; random actions end with a loss
    assert returned > -1.0
