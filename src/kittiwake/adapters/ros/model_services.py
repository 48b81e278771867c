"""Services of Gazebo that add models to a flight and remove them.

ROS 1 has those of Gazebo Classic's ``gazebo_ros_api_plugin``, ROS 2 those of
``gazebo_ros_factory``.
"""

import re
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kittiwake.adapters.ros.endpoints import (
    DELETE_ENTITY,
    DELETE_MODEL,
    SPAWN_ENTITY,
    SPAWN_MODEL,
    Endpoints,
    MessageFields,
)
from kittiwake.adapters.ros.message_types import Message
from kittiwake.adapters.ros.start_pose import start_of_pose
from kittiwake.core.errors import CommandError, did_you_mean
from kittiwake.runtime.session import Session
from kittiwake.scenario.described_vehicle import DescribedVehicle
from kittiwake.scenario.problems import shortened

# how often a service checks whether its vehicle has come or gone
POLL_PERIOD_S = 0.1
MODEL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}\Z")
# namespaces of the world, which no vehicle may have
WORLD_NAMESPACES = ("gazebo", "kittiwake")


class ModelFields(NamedTuple):
    """Names of the fields of a request: of the model's name, and of its description."""

    name: str
    description: str


MODEL, ENTITY = ModelFields("model_name", "model_xml"), ModelFields("name", "xml")


class ModelServices:
    """Services that add and remove vehicles, and return once these have come or gone.

    Args:
        session: of flights.
        models: returns the vehicle of each model that is served now.
    """

    def __init__(self, session: Session, models: Callable[[], Mapping[str, str]]) -> None:
        self._session, self._models = session, models

    def open(self, endpoints: Endpoints) -> None:
        """Create the services of this version of ROS."""
        if endpoints.node.version == 1:
            for name in ("/gazebo/spawn_urdf_model", "/gazebo/spawn_sdf_model"):
                endpoints.create_service(name, SPAWN_MODEL, lambda asked: self._add(asked, MODEL))
            endpoints.create_service(
                "/gazebo/delete_model", DELETE_MODEL, lambda asked: self._remove(asked, MODEL)
            )
            return
        endpoints.create_service(
            "/spawn_entity", SPAWN_ENTITY, lambda asked: self._add(asked, ENTITY)
        )
        endpoints.create_service(
            "/delete_entity", DELETE_ENTITY, lambda asked: self._remove(asked, ENTITY)
        )

    def _add(self, request: Message, fields: ModelFields) -> MessageFields:
        name: str = getattr(request, fields.name)
        self._check_name(name, fields.name)
        if request.robot_namespace.strip("/") not in ("", name):
            message = (
                f"`robot_namespace`: got {shortened(request.robot_namespace)}; must be empty or "
                f"'{name}', the namespace of the vehicle"
            )
            raise CommandError(message)
        executor = self._session.executor
        pose, frame = request.initial_pose, request.reference_frame
        start = start_of_pose(pose, frame, executor.scenario.ros)
        vehicle = DescribedVehicle.parse(getattr(request, fields.description), fields.description)
        executor.add_vehicle(name, vehicle if start is None else vehicle.at(start))
        return self._wait(name, present=True)

    def _remove(self, request: Message, fields: ModelFields) -> MessageFields:
        model, models = getattr(request, fields.name), self._models()
        if model not in models:
            message = f"no model {shortened(model)}. {did_you_mean(model[:64], [*models])}"
            raise CommandError(message)
        self._session.executor.remove_vehicle(models[model])
        return self._wait(models[model], present=False)

    def _check_name(self, name: str, field: str) -> None:
        if not MODEL_NAME.match(name):
            message = (
                f"`{field}`: got {shortened(name)}; must begin with a letter, then letters, digits "
                "and '_', at most 64 in all"
            )
            raise CommandError(message)
        if name in WORLD_NAMESPACES or name in self._models():
            message = f"`{field}`: '{name}' is taken; write another one"
            raise CommandError(message)

    def _wait(self, vehicle: str, *, present: bool) -> MessageFields:
        """Wait until a vehicle is served, or is no longer, and return the response.

        In a paused flight it takes effect with the next step, which is not waited for.

        Raises:
            CommandError: if the flight ends before, or the change turns out to be impossible.
        """
        session = self._session
        while (vehicle in self._models().values()) != present:
            executor = session.executor
            if session.closed or (executor.ended and not session.restart_requested):
                message = "the flight has ended"
                raise CommandError(message)
            if (vehicle in executor.requested_scenario.vehicles) != present:
                message = f"'{vehicle}' has not been {'added' if present else 'removed'}"
                raise CommandError(message)
            if session.clock.paused and (vehicle in executor.upcoming) == present:
                return {
                    "success": True,
                    "status_message": "the flight is paused; takes effect with its next step",
                }
            time.sleep(POLL_PERIOD_S)
        return {"success": True}
