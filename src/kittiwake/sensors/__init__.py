"""What vehicles measure, with the errors of real instruments."""

from kittiwake.core.registry import Registry

SENSORS = Registry("sensors", "sensor", {})
