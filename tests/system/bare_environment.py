"""Run commands one after the other, as JSON; a child process of ``test_bare_environment.py``.

Where ``BLOCKED_MODULES`` names modules, they cannot be imported, here and in further processes:
Python imports this file as ``sitecustomize`` from a folder that holds it under that name.
"""

import contextlib
import io
import json
import os
import sys
from importlib.abc import MetaPathFinder

BLOCKED = frozenset(os.environ.get("BLOCKED_MODULES", "").split())


class Refusal(MetaPathFinder):
    """Finds no module that an environment without extras does not have."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            message = f"No module named {name!r}"
            raise ModuleNotFoundError(message, name=name)


def done(main, arguments):
    """Status, output and errors of a command."""
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["kittiwake", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        except BaseException as error:  # what a process would end with
            status = f"{type(error).__name__}: {error}"
    return status, out.getvalue(), err.getvalue()


if BLOCKED:
    sys.meta_path.insert(0, Refusal())
if __name__ == "__main__":
    from kittiwake.cli import main

    sys.stdout.write(json.dumps([done(main, line) for line in json.loads(sys.argv[1])]))
