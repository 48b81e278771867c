"""Validation of control values from browsers, for the controls of viser."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from kittiwake.cockpit.server import PageServer
from kittiwake.cockpit.values import MAX_CHARACTERS, is_allowed


@pytest.fixture(scope="module")
def server():
    found = PageServer()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def controls(server):
    gui = server.gui
    return {
        "dropdown": gui.add_dropdown("signal", ("none", "x_m")),
        "group": gui.add_button_group("flight", ("Pause", "Step")),
        "slider": gui.add_slider("roll", -22.5, 22.5, 0.5, 0.0),
        "number": gui.add_number("gain", 1.5),
        "vector": gui.add_vector3("gains", (1.0, 2.0, 3.0)),
        "box": gui.add_checkbox("trails", initial_value=True),
        "button": gui.add_button("Apply"),
        "text": gui.add_text("name", "gull"),
    }


ALLOWED = [
    ("dropdown", "x_m"),
    ("group", "Step"),
    ("slider", -22.5),
    ("slider", 22.500000001),
    ("number", -1e9),
    ("vector", [0.0, 1, 2.0]),
    ("box", False),
    ("button", True),
    ("text", ""),
]
REFUSED = [
    ("dropdown", "y_m"),
    ("dropdown", None),
    ("dropdown", ["x_m"]),
    ("group", "Fly"),
    ("slider", 23.0),
    ("slider", np.nan),
    ("slider", np.inf),
    ("slider", "1"),
    ("slider", True),
    ("number", np.nan),
    ("number", [1.0]),
    ("vector", [1.0, 2.0]),
    ("vector", [1, 2, np.nan]),
    ("vector", 3.0),
    ("box", "yes"),
    ("box", 1),
    ("text", 5),
    ("text", "x" * MAX_CHARACTERS * 2),
]


@pytest.mark.parametrize(("kind", "value"), ALLOWED)
def test_possible_values_are_allowed(controls, kind, value):
    assert is_allowed(controls[kind], {"value": value})


@pytest.mark.parametrize(("kind", "value"), REFUSED)
def test_impossible_values_are_refused(controls, kind, value):
    assert not is_allowed(controls[kind], {"value": value})


@pytest.mark.parametrize("updates", [{}, {"removed": True}, {"value": "x_m", "update_cb": []}])
def test_only_values_can_be_set(controls, updates):
    assert not is_allowed(controls["dropdown"], updates)


def test_a_refused_value_is_logged_and_ignored(server, controls, caplog):
    dropdown = controls["dropdown"]
    (handler,) = [
        one
        for kind, found in server.gui._websock_interface._incoming_handlers.items()
        if kind.__name__ == "GuiUpdateMessage"
        for one in found
    ]
    message = SimpleNamespace(uuid=dropdown._impl.uuid, updates={"value": "y_m"})
    asyncio.run(handler(0, message))
    assert dropdown.value == "none"
    assert "invalid control value from a page: {'value': 'y_m'}" in caplog.text
