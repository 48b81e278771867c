"""Names of the random streams that follow from one seed.

A stream's key follows from its name (``core.keys``), so these names are part of what a seed means:
with another name the same seed gives another flight. They stay as they are when the key in scenario
files or the class behind them is renamed.
"""

from enum import StrEnum

# keys of scenario files that were renamed, and the names under which draws of them are known
RENAMED_KEYS = {"center_world_m": "centre_world_m"}


class Stream(StrEnum):
    """One kind of stream; several of a kind are told apart by a part behind a dot."""

    # of a vehicle
    DYNAMICS = "dynamics"
    TURBULENCE = "turbulence"
    SENSOR = "sensor"
    SENSOR_ERROR = "error"
    ESTIMATOR = "estimator"
    GUIDANCE = "guidance"
    CONTROLLER = "controller"
    AVOIDANCE = "avoidance"
    # of a world: satellites, waves, terrain, plumes.NAME, fields.NAME, radio
    WORLD = "world"
    # below the stream of a component
    INIT = "init"
    STEP = "step"
    # of a task
    TASK = "commander"
    RANDOMIZE = "randomise"
    VARIANT = "variant"
    STARTS = "starts"
    FLEET = "fleet"
    GOAL = "goal"

    def of(self, part: str | int) -> str:
        """Return the name of one of several streams of this kind."""
        return f"{self.value}.{part}"


def draw_stream(path: str, place: int | None) -> str:
    """Return the name of the stream that draws a number of a scenario: its path, and its place."""
    keys = [RENAMED_KEYS.get(key, key) for key in path.split(".")]
    return f"{'.'.join(keys)}.{place}"
