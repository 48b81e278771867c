"""Objects as notebooks show them."""

from html.parser import HTMLParser

import pytest
from IPython.core.formatters import DisplayFormatter

import kittiwake as kw
from kittiwake.analysis.log import Log

BOLD = "<b>gull</b>"


class Spring:
    """Controller of one's own."""

    def update(self, t_s, setpoint, estimate):
        return kw.AccelerationYaw(setpoint.position_world_m - estimate.position_world_m, 0.0)


class Rows(HTMLParser):
    """Rows of all tables of a page, each as its cells."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.tags = [], set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows:
            self.rows[-1][-1] += data


def shown(thing):
    """What a notebook shows of an object."""
    return Rows(DisplayFormatter().format(thing)[0]["text/html"])


@pytest.fixture(scope="module")
def scenario():
    hummingbird = kw.Vehicle(
        model="hummingbird",
        start={"position_world_m": [0, 0, 5]},
        sensors={"imu": kw.sensors.Imu(rate_hz=50)},
        controllers=[Spring()],
        guidance={"type": "hold"},
    )
    return kw.Scenario(
        world=kw.World(wind=kw.environment.ConstantWind(speed_mps=1, from_deg=45)),
        vehicles={"h": hummingbird},
        description=BOLD,
        rate_hz=50,
        duration_s=0.2,
        seed=3,
    )


@pytest.fixture(scope="module")
def simulation(scenario):
    return kw.Simulation(scenario)


def test_a_scenario_shows_times_with_units_and_the_components_of_vehicles(scenario):
    rows = shown(scenario).rows
    for fact in (
        ["duration", "0.2 s"],
        ["physics rate", "50 Hz"],
        ["seed", "3"],
        ["world", "wind"],
    ):
        assert fact in rows
    assert ["h", "1", "hummingbird", "Spring", "hold", "default", "imu"] in rows


def test_a_simulation_shows_its_scenario_and_precision(scenario, simulation):
    rows = shown(simulation).rows
    assert ["precision", "float64"] in rows
    assert [row for row in rows if row[0] != "precision"] == shown(scenario).rows


def test_a_description_is_text(scenario):
    assert "b" not in shown(scenario).tags


def test_a_fleet_is_one_row():
    rows = shown(kw.load("flock-1000", precision="float32").scenario).rows
    assert "1000" in {row[1] for row in rows}
    assert len(rows) < 20


@pytest.mark.slow
def test_a_log_shows_its_end_and_the_results_of_vehicles(simulation):
    log = simulation.run()
    rows = shown(log).rows
    for fact in (["status", "completed"], ["duration", "0.2 s"], ["seed", "3"], ["rows", "11"]):
        assert fact in rows
    titles, results = rows[-2:]
    assert titles[1] == "x, y, z at endm"
    assert (results[0], results[-1]) == ("h", "yes")
    assert len(results[1].split(", ")) == 3
    picture, _ = DisplayFormatter().format(log.plot())
    assert picture["image/png"].startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_log_without_summary_shows_its_rows(simulation):
    bare = Log(simulation.run().tables, complete=False)
    rows = shown(bare).rows
    assert ["status", "cut off"] in rows
    assert ["h", "11"] in rows


def test_a_steady_state_and_its_linear_model_show_their_numbers():
    point = kw.trim("pelican")
    rows = shown(point).rows
    assert ["number", "value"] in rows
    assert ["start.position_z_world_m", "10"] in rows
    assert any(row[0].startswith("cmd_") for row in rows)
    model = kw.linearize(point)
    facts = dict(shown(model).rows)
    assert "velocity_x_body_mps (m/s)" in facts["states"]
    assert {"inputs", "outputs", "left out"} <= facts.keys()


def test_an_environment_shows_actions_and_observations_with_their_ranges():
    rows = shown(kw.make("keep-spot")).rows
    assert ["scenario", "keep-spot"] in rows
    names = [row[0] for row in rows]
    assert "pitch_rad" in names
    assert {"action", "observation"} <= set(names)
    low, high = (float(number) for number in rows[names.index("pitch_rad")][1:])
    assert low == -high < 0.0
