"""``kittiwake schema``: JSON Schema of scenario files."""

import json

import typer


def schema() -> None:
    """Print the JSON Schema of scenario files, with which editors complete and check them.

    In an editor with the YAML language server, write it to a file and begin a scenario with
    '# yaml-language-server: $schema=FILE'.
    """
    from kittiwake.scenario.json_schema import scenario_json_schema

    typer.echo(json.dumps(scenario_json_schema(), indent=1))
