"""Properties that sensors declare for pictures and ROS: noise, beams and fields of view."""

import math
from typing import ClassVar

import jax
import numpy as np
import pytest
from tests.contract.operating_points import CRUISING
from tests.contract.surroundings import to_measure

from kittiwake.core.measurements import RangeMeasurement, RangesMeasurement
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.sensors import SENSORS
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.range_camera import RangeCamera
from kittiwake.sensors.sonar_cone import SonarCone
from kittiwake.sensors.ultrasonic_array import UltrasonicArray
from kittiwake.sensors.ultrasonic_fan import UltrasonicFan

PERIOD_S = 0.02
KEYS = jax.random.split(jax.random.key(2), 4000)


class Rangefinder(AbstractSensor):
    """A sensor that declares its beams, and nothing else."""

    measures: ClassVar[type] = RangeMeasurement
    beams_body: tuple[Vec3, ...] = (Vec3(0.0, 0.0, -1.0),)
    mount: Mount = Mount(Vec3(0.1, 0.2, 0.3))

    def step(self, state, inputs, dt_s, key):
        raise NotImplementedError

    def beam_directions_body(self):
        return self.beams_body


class Rangefinders(Rangefinder):
    measures: ClassVar[type] = RangesMeasurement


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["imu", "imu-qrsim", "imu-micklisch", "barometer", "barometer-micklisch", "beacon"]
)
def test_samples_have_the_declared_deviation(name):
    sensor = SENSORS.find(name)()
    inputs, state = to_measure(CRUISING, 0), sensor.init(KEYS[0])
    measured = jax.vmap(lambda key: sensor.step(state, inputs, PERIOD_S, key)[1])(KEYS)
    declared = sensor.noise_deviations(PERIOD_S)
    assert declared
    for field, deviation in declared.items():
        for axis in jax.tree.leaves(getattr(measured, field)):
            # of 4000 samples: 1.1 % of standard error; a drift of a minute and more adds less
            assert np.std(axis) == pytest.approx(float(deviation), rel=0.06)


def test_a_sensor_without_a_declaration_has_no_known_noise():
    assert Rangefinder().noise_deviations(PERIOD_S) == {}


def test_a_single_beam_starts_at_the_mount_and_has_no_name():
    ((name, beam),) = Rangefinder().beam_geometry().items()
    assert (name, beam.element) == ("", "")
    assert beam.position_body_m == Vec3(0.1, 0.2, 0.3)
    assert beam.direction_body == Vec3(0.0, 0.0, -1.0)
    assert not beam.sound


def test_several_beams_are_numbered_as_in_the_measurement():
    axes = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
    beams = Rangefinders(axes).beam_geometry()
    assert list(beams) == ["beam_0", "beam_1"]
    assert [beam.element for beam in beams.values()] == ["0", "1"]
    assert [beam.direction_body for beam in beams.values()] == list(axes)


def test_one_beam_of_a_measurement_of_several_is_numbered():
    assert [beam.element for beam in Rangefinders().beam_geometry().values()] == ["0"]


def test_an_array_has_its_sensors_at_their_positions():
    array = UltrasonicArray()
    beams = array.beam_geometry()
    assert list(beams) == ["front", "bottom", "left", "right", "back"]
    for name, beam in beams.items():
        assert beam.position_body_m == getattr(array, name).position_body_m
        assert beam.sound


def test_fans_start_on_their_ring():
    fan = UltrasonicFan(ring_radius_m=0.3, mount=Mount(Vec3(0.0, 0.0, 0.1)))
    for beam in fan.beam_geometry().values():
        out = beam.position_body_m - Vec3(0.0, 0.0, 0.1)
        np.testing.assert_allclose(out.array, (beam.direction_body * 0.3).array, atol=1e-12)
        assert beam.opening_rad == fan.horizontal_rad


def test_a_cone_opens_by_twice_its_half_angle():
    ((_, beam),) = SonarCone(half_angle_rad=0.2).beam_geometry().items()
    assert beam.opening_rad == pytest.approx(0.4)


def test_depths_along_the_axis_are_stretched_to_the_pixels():
    camera = RangeCamera(width=3, height=1, horizontal_field_of_view_rad=math.radians(90.0))
    beams = camera.beam_geometry()
    assert list(beams) == ["0_0", "0_1", "0_2"]
    stretches = [beam.stretch for beam in beams.values()]
    # pixel centers at two thirds of the half width, which is 1 at a depth of 1
    outer = math.hypot(1.0, 2.0 / 3.0)
    np.testing.assert_allclose(stretches, [outer, 1.0, outer], atol=1e-12)


def test_a_field_of_view_has_square_pixels():
    camera = RangeCamera(width=40, height=30, horizontal_field_of_view_rad=math.radians(90.0))
    view = camera.field_of_view()
    assert view.half_width == pytest.approx(1.0)
    assert view.half_height == pytest.approx(0.75)
    assert view.focal_length_px == pytest.approx(20.0)
    assert Rangefinder().field_of_view() is None
