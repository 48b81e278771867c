"""Topics and services of one vehicle: modes, takeoff, landing, mission steps."""

from functools import partial

from kittiwake.adapters.ros.endpoints import Endpoints, MessageFields
from kittiwake.adapters.ros.message_types import Message
from kittiwake.adapters.ros.messages.plain import legal_names
from kittiwake.adapters.ros.mode_commands import MODES, Mode
from kittiwake.adapters.ros.vehicle_control import VehicleControl
from kittiwake.runtime.session import Session

PACKAGE = "uav_gazebo_msgs"


class VehicleServices:
    """Subscriptions and services of a vehicle, in its namespace."""

    def __init__(
        self, endpoints: Endpoints, session: Session, control: VehicleControl, namespace: str
    ) -> None:
        self._endpoints, self._session = endpoints, session
        self._control, self._namespace = control, namespace

    def open(self) -> None:
        """Create the subscriptions and services."""
        endpoints, control, namespace = self._endpoints, self._control, self._namespace
        for mode in MODES:
            endpoints.create_subscription(
                f"{namespace}/{mode.name}/command", mode.type_name, partial(self._on_command, mode)
            )
        switch_mode = f"{namespace}/switch_mode"
        endpoints.create_subscription(
            switch_mode,
            f"{PACKAGE}/ControlMode",
            lambda message: control.switch_mode(message.mode),
        )
        endpoints.create_service(switch_mode, f"{PACKAGE}/SwitchMode", self._switch_mode)
        endpoints.create_service(f"{namespace}/get_mode", f"{PACKAGE}/GetMode", self._get_mode)
        endpoints.create_service(f"{namespace}/takeoff", f"{PACKAGE}/Takeoff", self._take_off)
        endpoints.create_service(f"{namespace}/land", f"{PACKAGE}/Land", self._land)
        endpoints.create_trigger_service(f"{namespace}/resume_guidance", control.resume_guidance)
        scenario = self._session.executor.scenario
        steps = scenario.vehicles[control.vehicle].guidance.component.mission_step_names
        for step, name in legal_names(steps).items():
            endpoints.create_trigger_service(
                f"{namespace}/mission/{name}", partial(self._jump_to_mission_step, step)
            )

    def _on_command(self, mode: Mode, message: Message) -> None:
        warning = self._control.command(mode, mode.parse(message))
        if warning is not None:
            self._endpoints.node.warn(warning)

    def _switch_mode(self, request: Message) -> MessageFields:
        self._control.switch_mode(request.mode.mode)
        return {"success": True}

    def _get_mode(self, _: Message) -> MessageFields:
        return {"mode": {"mode": self._control.mode}}

    def _take_off(self, request: Message) -> MessageFields:
        residual_m = self._control.take_off(
            height_m=request.height,
            duration_s=request.takeoff_time,
            idle_s=request.idle_time,
            force=request.force_takeoff,
        )
        if residual_m is None:
            return {}
        return {"success": True, "residual": residual_m}

    def _land(self, request: Message) -> MessageFields:
        result = self._control.land(
            duration_s=request.land_time,
            idle_s=request.idle_time,
            max_residual_m=request.maximum_residual,
            force=request.force_landing,
        )
        if result is None:
            return {}
        return {"landed_forcefully": result.forced, "success": result.success}

    def _jump_to_mission_step(self, step: str) -> None:
        """Resume guidance at a step of the vehicle's mission."""
        self._control.resume_guidance()
        self._session.executor.jump_to_mission_step(self._control.vehicle, step)
