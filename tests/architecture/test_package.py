"""What strangers read and install: description, changelog, citation, examples and workflows."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from kittiwake.cli.app import app
from kittiwake.core.errors import ScenarioError

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REPOSITORY = PROJECT["urls"]["Source"]
README = (ROOT / "README.md").read_text()


def test_links_of_the_readme_are_absolute_and_lead_to_files():
    links = re.findall(r"\]\(([^)\s]+)\)", README)
    raw = REPOSITORY.replace("https://github.com", "https://raw.githubusercontent.com") + "/main/"
    own = [link for link in links if link.startswith((f"{REPOSITORY}/blob/main/", raw))]
    assert len(own) > 30
    assert [link for link in links if not link.startswith("https://")] == []
    files = [re.sub(rf"^({re.escape(REPOSITORY)}/blob/main/|{re.escape(raw)})", "", x) for x in own]
    assert [file for file in files if not (ROOT / file.partition("#")[0]).exists()] == []


def test_version_is_that_of_changelog_and_citation():
    version = PROJECT["version"]
    changelog = re.findall(r"^## \[(\d\S*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert changelog[0] == (version, str(citation["date-released"]))
    assert citation["version"] == version


def test_workflows_and_templates_are_valid_and_call_scripts_that_exist():
    files = sorted((ROOT / ".github").rglob("*.yml"))
    texts = {file.name: file.read_text() for file in files}
    assert {"release.yml", "oldest.yml", "bug.yml", "feature.yml"} <= texts.keys()
    assert all(yaml.safe_load(text) for text in texts.values())
    named = {script for text in texts.values() for script in re.findall(r"scripts/[\w-]+", text)}
    assert [script for script in named if not (ROOT / script).is_file()] == []


def test_copied_examples_are_those_of_the_repository_and_replace_nothing(tmp_path):
    run = CliRunner().invoke
    assert run(app, ["examples", "copy", "learning", str(tmp_path)]).exit_code == 0
    copied = tmp_path / "learning" / "ppo.py"
    assert copied.read_text() == (ROOT / "examples" / "learning" / "ppo.py").read_text()
    copied.write_text("mine")
    again = run(app, ["examples", "copy", "learning/ppo.py", str(copied.parent)])
    assert isinstance(again.exception, ScenarioError)
    assert "exists already" in str(again.exception)
    assert copied.read_text() == "mine"


def test_check_gives_its_findings_as_json():
    answer = CliRunner().invoke(app, ["check", "otter-in-waves", "--json"])
    found = json.loads(answer.stdout)
    assert found["engine"] == "simd"
    assert found["courses"][0]["duration_s"] == pytest.approx(found["courses"][0]["length_m"] / 1.2)


def test_the_dockerfile_copies_what_exists_and_names_real_extras():
    text = (ROOT / "Dockerfile").read_text()
    copied = [name for line in re.findall(r"^COPY (.*) \S+$", text, re.M) for name in line.split()]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    (extras,) = re.findall(r"^ARG EXTRAS=(\S+)$", text, re.M)
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()


@pytest.mark.slow
def test_the_container_flies():
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True).returncode:
        pytest.skip("Docker does not run here")
    built = subprocess.run([docker, "build", "-q", ROOT], capture_output=True, text=True)
    if built.returncode and re.search(r"resolve|timeout|registry", built.stderr):
        pytest.skip("the base image cannot be fetched")
    assert built.returncode == 0, built.stderr
    fly = [docker, "run", "--rm", built.stdout.strip(), "run", "hover-hummingbird", "--quiet"]
    subprocess.run(fly, check=True)
