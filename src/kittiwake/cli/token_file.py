"""Secrets in files, which clients of the hub and of a page have to know."""

import os
import stat
from pathlib import Path

import typer

from kittiwake.core.errors import HubError


def read_token(file: Path) -> str:
    """Return the secret in a file; warn if other users can read the file.

    Raises:
        HubError: if it is not UTF-8 text.
    """
    try:
        if os.name == "posix" and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            typer.echo(f"{file}: other users can read it; run chmod 600 {file}", err=True)
        return file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        message = f"{file} is not UTF-8 text; write a secret of letters and digits into it"
        raise HubError(message) from None
