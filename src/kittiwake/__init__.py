"""Kittiwake: multirotors and surface vessels, simulated from Python or from one scenario file.

``Scenario``, ``World`` and ``Vehicle`` define a scenario, of components from the namespaces
``vehicles``, ``sensors``, ``estimation``, ``guidance``, ``control``, ``environment``, ``forces``,
``actuators``, ``swarm``, ``physics`` and ``tasks``; ``load`` reads one. ``Simulation`` flies it;
``trim`` and ``linearize`` give steady states and linear models.
Components of one's own derive from ``AbstractController`` and other interfaces, here and in the
namespaces, with ``bounds``, ``measurements`` and ``noise``. ``geodesy`` converts positions.
Names are imported on first use, so that importing the package is fast.
"""

import sys

from kittiwake.core.version import VERSION

# type checkers know this name; importing it from typing would double the start-up time, in which
# Ctrl-C ends in a traceback
TYPE_CHECKING = False
if TYPE_CHECKING:
    from kittiwake import actuators as actuators
    from kittiwake import control as control
    from kittiwake import environment as environment
    from kittiwake import estimation as estimation
    from kittiwake import forces as forces
    from kittiwake import guidance as guidance
    from kittiwake import physics as physics
    from kittiwake import sensors as sensors
    from kittiwake import swarm as swarm
    from kittiwake import tasks as tasks
    from kittiwake import vehicles as vehicles
    from kittiwake.adapters.registration import register_envs as register_envs
    from kittiwake.analysis.flight_logs.reading import read_flight_log as read_flight_log
    from kittiwake.analysis.linear_model import LinearModel as LinearModel
    from kittiwake.analysis.linearization import linearize as linearize
    from kittiwake.analysis.log import Log as Log
    from kittiwake.analysis.trim import Trim as Trim
    from kittiwake.analysis.trim import trim as trim
    from kittiwake.core import bounds as bounds
    from kittiwake.core import measurements as measurements
    from kittiwake.core import noise as noise
    from kittiwake.core.commands import AccelerationYaw as AccelerationYaw
    from kittiwake.core.commands import AttitudeThrottle as AttitudeThrottle
    from kittiwake.core.commands import BodyVelocityYawRate as BodyVelocityYawRate
    from kittiwake.core.commands import HeadingSpeed as HeadingSpeed
    from kittiwake.core.commands import ModeCommand as ModeCommand
    from kittiwake.core.commands import MotorsOff as MotorsOff
    from kittiwake.core.commands import PositionYaw as PositionYaw
    from kittiwake.core.commands import PropellerSpeeds as PropellerSpeeds
    from kittiwake.core.commands import RotorSpeeds as RotorSpeeds
    from kittiwake.core.commands import RudderThrust as RudderThrust
    from kittiwake.core.commands import SurfaceMotion as SurfaceMotion
    from kittiwake.core.commands import ThrustAttitude as ThrustAttitude
    from kittiwake.core.commands import ThrustRates as ThrustRates
    from kittiwake.core.commands import ThrustTorque as ThrustTorque
    from kittiwake.core.commands import VelocityHeightYaw as VelocityHeightYaw
    from kittiwake.core.commands import VelocityYaw as VelocityYaw
    from kittiwake.core.commands import VelocityYawRate as VelocityYawRate
    from kittiwake.core.component import Scheduled as Scheduled
    from kittiwake.core.errors import KittiwakeError as KittiwakeError
    from kittiwake.core.keys import seed_key as seed_key
    from kittiwake.core.kinematics import Kinematics as Kinematics
    from kittiwake.core.kinematics import Start as Start
    from kittiwake.geometry import geodesy as geodesy
    from kittiwake.geometry.euler import EulerZYX as EulerZYX
    from kittiwake.geometry.inertia import Inertia as Inertia
    from kittiwake.geometry.quaternion import Quaternion as Quaternion
    from kittiwake.geometry.vec3 import Vec3 as Vec3
    from kittiwake.interfaces.controller import AbstractController as AbstractController
    from kittiwake.interfaces.dynamics import AbstractDynamics as AbstractDynamics
    from kittiwake.interfaces.estimator import AbstractEstimator as AbstractEstimator
    from kittiwake.interfaces.guidance import AbstractGuidance as AbstractGuidance
    from kittiwake.interfaces.sensor import AbstractSensor as AbstractSensor
    from kittiwake.pytree import Module as Module
    from kittiwake.pytree import tree_at as tree_at
    from kittiwake.runtime.comparison_flights import compare as compare
    from kittiwake.runtime.identification.identify import identify as identify
    from kittiwake.runtime.loading import load as load
    from kittiwake.runtime.loading import resume as resume
    from kittiwake.runtime.observation import Observation as Observation
    from kittiwake.runtime.reproduction.reproduce import reproduce as reproduce
    from kittiwake.runtime.simulation import Simulation as Simulation
    from kittiwake.runtime.sweeps.sweep import resume_sweep as resume_sweep
    from kittiwake.runtime.sweeps.sweep import sweep as sweep
    from kittiwake.runtime.sweeps.sweep import sweep_logs as sweep_logs
    from kittiwake.runtime.tuning.tune import tune as tune
    from kittiwake.scenario.definition import Vehicle as Vehicle
    from kittiwake.scenario.definition import World as World
    from kittiwake.scenario.scenario import Scenario as Scenario
    from kittiwake.tasks.env import Env as Env
    from kittiwake.tasks.make import make as make
    from kittiwake.tasks.vector_env import VectorEnv as VectorEnv

