"""Without any extra every command works, or names the extra that it needs."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CHILD = Path(__file__).with_name("bare_environment.py")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
# keep-spot with nothing but the truth, which compiles in half the time
FLIGHT = (
    *("keep-spot", "--duration", "0.1", "--quiet"),
    *("--set", "vehicles.pelican.sensors={}", "--set", "vehicles.pelican.estimator=truth"),
)
# a command, and the extra that it needs; the first one writes the folder "run"
COMMANDS = {
    ("run", *FLIGHT, "--out", "run"): None,
    ("--help",): None,
    ("list",): None,
    ("list", "gnss"): None,
    ("examples",): None,
    ("examples", "copy", "gradient.py"): None,
    ("check", "survey-lake"): "survey",
    ("check", "inertial-sensors"): "magnetic",
    ("check", "waypoint-tour", "--json"): None,
    ("check", "camera-over-deck"): None,
    ("schema",): None,
    ("new", "mine"): None,
    ("plot", "run"): None,
    ("plot", "run", "--film"): "film",
    ("plot", "run", "--film", "--format", "gif"): "film",
    ("plot", "run", "--still", "0"): "film",
    ("plot", "run", "--html"): "cockpit",
    ("export", "run", "--to", "csv"): None,
    ("export", "run", "--to", "mcap"): None,
    ("export", "run", "--to", "foxglove"): None,
    ("export", "run", "--to", "parquet"): "data",
    ("export", "run", "--to", "rosbag1"): "bags",
    ("export", "run", "--to", "rosbag2"): "bags",
    ("view", "--no-browser"): "cockpit",
    ("view", "run", "--no-browser"): "cockpit",
    ("view", "keep-spot", "--no-browser"): "cockpit",
    ("view", "keep-spot", "--joystick", "--no-browser"): "cockpit",
    ("run", *FLIGHT, "--live", "--no-browser", "--out", "live"): "cockpit",
    ("run", *FLIGHT, "--live", "--joystick", "--no-browser", "--out", "live"): "cockpit",
    ("serve", *FLIGHT, "--joystick", "--out", "stick"): "gamepad",
    ("serve", *FLIGHT, "--mavlink", "--out", "mav"): "mavlink",
    ("run", *FLIGHT, "--set", "physics=mujoco", "--out", "contact"): "mujoco",
    ("run", "camera-over-deck", "--quiet", "--out", "camera"): "camera",
    ("sweep", "keep-spot", "--seeds", "2", "--out", "swept"): "data",
    ("run", "pelican-playback", "--duration", "4", "--quiet", "--out", "flown"): None,
    (
        *("identify", "flown", "--vehicle", "pelican", "--free", "attitude_gain"),
        *("--rate", "50", "--quiet", "--out", "identified"),
    ): None,
    ("reproduce", "matlab-drone", "--quiet", "--out", "reproduced"): None,
    ("tune", "hover", "--free", "world.gravity_mps2", "--method", "cma-es"): "tune",
    ("hub", "--base-port", "0", "--duration", "0.01", "--quiet"): None,
    ("bench", "deck-landing-mujoco"): "mujoco",
}
LONG_COMMANDS = {
    ("compare", "keep-spot", "--controllers", "qrsim-waypoint", "--out", "compared"): None,
    ("bench", "rollout-1"): None,
    ("serve", "flock-hub-8", "--hub", "--duration", "1", "--quiet", "--out", "hub"): None,
}


def closure(requirements):
    """The distributions that come with these, by their canonical names."""
    found, wanted = set(), [(Requirement(text), "") for text in requirements]
    while wanted:
        requirement, extra = wanted.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # of another platform
            continue
        extras = requirement.extras or {""}
        if {(name, one) for one in extras} <= found:
            continue
        found |= {(name, one) for one in extras}
        wanted += [(Requirement(text), one) for text in needed for one in extras]
    return {name for name, _ in found}


def run_all(python, commands, folder, environment: Mapping[str, str]):
    """What each of these commands answers, in an empty folder."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), **environment}
    environment.pop("PYTEST_XDIST_WORKER", None)
    child = subprocess.run(
        [python, CHILD, json.dumps([*commands])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert child.returncode == 0, child.stderr
    return dict(zip(commands, json.loads(child.stdout), strict=True))


def check_answer(answer, extra):
    status, _, err = answer
    assert "Traceback" not in err
    # what a comparison leaves out without an extra, it says
    err = re.sub(r"Warning: the roughness is left out.*'kittiwake\[statistics\]'\.\n", "", err)
    if extra is None:
        assert (status, err.replace("measuring", "").strip()) == (0, "")
        return
    assert status in (1, 2), err  # 1: `bench` flies its other cases all the same
    packages = {canonicalize_name(Requirement(text).name) for text in EXTRAS[extra]}
    (said,) = re.findall(r"this needs (\S+)\. Install it with: pip install '(\S+)'", err)
    assert said[0] in packages
    assert said[1] == f"kittiwake[{extra}]"


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Of all quick commands, where what only extras bring cannot be imported."""
    folder = tmp_path_factory.mktemp("bare")
    hook = folder / "hook"
    hook.mkdir()
    shutil.copy(CHILD, hook / "sitecustomize.py")
    core = closure(PROJECT["dependencies"]) | {"kittiwake"}
    blocked = [
        module
        for module, names in metadata.packages_distributions().items()
        if not core & set(map(canonicalize_name, names))
    ]
    environment = {
        "PYTHONPATH": f"{hook}{os.pathsep}{ROOT / 'src'}",
        "BLOCKED_MODULES": " ".join(blocked),
    }
    return run_all(sys.executable, COMMANDS, folder, environment)


@pytest.mark.parametrize(
    ("command", "extra"), [*COMMANDS.items()], ids=[" ".join(words) for words in COMMANDS]
)
def test_a_command_works_without_extras_or_names_the_one_it_needs(command, extra, answers):
    check_answer(answers[command], extra)


@pytest.mark.parametrize(
    "statement",
    [
        "import kittiwake.adapters.gymnasium",
        "import kittiwake.adapters.pettingzoo",
        "import kittiwake; kittiwake.register_envs()",
    ],
)
def test_an_adapter_names_the_extra_when_it_is_asked_for(statement, tmp_path):
    shutil.copy(CHILD, tmp_path / "sitecustomize.py")
    child = subprocess.run(
        [sys.executable, "-c", statement],
        env={
            **os.environ,
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'src'}",
            "BLOCKED_MODULES": "gymnasium pettingzoo",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    last = child.stderr.strip().splitlines()[-1]
    assert last.startswith("kittiwake.core.errors.MissingExtraError: this needs ")
    assert last.endswith("Install it with: pip install 'kittiwake[learning]'")


def test_every_command_is_tried(answers):
    helped = answers["--help",][1]
    tried = {words[0] for words in [*COMMANDS, *LONG_COMMANDS]}
    assert set(re.findall(r"│ ([a-z]+) ", helped)) <= tried


def test_a_wheel_alone_works_or_names_the_extra(tmp_path):
    """The wheel in an environment of its own, with the dependencies and no extra."""
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "-q", "-w", tmp_path, ROOT], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("kittiwake-*.whl")
    venv.create(tmp_path / "env", with_pip=True, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--no-deps", "--no-index", "-q", wheel]
    subprocess.run(install, check=True, capture_output=True)
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    for name in closure(PROJECT["dependencies"]):
        for file in metadata.files(name) or ():
            here, there = (
                site / file.parts[0],
                Path(str(metadata.distribution(name).locate_file(""))),
            )
            if file.parts[0] != ".." and not here.exists():
                here.symlink_to(there / file.parts[0])
    commands = COMMANDS | LONG_COMMANDS
    found = run_all(python, commands, tmp_path, {"PYTHONPATH": ""})
    for command, extra in commands.items():
        check_answer(found[command], extra)


def test_all_holds_every_extra_but_those_of_gpus_and_clusters():
    (together,) = map(Requirement, EXTRAS["all"])
    assert together.name == "kittiwake"
    assert together.extras == set(EXTRAS) - {"all", "cluster", "cuda"}


def test_the_readme_names_every_extra():
    table = (ROOT / "README.md").read_text().split("| extra | for |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(EXTRAS)
