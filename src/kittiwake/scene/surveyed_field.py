"""Colors of the water by the first field of the world, as on the map of a survey."""

import numpy as np
from jaxtyping import Float64, UInt8

from kittiwake.analysis.plots.panels import ColorScale
from kittiwake.analysis.survey import TrueField
from kittiwake.scene.extent import extent_of
from kittiwake.scene.land import surveyed_waters
from kittiwake.scene.scene_state import FlightInfo
from kittiwake.world.field import FIELD, FieldProcess

# cells along the longer side
CELLS = 70


class SurveyedField:
    """Field on square cells that cover the surveyed waters, or else the extent of the flight.

    Attributes:
        name: its name.
        centers_world_m: east and north of each cell's center.
        cell_m: side of a cell.
    """

    def __init__(self, flight: FlightInfo, name: str, field: TrueField) -> None:
        self.name, self._field = name, field
        self._unit = str(field.field.kind.unit).replace("ug/", "µg/")
        waters = surveyed_waters(flight)
        low, high = (corner[:2] for corner in extent_of(flight)[:2])
        if waters:
            bounds = np.array([water.bounds for water in waters])
            low, high = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
        self.cell_m = float((high - low).max()) / CELLS
        east, north = (
            np.arange(begin + 0.5 * self.cell_m, end, self.cell_m)
            for begin, end in zip(low, high, strict=True)
        )
        centers = np.stack(np.meshgrid(east, north), axis=-1).reshape(-1, 2)
        if waters:
            import shapely

            # with the cells at the shore, where land is above the water
            covered = shapely.buffer(shapely.union_all(waters), 0.75 * self.cell_m)
            centers = centers[shapely.intersects_xy(covered, *centers.T)]
        self.centers_world_m: Float64[np.ndarray, "cells 2"] = centers
        self._scale = ColorScale.of(self._field.at(centers, 0.0))

    @property
    def text(self) -> str:
        """Name of the field, with the values of the darkest and of the brightest color."""
        low, high = self._scale.low, self._scale.high
        return f"{self.name}: dark {low:.3g}, bright {high:.3g} {self._unit}".rstrip()

    def rgb(self, time_s: float) -> UInt8[np.ndarray, "cells 3"]:
        """Return the color of each cell at a time."""
        from matplotlib import colormaps

        scale, values = self._scale, self._field.at(self.centers_world_m, time_s)
        share = (values - scale.low) / max(scale.high - scale.low, 1e-12)
        return colormaps[scale.colormap](share, bytes=True)[:, :3]


def surveyed_field(flight: FlightInfo) -> SurveyedField | None:
    """Return the first field of a world; None without one."""
    for name, process in flight.scenario.world.processes.items():
        if isinstance(process.component, FieldProcess):
            own = name.removeprefix(FIELD)
            field = TrueField.drawn_again(flight.scenario, own, flight.seed, single=False)
            return None if field is None else SurveyedField(flight, own, field)
    return None
