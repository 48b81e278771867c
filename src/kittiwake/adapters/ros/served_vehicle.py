"""Topics, services and gains of one vehicle while it flies."""

from collections.abc import Callable, Sequence

from kittiwake.adapters.ros.endpoints import Endpoints, MessageFields
from kittiwake.adapters.ros.gain_server import GainServer
from kittiwake.adapters.ros.messages.plain import PlainMessage
from kittiwake.adapters.ros.messages.telemetry import Telemetry, static_transforms
from kittiwake.adapters.ros.vehicle_control import VehicleControl
from kittiwake.adapters.ros.vehicle_services import VehicleServices
from kittiwake.runtime.row_layout import RowBlock
from kittiwake.runtime.session import Session

Publish = Callable[[MessageFields], None]


class ServedVehicle:
    """Vehicle of a session with its publishers, subscriptions and services in a namespace.

    Attributes:
        name: the name of the vehicle.
        namespace: its namespace in ROS, without the slash, and its model's name.
        control: its modes and commands.
        static_transforms: the transforms of its fixed sensors.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        session: Session,
        gains: GainServer,
        name: str,
        namespace: str,
        columns: Sequence[str],
    ) -> None:
        node, scenario = endpoints.node, session.executor.scenario
        vehicle, settings = scenario.vehicles[name], scenario.ros
        self.name, self.namespace = name, namespace
        self._telemetry = Telemetry(
            name=namespace,
            vehicle=vehicle,
            columns=columns,
            world=scenario.world,
            settings=settings,
            rate_hz=scenario.rate_hz,
        )
        self._publish: dict[str, Publish] = {
            topic: node.create_publisher(f"/{namespace}/{topic}", type_name)
            for topic, type_name in self._telemetry.topics.items()
        }
        self.static_transforms: list[PlainMessage] = static_transforms(
            namespace, vehicle, settings, columns, scenario.rate_hz
        )
        self.control = VehicleControl(session, name, float(settings.command_timeout_s))
        VehicleServices(endpoints, session, self.control, f"/{namespace}").open()
        gains.add(name, f"/{namespace}")

    def publish(self, block: RowBlock) -> list[PlainMessage]:
        """Publish the messages of a block, and return the transforms at its end.

        There are none in a block without the vehicle, which has been removed then.
        """
        if self.name not in block:
            return []
        rows = block[self.name]
        for topic, message in self._telemetry.messages(rows, live=True):
            self._publish[topic](message)
        return self._telemetry.transforms(rows[-1])
