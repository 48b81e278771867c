"""A kind of vehicle: its dynamics, their parameters, and what flies it by default."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from kittiwake.core.component import AbstractController, AbstractDynamics

Bridges = Callable[[AbstractDynamics], tuple[AbstractController, ...]]


@dataclass(frozen=True)
class VehicleModel:
    """What a scenario's ``model: NAME`` means.

    Attributes:
        dynamics: the class whose parameters the data file gives.
        data: the name of the TOML file in ``vehicles/data``.
        bridges: controllers that the vehicle brings itself, from common rungs to its native one.
        default_controller: the controller taken when a scenario names none.
    """

    dynamics: type[AbstractDynamics]
    data: str
    bridges: Bridges
    default_controller: str

    def parameters(self) -> Mapping[str, Any]:
        """The dynamics' parameters as the data file gives them."""
        text = files("kittiwake.vehicles").joinpath("data", self.data).read_text(encoding="utf-8")
        return tomllib.loads(text)["parameters"]
