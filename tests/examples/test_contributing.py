"""Tutorial of CONTRIBUTING.md: its components work in a copy of the package as they are shown."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# a file's name, optionally with the registry in it, and the block that follows
SHOWN = re.compile(r"^`(\S+\.\w+)`(?:, in `(\w+)`)?\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMES = {
    "sensors": "airspeed",
    "controllers": "proportional-rates",
    "guidance": "ascend",
    "vehicles": "x500",
    "tasks": "climb",
}
QUICKLY = "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=0"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package and its contract tests, with the components of the tutorial."""
    root = tmp_path_factory.mktemp("copy")
    without = shutil.ignore_patterns("__pycache__")
    for folder in ("src/kittiwake", "tests/contract", "docs"):
        shutil.copytree(ROOT / folder, root / folder, ignore=without)
    for file in ("pyproject.toml", "tests/conftest.py"):
        shutil.copy(ROOT / file, root / file)
    for name, registry, block in SHOWN.findall(TEXT):
        path = root / name
        if registry:
            text = path.read_text(encoding="utf-8")
            start = text.index("    {\n", text.index(f"{registry} = ")) + len("    {\n")
            entry = textwrap.indent(block, 8 * " ")
            path.write_text(text[:start] + entry + text[start:], encoding="utf-8")
        else:
            assert not path.exists(), f"{name} is no new file"
            path.write_text(block, encoding="utf-8")
    return root


def output_in(copy, *arguments):
    """Return what a Python module prints in the copy."""
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "XLA_FLAGS": QUICKLY}
    answer = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout[-5000:] + answer.stderr[-5000:]
    return answer.stdout


def contract_tests(copy, *arguments):
    """Return the summary of contract tests in the copy, whose names and types are checked."""
    plain = ("-q", "-p", "no:cacheprovider")
    return output_in(copy, "pytest", *plain, *arguments).splitlines()[-1]


@pytest.mark.parametrize(("family", "name"), NAMES.items())
def test_a_component_of_the_tutorial_is_listed(copy, family, name):
    assert name in json.loads(output_in(copy, "kittiwake", "list", family, "--json"))


def test_a_table_of_parameters_follows_from_the_class(copy):
    assert "deviation_mps" in output_in(copy, "kittiwake", "list", "airspeed")


def test_the_scenario_of_the_tutorial_is_valid(copy):
    output_in(copy, "kittiwake", "check", "try.yaml")


def test_components_of_the_tutorial_pass_the_contracts_of_their_kind(copy):
    chosen = "(airspeed or proportional-rates or ascend) and (carry or declared or file or summary)"
    summary = contract_tests(
        copy, "tests/contract/test_components.py", "-k", chosen, "-m", "not slow"
    )
    assert " passed" in summary


@pytest.mark.slow  # as long as the contract tests of five components
def test_components_of_the_tutorial_pass_all_contracts(copy):
    marks = ("-m", "not release")
    for chosen in ("airspeed or proportional-rates or ascend or x500", "climb"):
        assert " passed" in contract_tests(copy, "tests/contract", "-k", chosen, *marks)
