"""What the documentation shows can be copied: its Python runs, its scenarios and commands load."""

import ast
import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import jax
import pytest
from tests.system.commands import kittiwake_does
from tests.unit.tasks import scenes

import kittiwake as kw
from kittiwake.cli.list import KINDS, REGISTRIES
from kittiwake.scenario import library
from kittiwake.scenario.load import load_scenario
from kittiwake.vehicles import VEHICLES

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
PAGES = {path.name: path.read_text("utf-8") for path in FILES}
COMMAND = re.compile(r"^kittiwake (run|check|list|sweep|tune|identify) .*$", re.MULTILINE)
INPUTS = "time_s,pitch_rad,roll_rad,throttle,yaw_rate_radps,battery_v\n0,0,0,0.59,0,11\n1,,,,,\n"


def blocks(page, language):
    """The code blocks of a page in one language."""
    # all of them, so that the end of one is not taken for the beginning of another
    return [block for name, _, block in fences(page) if name == language]


def fences(page):
    """The language, the title and the text of each code block of a page."""
    return re.findall(r"^```(\w*)([^\n]*)\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)


def commands(verb):
    """Each line of the pages that runs one of the command line's verbs, as its arguments."""
    shown = [
        found.group()
        for page in PAGES
        for block in blocks(page, "")
        for found in COMMAND.finditer(block.replace("\\\n", ""))
        if found.group(1) == verb
    ]
    assert shown
    return [shlex.split(line, comments=True)[2:] for line in shown]


EXAMPLES = sorted(ROOT.glob("examples/**/*.py"))
SHOWN = {
    **{path.name: path.read_text("utf-8") for path in EXAMPLES},
    **{page: "\n".join(blocks(page, "python")) for page in PAGES},
}


@pytest.mark.parametrize("name", SHOWN)
def test_only_public_modules_are_imported(name):
    tree = ast.parse(SHOWN[name])
    imported = [
        node.module if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    own = [module for module in imported if module and module.split(".")[0] == "kittiwake"]
    private = [
        module
        for module in own
        # the adapters that pages on them describe, beside the package itself
        if module != "kittiwake" and not module.startswith("kittiwake.adapters.")
    ]
    assert private == []


# pages whose programs take half a minute to compile
LONG = {
    "compare.md",
    "concept-cascade.md",
    "concept-determinism.md",
    "concept-estimation.md",
    "from-crazyflow.md",
    "from-gym-pybullet-drones.md",
    "howto-gpu.md",
    "howto-task.md",
    "tutorial-control.md",
    "tutorial-learning.md",
    "tutorial-ros.md",
    "tutorial-swarm.md",
    "control-engineering.md",
    "flocking.md",
    "missions.md",
    "modes.md",
    "mppi.md",
    "python.md",
    "tasks.md",
}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page in LONG else [])
        for page in PAGES
        if blocks(page, "python")
    ],
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, printed = {}, ""
    with jax.enable_x64(False):  # as a reader's JAX is
        for language, title, block in fences(page):
            if language == "python":
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    exec(compile(block, page, "exec"), names)
                printed = output.getvalue()
            elif 'title="Output"' in title:
                assert printed == block
    assert "simulation" in names or printed


# a page on learning shows what is drawn for episodes, of which a flight warns
@pytest.mark.filterwarnings("ignore:.*applies only to the episodes of a task:UserWarning")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "yaml")])
def test_the_scenarios_of_a_page_can_be_flown(page, tmp_path):
    # files that a page's scenario shares with one of the library
    for file in library.FOLDER.glob("recorded-*.csv"):
        shutil.copyfile(file, tmp_path / file.name)
    for block in blocks(page, "yaml"):
        (tmp_path / "shown.yaml").write_text(block, encoding="utf-8")
        simulation = kw.load(tmp_path / "shown.yaml")
        simulation.scenario.check_flight()


RUNS = commands("run")


def test_a_resumed_run_is_one_that_is_shown_with_checkpoints():
    resumed = [arguments for arguments in RUNS if "--resume" in arguments]
    assert resumed
    for _, folder in resumed:
        assert any({"--checkpoint-every", "--out", folder} <= {*arguments} for arguments in RUNS)


# runs of what is shown to be tuned beside it
OF_TUNINGS = [
    own
    for own in RUNS
    if any(f"{folder}/scenario.yaml" in own for given in commands("tune") for folder in given)
]
# a run of a sweep that is shown beside it
OF_SWEEPS = [arguments for arguments in RUNS if "--run" in arguments]
SWEEPS = [arguments for arguments in commands("sweep") if "--resume" not in arguments]


def test_a_run_of_a_sweep_is_shown_beside_the_sweep():
    assert OF_SWEEPS
    folders = {arguments[arguments.index("--out") + 1] for arguments in SWEEPS}
    assert {folder for folder, *_ in OF_SWEEPS} <= folders | {"DIR"}


