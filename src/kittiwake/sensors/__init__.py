"""Sensors: what a vehicle measures of itself and the world, and what goes wrong on the way."""

from kittiwake.core.registry import Registry

SENSORS = Registry("sensors", "sensor", {})
SENSOR_ERRORS = Registry("sensor_errors", "error of a sensor", {})
