"""A kind of vehicle: its dynamics, their parameters, and what flies it by default."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kittiwake.core.component import AbstractController, AbstractDynamics
from kittiwake.geometry.scalar import Real

Bridges = Callable[[AbstractDynamics, Real], tuple[AbstractController, ...]]


@dataclass(frozen=True)
class VehicleModel:
    """What a scenario's ``model: NAME`` means.

    Attributes:
        dynamics: the class whose parameters the data file gives.
        data: the TOML file that holds them.
        bridges: the controllers that the vehicle brings itself, from common rungs to its native
            one, by its dynamics and the world's gravity in m/s^2.
        default_controller: the controller taken when a scenario names none.
    """

    dynamics: type[AbstractDynamics]
    data: Path
    bridges: Bridges
    default_controller: str

    def parameters(self) -> Mapping[str, Any]:
        """The dynamics' parameters as the data file gives them."""
        return self.section("parameters")

    def section(self, name: str) -> dict[str, Any]:
        """A table of the data file; empty if it has none of this name."""
        return tomllib.loads(self.data.read_text(encoding="utf-8")).get(name, {})
