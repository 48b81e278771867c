"""``python -m kittiwake``: the same as the command ``kittiwake``."""

from kittiwake.cli import main

main()
