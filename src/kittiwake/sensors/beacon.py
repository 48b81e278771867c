"""Radio beacon of a deck, which transmits its position, velocity and yaw.

    p' = p + sigma_p N(0, 1),    v' = v + sigma_v N(0, 1),    psi' = psi + sigma_psi N(0, 1)

along each axis, independent in each message. The default deviations are those of a receiver with
carrier phase corrections (RTK) on board the vessel; chosen. Latency and loss of messages are
``errors`` of the sensor, as for any other.
"""

from typing import Annotated, ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.measurements import DeckMeasurement
from kittiwake.core.noise import normals3
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs


class Beacon(AbstractSensor[tuple[()], DeckMeasurement]):
    """Transmitted position, velocity and yaw of the deck of the vehicle's partner.

    Attributes:
        position_deviation_m: sigma_p.
        velocity_deviation_mps: sigma_v.
        yaw_deviation_rad: sigma_psi.
    """

    measures: ClassVar[type] = DeckMeasurement
    default_rate_hz: ClassVar[float | None] = 20.0
    sees_partner: ClassVar[bool] = True

    position_deviation_m: Annotated[Real, NOT_NEGATIVE] = 0.02
    velocity_deviation_mps: Annotated[Real, NOT_NEGATIVE] = 0.02
    yaw_deviation_rad: Annotated[Real, NOT_NEGATIVE] = 0.01

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], DeckMeasurement]:
        del dt_s
        true, (position, velocity, angles) = self.ideal(inputs), normals3(key, 3)
        return state, DeckMeasurement(
            true.position_world_m + position * self.position_deviation_m,
            true.velocity_world_mps + velocity * self.velocity_deviation_mps,
            wrap_angle(true.yaw_rad + angles.z * self.yaw_deviation_rad),
        )

    @override
    def ideal(self, inputs: SensorInputs) -> DeckMeasurement:
        deck = inputs.surroundings.partner
        assert deck is not None, "a vehicle with a beacon has a partner"
        yaw = deck.q_world_from_deck.to_euler().yaw_rad
        return DeckMeasurement(deck.center_world_m, deck.velocity_world_mps, yaw)

    @override
    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        del period_s
        return {
            "position_world_m": self.position_deviation_m,
            "velocity_world_mps": self.velocity_deviation_mps,
            "yaw_rad": self.yaw_deviation_rad,
        }
