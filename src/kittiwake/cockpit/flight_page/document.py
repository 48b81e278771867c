"""Flight page as one HTML file, which needs neither a server nor the internet.

The scene is drawn by the client of viser, which is one file with its scripts and fonts. Its worker
would receive messages from a server; ``player.js`` replaces it, and creates them from the recorded
scene. A content security policy forbids all requests.
"""

import base64
import json
import re
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import viser
from typing_extensions import override

from kittiwake.analysis.log import Log
from kittiwake.analysis.log_html import log_html
from kittiwake.analysis.output_file import write_text
from kittiwake.cockpit.flight_page.charts import chart_panels, marked_events
from kittiwake.cockpit.flight_page.recorder import (
    PATH_SPAN_S,
    Progress,
    RecordedScene,
    ignore_progress,
    record_scene,
)
from kittiwake.cockpit.flight_page.tracks import GRID, ArrayStore, store_numbers, store_track
from kittiwake.cockpit.recorded import playback_of
from kittiwake.cockpit.server import CONTENT_SECURITY_POLICY
from kittiwake.core.errors import CockpitError
from kittiwake.core.html import column_table, frame_of
from kittiwake.core.version import VERSION
from kittiwake.scene.log_playback import LogPlayback

PACKAGE = "kittiwake.cockpit.flight_page"
CLIENT = "client/build/index.html"
# the scripts before and after viser's own
FIRST_SCRIPT, LAST_SCRIPTS = "player.js", ("charts.js", "controls.js")
ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' "
    "rx='7' fill='#24608c'/><path d='M3 12q7-5 13 4 6-9 13-4-8 0-13 10-5-10-13-10z' "
    "fill='#fff'/></svg>"
)
HEIGHT_PX = 640
SPEEDS = (0.25, 0.5, 1, 2, 4, 8, 16)


class FlightPage:
    """Static page of a log, which a notebook shows as the last line of a cell."""

    def __init__(self, html: str) -> None:
        self.html = html

    @override
    def __repr__(self) -> str:
        return f"<FlightPage of {len(self.html) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        return frame_of(self.html, HEIGHT_PX)

    def save(self, path: str | Path) -> None:
        """Write the page into a file.

        Raises:
            LogError: if it cannot be written.
        """
        write_text(Path(path), self.html)


def flight_page(log: Log, progress: Progress = ignore_progress) -> FlightPage:
    """Return the static page of a log.

    Args:
        log: the log.
        progress: receives the numbers of the drawn frames and of all frames.

    Raises:
        LogError: if the log has no rows, or its scenario is unknown.
        CockpitError: if the installed viser has another client.
    """
    with TemporaryDirectory(prefix="kittiwake-") as folder:
        playback = playback_of(log, Path(folder))
        scene = record_scene(playback, progress)
        content = _content(log, playback, scene)
    name = playback.flight.scenario.name
    made = (
        f"Written by Kittiwake {VERSION} on {datetime.now(UTC):%Y-%m-%d}. "
        f"Scene: {_rate(scene.times_s):.3g} frames per second."
    )
    return FlightPage(_document(name, made, _summary(log, made), content))


def _rate(times_s: np.ndarray) -> float:
    return (len(times_s) - 1) / max(float(times_s[-1] - times_s[0]), 1e-9)


def _content(log: Log, playback: LogPlayback, scene: RecordedScene) -> bytes:
    """Return the data of the page: a length, a description in JSON, and numbers."""
    store, frames = ArrayStore(), len(scene.times_s)
    vehicles = list(playback.flight.scenario.vehicles)
    # of many vehicles only the recent paths are shown
    whole = scene.path_segments * 4 >= frames
    description = {
        "times": np.round(scene.times_s, 6).tolist(),
        "messages": [_described(message, store) for message in _with_camera(scene)],
        "tracks": [store_track(track, store, frames) for track in scene.tracks],
        "keyframes": [keys._asdict() for keys in scene.keyframes],
        "path_node": scene.path_node,
        "path_segments": scene.path_segments,
        "path_frames": frames if whole else max(2, round(PATH_SPAN_S * _rate(scene.times_s))),
        "positions": store_numbers(scene.positions_world_m, GRID, store),
        "vehicles": vehicles,
        "events": marked_events(log),
        "panels": chart_panels(log, playback.flight.scenario, store),
    }
    text = json.dumps(description, separators=(",", ":"), allow_nan=False).encode()
    length = len(text).to_bytes(8, "little")
    return length + text + bytes(-len(text) % 8) + store.content()