_MODULES = {
    "AbstractController": "kittiwake.interfaces.controller",
    "AbstractDynamics": "kittiwake.interfaces.dynamics",
    "AbstractEstimator": "kittiwake.interfaces.estimator",
    "AbstractGuidance": "kittiwake.interfaces.guidance",
    "AbstractSensor": "kittiwake.interfaces.sensor",
    "AccelerationYaw": "kittiwake.core.commands",
    "AttitudeThrottle": "kittiwake.core.commands",
    "BodyVelocityYawRate": "kittiwake.core.commands",
    "Env": "kittiwake.tasks.env",
    "EulerZYX": "kittiwake.geometry.euler",
    "HeadingSpeed": "kittiwake.core.commands",
    "Inertia": "kittiwake.geometry.inertia",
    "Kinematics": "kittiwake.core.kinematics",
    "KittiwakeError": "kittiwake.core.errors",
    "LinearModel": "kittiwake.analysis.linear_model",
    "Log": "kittiwake.analysis.log",
    "ModeCommand": "kittiwake.core.commands",
    "Module": "kittiwake.pytree",
    "MotorsOff": "kittiwake.core.commands",
    "Observation": "kittiwake.runtime.observation",
    "PositionYaw": "kittiwake.core.commands",
    "PropellerSpeeds": "kittiwake.core.commands",
    "Quaternion": "kittiwake.geometry.quaternion",
    "RotorSpeeds": "kittiwake.core.commands",
    "RudderThrust": "kittiwake.core.commands",
    "Scenario": "kittiwake.scenario.scenario",
    "Scheduled": "kittiwake.core.component",
    "Simulation": "kittiwake.runtime.simulation",
    "Start": "kittiwake.core.kinematics",
    "SurfaceMotion": "kittiwake.core.commands",
    "ThrustAttitude": "kittiwake.core.commands",
    "ThrustRates": "kittiwake.core.commands",
    "ThrustTorque": "kittiwake.core.commands",
    "Trim": "kittiwake.analysis.trim",
    "Vec3": "kittiwake.geometry.vec3",
    "VectorEnv": "kittiwake.tasks.vector_env",
    "Vehicle": "kittiwake.scenario.definition",
    "VelocityHeightYaw": "kittiwake.core.commands",
    "VelocityYaw": "kittiwake.core.commands",
    "VelocityYawRate": "kittiwake.core.commands",
    "World": "kittiwake.scenario.definition",
    "compare": "kittiwake.runtime.comparison_flights",
    "identify": "kittiwake.runtime.identification.identify",
    "linearize": "kittiwake.analysis.linearization",
    "load": "kittiwake.runtime.loading",
    "make": "kittiwake.tasks.make",
    "read_flight_log": "kittiwake.analysis.flight_logs.reading",
    "register_envs": "kittiwake.adapters.registration",
    "reproduce": "kittiwake.runtime.reproduction.reproduce",
    "resume": "kittiwake.runtime.loading",
    "resume_sweep": "kittiwake.runtime.sweeps.sweep",
    "seed_key": "kittiwake.core.keys",
    "sweep": "kittiwake.runtime.sweeps.sweep",
    "sweep_logs": "kittiwake.runtime.sweeps.sweep",
    "tree_at": "kittiwake.pytree",
    "trim": "kittiwake.analysis.trim",
    "tune": "kittiwake.runtime.tuning.tune",
}

_NAMESPACES = (
    "actuators",
    "control",
    "environment",
    "estimation",
    "forces",
    "guidance",
    "physics",
    "sensors",
    "swarm",
    "tasks",
    "vehicles",
)

# modules with names of their own, beside the families of components
_TOPICS = {
    "bounds": "kittiwake.core.bounds",
    "geodesy": "kittiwake.geometry.geodesy",
    "measurements": "kittiwake.core.measurements",
    "noise": "kittiwake.core.noise",
}

__version__ = VERSION
__all__ = [
    "AbstractController",
    "AbstractDynamics",
    "AbstractEstimator",
    "AbstractGuidance",
    "AbstractSensor",
    "AccelerationYaw",
    "AttitudeThrottle",
    "BodyVelocityYawRate",
    "Env",
    "EulerZYX",
    "HeadingSpeed",
    "Inertia",
    "Kinematics",
    "KittiwakeError",
    "LinearModel",
    "Log",
    "ModeCommand",
    "Module",
    "MotorsOff",
    "Observation",
    "PositionYaw",
    "PropellerSpeeds",
    "Quaternion",
    "RotorSpeeds",
    "RudderThrust",
    "Scenario",
    "Scheduled",
    "Simulation",
    "Start",
    "SurfaceMotion",
    "ThrustAttitude",
    "ThrustRates",
    "ThrustTorque",
    "Trim",
    "Vec3",
    "VectorEnv",
    "Vehicle",
    "VelocityHeightYaw",
    "VelocityYaw",
    "VelocityYawRate",
    "World",
    "actuators",
    "bounds",
    "compare",
    "control",
    "environment",
    "estimation",
    "forces",
    "geodesy",
    "guidance",
    "identify",
    "linearize",
    "load",
    "make",
    "measurements",
    "noise",
    "physics",
    "read_flight_log",
    "register_envs",
    "reproduce",
    "resume",
    "resume_sweep",
    "seed_key",
    "sensors",
    "swarm",
    "sweep",
    "sweep_logs",
    "tasks",
    "tree_at",
    "trim",
    "tune",
    "vehicles",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _NAMESPACES:
        return import_module(f"kittiwake.{name}")
    if name in _TOPICS:
        return import_module(_TOPICS[name])
    if name not in _MODULES:
        message = f"module 'kittiwake' has no attribute '{name}'"
        raise AttributeError(message)
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


# ``gymnasium.make`` knows only registered environments; without either library this costs nothing
if {"gymnasium", "pettingzoo"} & sys.modules.keys():
    from kittiwake.adapters.registration import register_envs

    register_envs()
