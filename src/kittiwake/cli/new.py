"""``kittiwake new``: a scenario file of one's own, from one of the library."""

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

from kittiwake.core.errors import ScenarioError

DEFAULT = "hover-hummingbird"
HEADER = """\
# {name}: fly it with `kittiwake run {file}`, check it with `kittiwake check {file}`.
# `kittiwake list` names what may stand for each component, `kittiwake list NAME` its parameters
# with units and bounds, and `kittiwake schema` prints a schema for editors.
"""
NAME_LINE = re.compile(r"^name:.*$", re.MULTILINE)


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new scenario.")],
    source: Annotated[
        str, typer.Option("--from", metavar="SCENARIO", help="Library scenario to start from.")
    ] = DEFAULT,
) -> None:
    """Write NAME.yaml, a copy of a library scenario with comments, to start from."""
    from kittiwake.scenario.load import find, load_scenario
    from kittiwake.scenario.schema import check_name

    check_name(name)
    path = find(source)
    scenario = load_scenario(source)
    target = Path(f"{name}.yaml")
    copies = {Path(file.name): file for file in scenario.tables.values()}
    for file in (target, *copies):
        if file.exists():
            message = f"{file} exists already; choose another name, or remove it"
            raise ScenarioError(message)
    for copy, file in copies.items():
        shutil.copyfile(file, copy)
    text = NAME_LINE.sub(f"name: {name}", path.read_text("utf-8"), count=1)
    target.write_text(HEADER.format(name=name, file=target) + text, "utf-8")
    typer.echo(f"{target}: from {source}. Fly it: kittiwake run {target}")
