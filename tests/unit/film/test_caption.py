"""Words in pictures."""

import numpy as np

from kittiwake.film.caption import Caption, Label, Mark, captioned

GRAY = np.full((360, 640, 3), 120, np.uint8)
BLUE = (30, 60, 220)


def changed(caption, picture=GRAY):
    return (captioned(picture, caption) != picture).any(axis=2)


def test_the_title_is_in_one_corner_and_the_time_in_the_other():
    where = changed(Caption("pair", "4.0 s"))
    assert where[:60, :200].any()
    assert where[:60, -200:].any()
    assert not where[60:].any()


def test_the_given_picture_is_not_modified():
    picture = GRAY.copy()
    captioned(picture, Caption("pair", "4.0 s"))
    assert np.array_equal(picture, GRAY)


def test_events_are_stacked_with_the_latest_at_the_bottom():
    one, two = (changed(Caption("", "", news)) for news in (["first"], ["first", "second"]))
    assert one[-40:].any()
    assert np.nonzero(two)[0].min() < np.nonzero(one)[0].min() - 5


def test_a_name_has_its_color_around_it():
    picture = captioned(GRAY, Caption("", "", labels=[Label("ann", 320.0, 180.0, BLUE)]))
    blue = (picture[..., 2] > 190) & (picture[..., 0] < 80)
    rows, columns = np.nonzero(blue)
    assert abs(columns.mean() - 320.0) < 5.0
    assert 160.0 < rows.mean() < 180.0


def test_names_at_the_same_position_are_stacked():
    here = Label("ann", 320.0, 180.0, BLUE)
    alone = changed(Caption("", "", labels=[here]))
    both = changed(Caption("", "", labels=[here, here._replace(text="bob")]))
    height = np.ptp(np.nonzero(alone)[0])
    assert np.ptp(np.nonzero(both)[0]) > 1.8 * height


def test_a_name_outside_of_the_picture_is_not_written():
    assert not changed(Caption("", "", labels=[Label("ann", -300.0, 180.0, BLUE)])).any()


def test_a_mark_is_a_dot_in_its_color():
    picture = captioned(GRAY, Caption("", "", marks=[Mark(320.0, 180.0, BLUE)]))
    np.testing.assert_array_equal(picture[180, 320], BLUE)
    rows, columns = np.nonzero((picture != GRAY).any(axis=2))
    assert np.ptp(rows) == np.ptp(columns) < 10
