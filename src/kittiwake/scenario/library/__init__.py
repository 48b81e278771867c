"""Library of scenarios in the package, one YAML file each."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path

FOLDER = Path(str(files(__name__)))
GROUPS_FILE = "groups.toml"
DESCRIPTION = re.compile(r"^description: *(.+)$", re.MULTILINE)


def names() -> list[str]:
    """Return the names of the library's scenarios."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def summaries() -> dict[str, str]:
    """Return each scenario's description by name, without building the scenarios."""
    return {name: _description((FOLDER / f"{name}.yaml").read_text("utf-8")) for name in names()}


def groups() -> dict[str, list[str]]:
    """Return the names by the titles of their groups; the first group is where to start."""
    return tomllib.loads((FOLDER / GROUPS_FILE).read_text("utf-8"))


def _description(text: str) -> str:
    found = DESCRIPTION.search(text)
    return found.group(1) if found else ""
