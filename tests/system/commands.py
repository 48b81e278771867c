"""Runs the command line in the process of a test."""

import contextlib
import io
import sys
from typing import NamedTuple

import pytest

from kittiwake.cli import main


class Answer(NamedTuple):
    """Exit status and output of a command."""

    status: int
    out: str
    err: str


def kittiwake_does(*arguments):
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["kittiwake", *map(str, arguments)])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
                status = 0
            except SystemExit as ended:
                status = ended.code or 0
    return Answer(status, out.getvalue(), err.getvalue())
