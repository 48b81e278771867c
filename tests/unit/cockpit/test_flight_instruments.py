"""Artificial horizon and compass as SVG."""

import re
from math import nan, pi, radians
from xml.etree import ElementTree

import pytest

from kittiwake.cockpit.flight_instruments import (
    compass_point,
    compass_svg,
    heading_deg,
    horizon_svg,
    wind_from_deg,
)


def test_a_level_horizon_is_in_the_middle():
    assert 'transform="rotate(0.0) translate(0 0.0)"' in horizon_svg(0.0, 0.0)
    assert "-0.0" not in horizon_svg(-0.0, -0.0)


def test_the_horizon_rises_when_the_nose_is_lowered():
    assert "rotate(0.0) translate(0 -10.0)" in horizon_svg(0.0, radians(10.0))


def test_the_right_end_of_the_horizon_rises_when_the_right_side_is_lowered():
    # SVG turns clockwise
    assert "rotate(-20.0)" in horizon_svg(radians(20.0), 0.0)


def test_headings_are_clockwise_from_north():
    found = [heading_deg(yaw) for yaw in (0.0, pi / 2, pi, -pi / 2)]
    assert found == pytest.approx([90.0, 0.0, 270.0, 180.0])


def test_the_direction_of_a_wind_is_where_it_comes_from():
    assert wind_from_deg(3.0, 0.0) == pytest.approx(270.0)
    assert wind_from_deg(0.0, -2.0) == pytest.approx(0.0)
    assert [compass_point(angle) for angle in (0.0, 44.0, 271.0, 359.0)] == ["N", "NE", "W", "N"]


def test_the_wind_turns_with_the_rose_of_the_compass():
    # flying north: a wind from the west blows from left to right
    image = compass_svg(pi / 2, (3.0, 0.0))
    assert '<g transform="rotate(0)">' in image
    assert 'class="kw-wind" transform="rotate(270)"' in image
    # flying west, the same wind is a head wind
    assert '<g transform="rotate(-270)">' in compass_svg(pi, (3.0, 0.0))


@pytest.mark.parametrize("wind", [None, (0.0, 0.0)])
def test_no_wind_has_no_arrow(wind):
    assert "kw-wind" not in compass_svg(0.0, wind)


@pytest.mark.parametrize("image", [horizon_svg(nan, 0.0), compass_svg(nan, (1.0, 2.0))])
def test_unknown_attitudes_are_pale_images(image):
    assert "nan" not in image
    assert "opacity" in image


@pytest.mark.parametrize("image", [horizon_svg(0.3, -0.2), compass_svg(2.0, (1.0, 2.0))])
def test_images_are_well_formed_and_small(image):
    assert ElementTree.fromstring(image).tag == "svg"
    assert len(image) < 1800
    assert not re.search(r"\d\.\d{4}", image)
