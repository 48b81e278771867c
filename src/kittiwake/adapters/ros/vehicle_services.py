"""What can be asked of one vehicle: its modes, taking off and landing, steps."""

from functools import partial
from typing import Any

from kittiwake.adapters.ros.endpoints import Answer, Endpoints
from kittiwake.adapters.ros.messages.plain import legal_names
from kittiwake.adapters.ros.mode_commands import MODES, Mode
from kittiwake.adapters.ros.vehicle_control import VehicleControl
from kittiwake.runtime.session import Session

PACKAGE = "uav_gazebo_msgs"


class VehicleServices:
    """The topics and services of a vehicle that are for others to call, in its namespace."""

    def __init__(
        self, endpoints: Endpoints, session: Session, pilot: VehicleControl, space: str
    ) -> None:
        self._endpoints, self._session, self._pilot, self._space = endpoints, session, pilot, space

    def open(self) -> None:
        """Takes orders from now on."""
        endpoints, pilot, space = self._endpoints, self._pilot, self._space
        for mode in MODES:
            endpoints.hear(
                f"{space}/{mode.name}/command", mode.kind, partial(self._commanded, mode)
            )
        switch_mode = f"{space}/switch_mode"
        endpoints.hear(
            switch_mode, f"{PACKAGE}/ControlMode", lambda heard: pilot.switch(heard.mode)
        )
        endpoints.serve(switch_mode, f"{PACKAGE}/SwitchMode", self._switched)
        endpoints.serve(f"{space}/get_mode", f"{PACKAGE}/GetMode", self._told_mode)
        endpoints.serve(f"{space}/takeoff", f"{PACKAGE}/Takeoff", self._taken_off)
        endpoints.serve(f"{space}/land", f"{PACKAGE}/Land", self._landed)
        endpoints.trigger(f"{space}/resume_guidance", pilot.resume_guidance)
        scenario = self._session.executor.scenario
        steps = scenario.vehicles[pilot.vehicle].guidance.component.step_names
        for step, called in legal_names(steps).items():
            endpoints.trigger(f"{space}/mission/{called}", partial(self._begin, step))

    def _commanded(self, mode: Mode, message: Any) -> None:
        said = self._pilot.command(mode, mode.read(message))
        if said is not None:
            self._endpoints.node.warn(said)

    def _switched(self, request: Any) -> Answer:
        self._pilot.switch(request.mode.mode)
        return {"success": True}

    def _told_mode(self, _: Any) -> Answer:
        return {"mode": {"mode": self._pilot.mode}}

    def _taken_off(self, request: Any) -> Answer:
        residual_m = self._pilot.take_off(
            *(request.height, request.takeoff_time, request.idle_time),
            force=request.force_takeoff,
        )
        if residual_m is None:
            return {}
        return {"success": True, "residual": residual_m}

    def _landed(self, request: Any) -> Answer:
        landed = self._pilot.land(
            *(request.land_time, request.idle_time, request.maximum_residual),
            force=request.force_landing,
        )
        if landed is None:
            return {}
        return {"landed_forcefully": landed.by_force, "success": landed.success}

    def _begin(self, step: str) -> None:
        """A step of its mission, which flies from then on."""
        self._pilot.resume_guidance()
        self._session.executor.begin_step(self._pilot.vehicle, step)
