"""Export of the selected vehicle's rows from the page."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kittiwake.analysis.export import write_csv
from kittiwake.analysis.log import Log
from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.cockpit.time_source import TimeSource
from kittiwake.core.errors import LogError
from kittiwake.scene.scene_state import SceneState

LAST_S = 20.0
WHOLE, LAST = "whole flight", f"last {LAST_S:g} s"


class ExportPanel:
    """CSV of the selected vehicle: of the whole flight so far, or up to the time shown."""

    def __init__(self, context: PanelContext, source: TimeSource) -> None:
        self._context, self._source = context, source
        self._time_s = 0.0
        buttons = context.gui.add_button_group("Save CSV", (WHOLE, LAST))
        buttons.on_click(context.user_action(self._save))

    def update(self, scene_state: SceneState) -> None:
        """Note the time that is shown."""
        self._time_s = scene_state.time_s

    def _save(self, event: ControlEvent) -> None:
        begin_s, end_s = self._source.span_s
        if event.target.value == LAST:
            begin_s, end_s = self._time_s - LAST_S, self._time_s
        content = csv_of(self._source.log(), self._context.selected, begin_s, end_s)
        name = f"{self._context.flight.scenario.name}-{self._context.selected}.csv"
        event.client.send_file_download(name, content, save_immediately=True)


def csv_of(log: Log, vehicle: str, begin_s: float, end_s: float) -> bytes:
    """Return a vehicle's rows between two times as ``kittiwake export`` writes them.

    Raises:
        LogError: if the log has no such vehicle yet.
    """
    if vehicle not in log.tables:
        message = f"the log has no rows of '{vehicle}' yet; wait a moment"
        raise LogError(message)
    table = log.tables[vehicle]
    times_s = table.part(("time_s",))[:, 0]
    part = replace(table, values=table.values[(times_s >= begin_s) & (times_s <= end_s)])
    with TemporaryDirectory(prefix="kittiwake-") as folder:
        return write_csv(Log({vehicle: part}), vehicle, Path(folder, "rows.csv")).read_bytes()
