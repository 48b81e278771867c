"""Vehicle models: dynamics, parameters and default controllers, each in one data file."""

import tomllib
from copy import deepcopy
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from kittiwake.core.errors import ScenarioError
from kittiwake.core.parameters import Parameters
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.physics import DYNAMICS


class VehicleModel:
    """A vehicle model, as ``model: NAME`` in a scenario refers to it.

    The file's ``dynamics`` is the name of the class of its dynamics, whose parameters are in the
    table ``[parameters]``. ``bridges`` are the controllers that every such vehicle has, from common
    command types to its actuator command; ``default_controller`` is used if a scenario names none.
    A table ``[controllers.NAME]`` contains this vehicle's gains for a controller.

    Args:
        data: the TOML file.
    """

    def __init__(self, data: Path) -> None:
        self.data = data

    @cached_property
    def dynamics(self) -> type[AbstractDynamics]:
        """Class of the dynamics."""
        return DYNAMICS.find(self._required("dynamics"))

    @property
    def builtin_controllers(self) -> tuple[str, ...]:
        """Names of the controllers that every such vehicle has."""
        return tuple(self._required("bridges"))

    @property
    def default_controller(self) -> str:
        """Name of the controller that is used if a scenario names none."""
        return self._required("default_controller")

    def parameters(self) -> Parameters:
        """Return the parameters of the dynamics."""
        return deepcopy(self._tables.get("parameters", {}))

    def gains(self, controller: str) -> Parameters:
        """Return the gains of a controller; empty if the file has none."""
        return deepcopy(self._tables.get("controllers", {}).get(controller, {}))

    def _required(self, key: str) -> Any:
        if key not in self._tables:
            message = f"{self.data.name}: `{key}` is missing; write it before the first table"
            raise ScenarioError(message)
        return self._tables[key]

    @cached_property
    def _tables(self) -> Parameters:
        return tomllib.loads(self.data.read_text(encoding="utf-8"))


@cache
def library_model(file: str) -> VehicleModel:
    """Return the vehicle model of a data file of the package."""
    return VehicleModel(Path(__file__).with_name("data") / file)
