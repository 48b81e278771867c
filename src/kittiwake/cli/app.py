"""``kittiwake``: the commands, and how mistakes end."""

import sys

import typer

from kittiwake.cli.bench import bench
from kittiwake.cli.check import check
from kittiwake.cli.export import export
from kittiwake.cli.list import list_
from kittiwake.cli.plot import plot
from kittiwake.cli.run import run
from kittiwake.core.errors import KittiwakeError

BAD_INPUT = 2

app = typer.Typer(
    name="kittiwake",
    help="Simulate quadrotors and surface vessels from scenario files.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run)
app.command(name="list")(list_)
app.command()(check)
app.command()(plot)
app.command()(export)
app.command()(bench)


def main() -> None:
    """Runs one command; bad input prints one message and ends with status 2."""
    try:
        app()
    except KittiwakeError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(BAD_INPUT)
    except OSError as error:
        sys.stderr.write(f"{error.filename or 'a file'}: {error.strerror or error}\n")
        sys.exit(BAD_INPUT)
