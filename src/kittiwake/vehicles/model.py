"""Vehicle model: dynamics, parameters and default controllers."""

import tomllib
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kittiwake.core.parameters import Parameters
from kittiwake.interfaces.dynamics import AbstractDynamics


@dataclass(frozen=True)
class VehicleModel:
    """A vehicle model, as ``model: NAME`` in a scenario refers to it.

    The data file's ``[parameters]`` are those of the dynamics; a table ``[controllers.NAME]``
    contains this vehicle's gains for a controller.

    Attributes:
        dynamics: the class of the dynamics.
        data: the TOML file with its parameters.
        bridges: the controllers that every such vehicle has, from common command types to its
            actuator command.
        default_controller: the controller that is used if a scenario names none.
    """

    dynamics: type[AbstractDynamics]
    data: Path
    bridges: tuple[str, ...]
    default_controller: str

    def parameters(self) -> Parameters:
        """Return the parameters of the dynamics from the data file."""
        return self._section("parameters")

    def gains(self, controller: str) -> Parameters:
        """Return the gains of a controller from the data file; empty if it has none."""
        return self._section("controllers").get(controller, {})

    def _section(self, name: str) -> Parameters:
        return deepcopy(_tables(self.data).get(name, {}))


@cache
def _tables(path: Path) -> Parameters:
    """Return the contents of a data file of the package."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
