"""A kind of vehicle: its dynamics, their parameters, and what flies it by default."""

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kittiwake.interfaces.dynamics import AbstractDynamics


@dataclass(frozen=True)
class VehicleModel:
    """What a scenario's ``model: NAME`` means.

    The data file's ``[parameters]`` are those of the dynamics; a table ``[controllers.NAME]`` holds
    this vehicle's gains for a controller.

    Attributes:
        dynamics: the class whose parameters the data file gives.
        data: the TOML file that holds them.
        bridges: the controllers that it brings itself, from common rungs to its native one.
        default_controller: the controller taken when a scenario names none.
    """

    dynamics: type[AbstractDynamics]
    data: Path
    bridges: tuple[str, ...]
    default_controller: str

    def parameters(self) -> Mapping[str, Any]:
        """The dynamics' parameters as the data file gives them."""
        return self._section("parameters")

    def gains(self, controller: str) -> Mapping[str, Any]:
        """What the data file gives a controller; empty if it says nothing of it."""
        return self._section("controllers").get(controller, {})

    def _section(self, name: str) -> dict[str, Any]:
        return deepcopy(_tables(self.data).get(name, {}))


@cache
def _tables(path: Path) -> dict[str, Any]:
    """What a data file of the package holds, which every vehicle of its model asks for."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
