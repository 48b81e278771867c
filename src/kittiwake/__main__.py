"""Entry point of ``python -m kittiwake``, which is the command ``kittiwake``."""

from kittiwake.cli import main

main()
