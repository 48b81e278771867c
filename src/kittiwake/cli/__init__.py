"""The command line, one file a command. Heavy libraries are imported when a command needs them."""

from kittiwake.cli.app import main as main
