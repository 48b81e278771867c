"""``kittiwake check``: whether a scenario can be flown, without flying it."""

from typing import Annotated

import typer
from rich import print as show

Scenario = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="Library name, or path of a YAML file.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Replace a value, such as vehicles.pelican.start.yaw_deg=90. May be repeated.",
    ),
]


def check(scenario: Scenario, overrides: Overrides = None) -> None:
    """Check a scenario: every name, value, rate and rung, each mistake with its line."""
    from kittiwake.scenario.load import load_scenario

    loaded = load_scenario(scenario, overrides or [])
    loaded.check_flight()
    count = len(loaded.vehicles)
    show(
        f"{loaded.name}: can be flown. {count} vehicle{'s' if count > 1 else ''}, "
        f"{loaded.duration_s:g} s at {loaded.rate_hz:g} Hz, seed {loaded.seed}."
    )
