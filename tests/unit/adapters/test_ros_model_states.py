"""Responses of get_model_state, in world axes and relative to another model."""

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
    # yawed by 90 degrees, moving east
    "one": {"x_m": 1.0, "y_m": 2.0, "z_m": 3.0, "qw": HALF, "qz": HALF, "vx_mps": 1.0},
    # level, two meters north of it, moving north, yawing to the left
    "two": {"x_m": 1.0, "y_m": 4.0, "z_m": 3.5, "qw": 1.0, "vy_mps": 1.0, "wz_radps": 0.5},
}


@pytest.fixture
def states():
    found = ModelStates(RosSettings())
    found.serve({"one": "one", "two": "two"}, dict.fromkeys(STATES, COLUMNS))
    found.update(
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


def get_state(states, model, relative):
    return states.get_model_state(SimpleNamespace(model_name=model, relative_entity_name=relative))


def close(found, **expected):
    assert found == {key: pytest.approx(value, abs=1e-12) for key, value in expected.items()}


@pytest.mark.parametrize("relative", ["", "world", "map"])
def test_model_state_is_in_world_axes_by_default(states, relative):
    found = get_state(states, "two", relative)
    close(found["pose"]["position"], x=1.0, y=4.0, z=3.5)
    close(found["twist"]["linear"], x=0.0, y=1.0, z=0.0)
    close(found["twist"]["angular"], x=0.0, y=0.0, z=0.5)
    assert found["header"]["frame_id"] == "world"


def test_model_state_can_be_relative_to_another_model(states):
    found = get_state(states, "two", "one")
    # north is ahead of it, and west is to its left
    close(found["pose"]["position"], x=2.0, y=0.0, z=0.5)
    close(found["pose"]["orientation"], w=HALF, x=0.0, y=0.0, z=-HALF)
    close(found["twist"]["linear"], x=1.0, y=1.0, z=0.0)
    close(found["twist"]["angular"], x=0.0, y=0.0, z=0.5)
    assert found["header"]["frame_id"] == "one"


def test_model_state_is_refused_before_the_flight():
    empty = ModelStates(RosSettings())
    empty.serve({"one": "one"}, {"one": COLUMNS})
    with pytest.raises(CommandError, match="has not started"):
        get_state(empty, "one", "")