@pytest.mark.parametrize("arguments", SWEEPS, ids=" ".join)
def test_a_sweep_that_is_shown_can_be_flown(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = [*arguments]
    if "--ray" in few:
        pytest.importorskip("ray")
    for option in ("--seeds", "--runs", "--workers"):
        if option in few:
            few[few.index(option) + 1] = "1"
    assert kittiwake_does("sweep", *few).status == 0


@pytest.mark.parametrize("arguments", commands("tune"), ids=" ".join)
def test_a_tuning_that_is_shown_can_be_done(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = ("--evaluations", "1", "--seeds", "1", "--unseen", "1", "--set", "time.duration_s=30")
    assert kittiwake_does("tune", *arguments, *few).status == 0


@pytest.mark.parametrize("arguments", commands("identify"), ids=" ".join)
def test_an_identification_that_is_shown_can_be_done(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = arguments[0]
    (flown,) = [own for own in RUNS if "--out" in own and own[own.index("--out") + 1] == log]
    assert kittiwake_does("run", *flown, "--quiet").status == 0
    assert kittiwake_does("identify", *arguments, "--quiet").status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        own
        for own in RUNS
        if "--resume" not in own and own not in OF_SWEEPS and own not in OF_TUNINGS
    ],
    ids=" ".join,
)
def test_a_run_that_is_shown_can_be_flown(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("inputs.csv").write_text(INPUTS)
    if "policy=runs/ppo/policy.npz" in arguments:
        Path("runs/ppo").mkdir(parents=True)
        task = kw.make(arguments[0])
        counts = len(task.space.names), len(task.action_names)
        scenes.policy(Path("runs/ppo"), *counts, arguments[0])
    for block in (block for page in PAGES for block in blocks(page, "yaml")):
        (name,) = re.findall(r"^name: (\S+)", block, re.MULTILINE)
        Path(f"{name}.yaml").write_text(block, encoding="utf-8")
    name, *options = arguments
    items = [value for key, value in pairwise(options) if key == "--set"]
    load_scenario(name, items).check_flight()


PACKAGE = """
from pathlib import Path
from kittiwake.vehicles.model import VehicleModel
MINE = VehicleModel(Path(__file__).with_name("mine.toml"))
"""
MINE = """
name: mine
time: {rate_hz: 500, duration_s: 4}
vehicles:
  mine: {model: mine, start: {position_world_m: [0, 0, 5]}, guidance: {type: hold}}
"""


@pytest.fixture
def package_of_a_reader(tmp_path, monkeypatch):
    """The vehicle that is shown, in an installed package that registers it as it is shown."""
    data, project = blocks("rigid-bodies.md", "toml")
    points = tomllib.loads(project)["project"]["entry-points"]["kittiwake.vehicles"]
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    lines = [f"{name} = {target}" for name, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[kittiwake.vehicles]", *lines]))
    (tmp_path / "my_package.py").write_text(PACKAGE)
    (tmp_path / "mine.toml").write_text(data, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    # what was registered when the registry was first asked is remembered
    VEHICLES.__dict__.pop("entries", None)
    yield tmp_path
    VEHICLES.__dict__.pop("entries", None)
    sys.modules.pop("my_package", None)


def test_the_vehicle_file_that_is_shown_is_a_vehicle_that_hovers(package_of_a_reader):
    (package_of_a_reader / "mine.yaml").write_text(MINE)
    simulation = kw.load(package_of_a_reader / "mine.yaml")
    dynamics = simulation.scenario.vehicles["mine"].dynamics
    shown = tomllib.loads(blocks("rigid-bodies.md", "toml")[0])["parameters"]
    assert dynamics.mass_kg == shown["mass_kg"]
    assert dynamics.inertia_kgm2.zz == shown["inertia_kgm2"]["zz"]
    assert dynamics.rotor.max_speed_radps == shown["rotor"]["max_speed_radps"]
    assert [hub.array.tolist() for hub in dynamics.hubs_body_m] == shown["hubs_body_m"]
    assert len(dynamics.forces) == len(shown["forces"])
    # it begins with the rotors at the speed that carries it: nothing moves it from its place
    frame = simulation.run().frame("mine")
    assert frame["z_m"].sub(5.0).abs().max() < 1e-6
    speed = (shown["mass_kg"] * 9.81 / (4.0 * shown["rotor"]["thrust_ns2"])) ** 0.5
    assert frame["act_rotor_0_radps"].iloc[-1] == pytest.approx(speed, rel=1e-3)


def test_what_is_shown_to_be_listed_is_there():
    known = {*KINDS, *library.names(), *(n for registry in REGISTRIES for n in registry.entries)}
    assert {word for arguments in commands("list") for word in arguments} <= known


def first_cells(title):
    """The names in the first column of the tables of a section of the page on scenarios."""
    _, _, section = PAGES["scenarios.md"].partition(f"## {title}\n")
    rows = re.findall(r"^\| (\[?`.*?) \|", section.partition("\n## ")[0], re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_it_is_said_of_every_kind_where_it_goes():
    families = {registry.family for registry in REGISTRIES}
    assert first_cells("Component types and their keys") == families


def test_the_first_page_leads_to_all_pages_by_two_links():
    nav = re.findall(
        r"^ +- (?:.+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE
    )
    assert len(nav) > len(PAGES) // 2

    def linked(page):
        # links between pages, relative to the folder of the page
        text = (ROOT / "docs" / page).read_text("utf-8")
        folder = Path(page).parent
        found = re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", text)
        return {os.path.normpath(folder / target) for target in found}

    first = linked("index.md")
    # in the navigation a section is beside its first page, which leads to the others
    own = {path for path in first if (ROOT / "docs" / path).exists()}
    assert {*nav} - {"index.md"} <= first | {path for page in own for path in linked(page)}


def test_the_sensor_error_that_is_shown_acts_on_one_axis():
    names = {}
    for block in blocks("sensor-errors.md", "python"):
        exec(compile(block, "sensor-errors.md", "exec"), names)
    frame = names["simulation"].run(duration_s=2.0, seed=1).frame("pelican")
    for axis, wanted in {"x": 0.0, "y": 0.0, "z": 0.01}.items():
        column = f"imu.angular_velocity_{axis}_body_radps"
        error = frame[f"sensor.{column}"] - frame[f"ideal.{column}"]
        # white noise of 2e-4 rad/s in 101 samples: five standard errors of the mean
        assert error.mean() == pytest.approx(wanted, abs=5 * 2e-4 / 101**0.5)
