"""Roles that a component of one's own can have in a vehicle."""

from typing import NamedTuple

from kittiwake.control import CONTROLLERS
from kittiwake.core.component import AbstractComponent
from kittiwake.core.registry import Registry
from kittiwake.estimation import ESTIMATORS
from kittiwake.guidance import GUIDANCE
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.scenario.own_components.python_commands import PythonController, PythonGuidance
from kittiwake.scenario.own_components.python_component import AbstractPythonComponent
from kittiwake.scenario.own_components.python_estimator import PythonEstimator
from kittiwake.scenario.own_components.python_sensor import PythonSensor
from kittiwake.sensors import SENSORS


class Role(NamedTuple):
    """Role of a component.

    Attributes:
        key: key of a vehicle's entry in a scenario file.
        registry: the registered components of this role.
        interface: base class of components in JAX.
        python_type: the component that calls an object in plain Python.
        arguments: the arguments of ``update`` after the time.
    """

    key: str
    registry: Registry
    interface: type[AbstractComponent]
    python_type: type[AbstractPythonComponent]
    arguments: str

    @property
    def signature(self) -> str:
        """Signature of the method that makes an object a component of this role."""
        return f"update(self, t_s, {self.arguments})"


CONTROLLER = Role(
    "controller", CONTROLLERS, AbstractController, PythonController, "setpoint, estimate"
)
SENSOR = Role("sensors", SENSORS, AbstractSensor, PythonSensor, "truth")
ESTIMATOR = Role("estimator", ESTIMATORS, AbstractEstimator, PythonEstimator, "measurements")
GUIDE = Role("guidance", GUIDANCE, AbstractGuidance, PythonGuidance, "estimate")
ROLES = (SENSOR, ESTIMATOR, GUIDE, CONTROLLER)
# base classes of components in JAX
INTERFACES = tuple(role.interface for role in ROLES)
