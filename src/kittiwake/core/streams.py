"""Names of the random streams that are derived from one seed.

A stream's key is derived from its name (``core.keys``): with another name the same seed gives
another flight. Therefore these names never change, even when the scenario key or the class is
renamed.
"""

from enum import StrEnum

# renamed scenario keys, and the names under which their random draws are known
RENAMED_KEYS = {"center_world_m": "centre_world_m"}


class Stream(StrEnum):
    """A kind of random stream; several streams of a kind are distinguished by a suffix."""

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


def draw_stream(path: str, index: int | None) -> str:
    """Return the name of the stream that draws a number of a scenario, by its path and index."""
    keys = [RENAMED_KEYS.get(key, key) for key in path.split(".")]
    return f"{'.'.join(keys)}.{index}"
