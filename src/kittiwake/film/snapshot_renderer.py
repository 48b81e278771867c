"""Pictures of a scenario from the rows of its vehicles, without a log."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float64, UInt8

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import Table
from kittiwake.film.camera_path import camera_path
from kittiwake.film.flight_renderer import FlightRenderer
from kittiwake.scenario.own_components.entries import as_file_data
from kittiwake.scenario.scenario import Scenario
from kittiwake.scene.log_playback import LogPlayback

FPS = 30.0


class SnapshotRenderer:
    """Renderer of all vehicles from their rows, whose columns begin with the time.

    Raises:
        MissingExtraError: if a required library is missing.
    """

    def __init__(
        self,
        scenario: Scenario,
        columns: Mapping[str, tuple[str, ...]],
        size: tuple[int, int],
    ) -> None:
        self._scenario, self._columns, self._size = scenario, columns, size
        self._renderer: FlightRenderer | None = None

    def picture(
        self, rows: Mapping[str, Float64[np.ndarray, " columns"]]
    ) -> UInt8[np.ndarray, "height width 3"]:
        """Return a picture with all vehicles in view."""
        tables = {name: Table(self._columns[name], row[None]) for name, row in rows.items()}
        log = Log(tables, (), as_file_data(self._scenario.document.data))
        playback = LogPlayback(log, self._scenario)
        if self._renderer is None:
            self._renderer = FlightRenderer(playback, log, self._size)
        width, height = self._size
        time_s = playback.span_s[0]
        (view,) = camera_path(
            playback,
            self._renderer.bodies,
            [time_s],
            aspect=width / height,
            fps=FPS,
            drifting=False,
        )
        return self._renderer.drawn(playback.scene_state(time_s), view)
