"""Where Gazebo's service says that models are, in the axes of the world and of another model."""

from math import sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from kittiwake.adapters.ros.model_states import ModelStates
from kittiwake.analysis.table import STATE_COLUMNS
from kittiwake.core.errors import CommandError
from kittiwake.scenario.ros_settings import RosSettings

HALF = sqrt(0.5)
COLUMNS = list(STATE_COLUMNS)
STATES = {
    # yawed by a quarter of a turn to the left, on its way east
    "one": {"x_m": 1.0, "y_m": 2.0, "z_m": 3.0, "qw": HALF, "qz": HALF, "vx_mps": 1.0},
    # level, two meters north of it, on its way north, turning left
    "two": {"x_m": 1.0, "y_m": 4.0, "z_m": 3.5, "qw": 1.0, "vy_mps": 1.0, "wz_radps": 0.5},
}


@pytest.fixture
def states():
    found = ModelStates({"one": "one", "two": "two"}, dict.fromkeys(STATES, COLUMNS), RosSettings())
    found.watch(
        {
            name: np.array(
                [
                    [0.0] * len(COLUMNS),
                    [state.get(c, 2.0 if c == "time_s" else 0.0) for c in COLUMNS],
                ]
            )
            for name, state in STATES.items()
        }
    )
    return found


def asked(states, model, relative):
    return states.answer(SimpleNamespace(model_name=model, relative_entity_name=relative))


def close(found, **expected):
    assert found == {key: pytest.approx(value, abs=1e-12) for key, value in expected.items()}


@pytest.mark.parametrize("relative", ["", "world", "map"])
def test_poses_and_twists_are_those_of_the_world(states, relative):
    found = asked(states, "two", relative)
    close(found["pose"]["position"], x=1.0, y=4.0, z=3.5)
    close(found["twist"]["linear"], x=0.0, y=1.0, z=0.0)
    close(found["twist"]["angular"], x=0.0, y=0.0, z=0.5)
    assert found["header"]["frame_id"] == "world"


def test_they_are_relative_to_another_model(states):
    found = asked(states, "two", "one")
    # what is north of it is ahead, what goes west goes to its left
    close(found["pose"]["position"], x=2.0, y=0.0, z=0.5)
    close(found["pose"]["orientation"], w=HALF, x=0.0, y=0.0, z=-HALF)
    close(found["twist"]["linear"], x=1.0, y=1.0, z=0.0)
    close(found["twist"]["angular"], x=0.0, y=0.0, z=0.5)
    assert found["header"]["frame_id"] == "one"


def test_before_the_flight_there_is_no_state():
    empty = ModelStates({"one": "one"}, {"one": COLUMNS}, RosSettings())
    with pytest.raises(CommandError, match="has not begun"):
        asked(empty, "one", "")
