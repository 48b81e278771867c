"""``kittiwake examples``: the example scripts and notebooks, listed and copied."""

import ast
import json
import shutil
from pathlib import Path
from typing import Annotated

import typer

import kittiwake
from kittiwake.cli.option_errors import Command
from kittiwake.core.errors import ScenarioError, did_you_mean

SUFFIXES = {".py", ".ipynb"}

examples = typer.Typer(
    help="List the example scripts and notebooks, or copy them.", invoke_without_command=True
)


@examples.callback()
def list_examples(context: typer.Context) -> None:
    """List the example scripts and notebooks, or copy them."""
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for name, path in example_files().items():
        table.add_row(name, Text(_summary(path)))
    console = Console()
    console.print(table, "", sep="\n")
    console.print("Copy one: kittiwake examples copy NAME. Copy all: kittiwake examples copy")


@examples.command("copy", cls=Command)
def copy(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="File or folder to copy; all by default."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Folder to copy to; default here, or examples for all."),
    ] = None,
) -> None:
    """Copy examples; files that exist already are never replaced."""
    files = example_files()
    chosen = [found for found in files if name in (None, found, found.partition("/")[0])]
    if not chosen:
        known = did_you_mean(str(name), [*files], "kittiwake examples")
        message = f"there is no example '{name}'. {known}"
        raise ScenarioError(message)
    target = folder or Path("examples" if name is None else ".")
    alone = [*chosen] == [name]
    copies = {target / (Path(found).name if alone else found): files[found] for found in chosen}
    existing = [copied for copied in copies if copied.exists()]
    if existing:
        message = f"{existing[0]} exists already; name another folder, or remove it"
        raise ScenarioError(message)
    for copied, original in copies.items():
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(original, copied)
        typer.echo(copied)


def example_files() -> dict[str, Path]:
    """Return the paths of all examples by name.

    Raises:
        ScenarioError: if they are not installed.
    """
    package = Path(kittiwake.__file__).parent
    # a wheel holds them in the package, a checkout beside src
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / "fly_a_scenario.py").is_file():
            found = [path for path in sorted(folder.rglob("*")) if path.suffix in SUFFIXES]
            return {path.relative_to(folder).as_posix(): path for path in found}
    message = "the examples are not installed; reinstall Kittiwake from its wheel or a checkout"
    raise ScenarioError(message)


def _summary(path: Path) -> str:
    """Return the first line of an example's description."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    first = json.loads(text)["cells"][0]["source"]
    return "".join(first).strip().partition("\n")[0].lstrip("# ")
