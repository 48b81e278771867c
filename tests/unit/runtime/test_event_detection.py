"""Events in the rows of a flight, each reported once over several blocks."""

import numpy as np

from kittiwake.analysis.table import Event
from kittiwake.runtime.event_detection import EarlyEnd, EventDetector
from kittiwake.runtime.row_layout import RowLayout

COLUMNS = ("time_s", "landings", "touch_speed_mps", "touched_deck", "touch_offset_m", "status")
AIRBORNE = (0.0, 0.0, 0.0, 0.0)
ON_GROUND = (1.0, 0.71234, 0.0, 0.0)
ON_DECK = (2.0, 0.25, 1.0, 0.0512)


def detector_of(**others):
    columns = {"tern": COLUMNS, **others}
    empty = dict.fromkeys(columns, ())
    return EventDetector(RowLayout(columns, empty, empty, empty, empty), fails_when_lost=True)


def block(begins_s, *rows):
    times = begins_s + 0.5 * np.arange(len(rows))
    return np.array([(time_s, *row, 0.0) for time_s, row in zip(times, rows, strict=True)])


def no_violations():
    raise AssertionError


def test_each_landing_is_an_event_with_its_speed_and_position_on_a_deck():
    detector = detector_of()
    rows = block(0.0, AIRBORNE, ON_GROUND, ON_GROUND, ON_DECK)
    kept, early_end = detector.detect({"tern": rows}, no_violations)
    assert early_end is None
    assert kept["tern"] is rows
    assert detector.events == [
        Event(0.5, "tern", "touched down at 0.712 m/s"),
        Event(1.5, "tern", "touched down at 0.25 m/s, 0.0512 m from the deck's center"),
    ]


def test_a_landing_is_reported_once_over_several_blocks():
    detector = detector_of()
    for begins_s in (0.0, 1.0, 2.0):
        detector.detect({"tern": block(begins_s, ON_GROUND, ON_GROUND)}, no_violations)
    assert [event.time_s for event in detector.events] == [0.0]


def test_landings_of_several_vehicles_are_reported_in_order_of_time():
    detector = detector_of(gull=COLUMNS, vessel=("time_s", "status"))
    blocks = {
        "tern": block(0.0, AIRBORNE, AIRBORNE, ON_GROUND),
        "gull": block(0.0, AIRBORNE, ON_GROUND, ON_GROUND),
        "vessel": np.array([(0.0, 0.0), (0.5, 0.0), (1.0, 0.0)]),
    }
    detector.detect(blocks, no_violations)
    assert [(event.time_s, event.vehicle) for event in detector.events] == [
        (0.5, "gull"),
        (1.0, "tern"),
    ]


def test_a_vehicle_that_touches_with_its_top_down_has_turned_over_once_each_time():
    columns = ("time_s", "qx", "qy", "contact", "status")
    detector = detector_of(tern=columns)
    upright, aloft, down, aside = (0.0, 0.0, 4.0), (1.0, 0.0, 0.0), (0.6, 0.5, 2.0), (0.5, 0.4, 2.0)
    rows = [upright, aloft, down, down, aside, down]
    detector.detect({"tern": block(0.0, *rows)}, no_violations)
    detector.detect({"tern": block(3.0, down, upright)}, no_violations)
    assert [(event.time_s, event.event) for event in detector.events] == [
        (1.0, "turned over"),
        (2.5, "turned over"),
    ]


def test_a_fix_that_is_lost_and_found_again_is_reported_over_blocks():
    columns = {"tern": ("time_s", "sensor.gnss.valid", "status")}
    layout = RowLayout(columns, {"tern": ()}, {"tern": ()}, {}, {"tern": ("gnss",)})
    detector = EventDetector(layout, fails_when_lost=True)
    for begins_s, flags in ((0.0, (1.0, 1.0, 0.0)), (1.5, (0.0, 0.0)), (2.5, (1.0, 1.0))):
        rows = block(begins_s, *((flag,) for flag in flags))
        detector.detect({"tern": rows}, no_violations)
    assert detector.events == [
        Event(1.0, "tern", "gnss lost its fix"),
        Event(2.5, "tern", "gnss has a fix"),
    ]


def test_a_flight_until_done_ends_with_its_last_vehicle():
    columns = dict.fromkeys(("tern", "gull"), ("time_s", "guidance.finished", "status"))
    columns["vessel"] = ("time_s", "status")
    empty = dict.fromkeys(columns, ())
    layout = RowLayout(columns, empty, empty, empty, empty)
    detector = EventDetector(layout, fails_when_lost=True, until_done=True)
    first = {
        "tern": block(0.0, (0.0,), (1.0,)),
        "gull": block(0.0, (0.0,), (0.0,)),
        "vessel": block(0.0, (), ()),
    }
    assert detector.detect(first, no_violations)[1] is None
    second = {
        "tern": block(1.0, (1.0,), (1.0,), (1.0,)),
        "gull": block(1.0, (0.0,), (1.0,), (1.0,)),
        "vessel": block(1.0, (), (), ()),
    }
    kept, early_end = detector.detect(second, no_violations)
    assert early_end == EarlyEnd("completed", None)
    assert {name: rows[-1, 0] for name, rows in kept.items()} == dict.fromkeys(columns, 1.5)