def _with_camera(scene: RecordedScene) -> list[dict[str, Any]]:
    position, target = scene.camera
    return [
        *scene.messages,
        {"type": "SetCameraPositionMessage", "position": position, "initial": False},
        {"type": "SetCameraLookAtMessage", "look_at": target, "initial": False},
    ]


def _described(value: Any, store: ArrayStore) -> Any:
    """Return a message for JSON, with references to its arrays."""
    if isinstance(value, np.ndarray):
        return {"$array": [value.dtype.str, store.add(value), value.nbytes]}
    if isinstance(value, bytes):
        return {"$bytes": [store.add(np.frombuffer(value, np.uint8)), len(value)]}
    if isinstance(value, Mapping):
        return {key: _described(one, store) for key, one in value.items()}
    return [_described(one, store) for one in value] if isinstance(value, list) else value


def _summary(log: Log, made: str) -> str:
    """Return the results of the vehicles and the events as tables."""
    rows = [(f"{one.time_s:.2f} s", one.vehicle, one.event) for one in log.events]
    events = column_table(("event", "vehicle", ""), rows, side="left") if rows else ""
    drawn = f"The scene is drawn by viser {viser.__version__}."
    return f"{log_html(log)}{events}<p>{escape(made)} {drawn}</p>"


def _document(name: str, made: str, summary: str, content: bytes) -> str:
    """Return viser's page with the title, the data and the controls of a flight."""
    client = (resources.files(viser) / CLIENT).read_text(encoding="utf-8")
    policy = "; ".join(
        f"{key} {source}".replace("'self' ", "").replace("'self'", "'none'")
        for key, source in CONTENT_SECURITY_POLICY.items()
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        f"<style>{_file('page.css')}</style><script>{_file(FIRST_SCRIPT)}</script>"
    )
    packed = base64.b64encode(zlib.compress(content, 9)).decode()
    scripts = "".join(f"<script>{_file(script)}</script>" for script in LAST_SCRIPTS)
    body = (
        f"{_controls(name, made, summary)}"
        f'<script type="text/plain" id="kw-data">{packed}</script>{scripts}'
    )
    icon = escape(f"data:image/svg+xml,{ICON}".replace("#", "%23"))
    changes = {
        r"<title>.*?</title>": f"<title>{escape(name)}</title>",
        r'<link\s+rel="icon".*?/>': f'<link rel="icon" href="{icon}" />',
        r'<meta charset="utf-8" />': f'<meta charset="utf-8" />{head}',
        r"</body>": f"{body}</body>",
    }
    for pattern, text in changes.items():
        client, count = re.subn(pattern, lambda _, new=text: new, client, count=1, flags=re.DOTALL)
        if count != 1:
            message = f"the page of viser {viser.__version__} has no {pattern}. Install viser 1.1."
            raise CockpitError(message)
    return client


def _controls(name: str, made: str, summary: str) -> str:
    """Return the heading, the place of the charts, the bar below, and the summary."""
    speeds = "".join(
        f'<option value="{speed}"{" selected" if speed == 1 else ""}>{speed:g}&times;</option>'
        for speed in SPEEDS
    )
    return f"""
<header class="kw" id="kw-head"><h1>{escape(name)}</h1><p>{escape(made)}</p>
<button id="kw-more">Summary</button></header>
<aside class="kw" id="kw-side"></aside>
<div class="kw" id="kw-wait">The flight is being unpacked…</div>
<footer class="kw" id="kw-bar"><button id="kw-play">Play</button>
<canvas id="kw-line" tabindex="0" role="slider" aria-label="time"></canvas>
<span id="kw-time"></span>
<select id="kw-speed" aria-label="speed">{speeds}</select>
<select id="kw-follow" aria-label="camera"><option value="">free camera</option></select>
<button id="kw-reset" title="Show the whole flight in the charts">Reset zoom</button></footer>
<section class="kw" id="kw-summary" hidden>{summary}</section>
"""


def _file(name: str) -> str:
    return (resources.files(PACKAGE) / name).read_text(encoding="utf-8")
