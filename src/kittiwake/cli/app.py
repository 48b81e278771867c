"""``kittiwake``: all commands, and the exit status of errors."""

import sys
from typing import Annotated

import typer

import kittiwake
from kittiwake.cli import BAD_INPUT
from kittiwake.cli.bench import bench
from kittiwake.cli.check import check
from kittiwake.cli.compare import compare
from kittiwake.cli.examples import examples
from kittiwake.cli.export import export
from kittiwake.cli.hub import hub
from kittiwake.cli.identify import identify
from kittiwake.cli.list import list_
from kittiwake.cli.new import new
from kittiwake.cli.option_errors import Command
from kittiwake.cli.plot import plot
from kittiwake.cli.reproduce import reproduce
from kittiwake.cli.run import run
from kittiwake.cli.schema import schema
from kittiwake.cli.serve import serve
from kittiwake.cli.sweep import sweep
from kittiwake.cli.tune import tune
from kittiwake.cli.view import view
from kittiwake.core.errors import KittiwakeError

app = typer.Typer(
    name="kittiwake",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(requested: bool | None) -> bool:  # noqa: FBT001 (typer calls it so)
    if requested:
        typer.echo(f"kittiwake {kittiwake.__version__}")
        raise typer.Exit
    return False


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Simulate quadrotors and surface vessels from scenario files."""
    del version


COMMANDS = (
    run,
    list_,
    check,
    new,
    schema,
    compare,
    sweep,
    tune,
    identify,
    reproduce,
    plot,
    export,
    view,
    bench,
    serve,
    hub,
)
for command in COMMANDS:
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
app.add_typer(examples, name="examples")


def run_command() -> int:
    """Run one command and return its status; bad input prints one message."""
    try:
        app()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except KittiwakeError as error:
        sys.stderr.writelines(f"{line}\n" for line in (error, *getattr(error, "__notes__", ())))
        return BAD_INPUT
    except OSError as error:
        prefix = f"{error.filename}: " if error.filename and error.strerror else ""
        sys.stderr.write(f"{prefix}{error.strerror or error}\n")
        return BAD_INPUT
    return 0
