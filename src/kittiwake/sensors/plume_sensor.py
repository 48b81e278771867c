"""Concentration sensor for plumes in the air: normal noise in each sample.

Source: QRSim (R. De Nardi, 2013), PelicanWithPlumeSensor: a deviation of 0.01 at 2 Hz, with
concentrations of the order of one. It returns negative values at low concentrations, like QRSim.
"""

from typing import Annotated, ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.core.noise import normal
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import field
from kittiwake.world.plume import PLUME, AbstractCloud
from kittiwake.world.world import WorldModel


class ConcentrationMeasurement(AbstractMeasurement):
    """Concentration of plumes, in the unit of their sources per cubic meter."""

    concentration: Real


class PlumeSensor(AbstractSensor[tuple[()], ConcentrationMeasurement]):
    """Concentration at the center of mass: of the named ``plume``, or of all plumes together.

    Attributes:
        plume: name of a plume; the sum of all without it.
        deviation: standard deviation of the white noise in each sample.
    """

    measures: ClassVar[type] = ConcentrationMeasurement
    default_rate_hz: ClassVar[float | None] = 2.0

    plume: str | None = field(static=True, default=None)
    deviation: Annotated[Real, NOT_NEGATIVE] = 0.01

    @override
    def check(self, world: WorldModel) -> None:
        names = [name.removeprefix(PLUME) for name in world.processes if name.startswith(PLUME)]
        if not names:
            message = "the world has no plume; write plumes: {smoke: gaussian} under world"
            raise ScenarioError(message)
        if self.plume is not None and self.plume not in names:
            message = f"plume: there is no plume '{self.plume}'. {did_you_mean(self.plume, names)}"
            raise ScenarioError(message)

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], ConcentrationMeasurement]:
        del dt_s
        true = self.ideal(inputs).concentration
        return state, ConcentrationMeasurement(true + self.deviation * normal(key))

    @override
    def ideal(self, inputs: SensorInputs) -> ConcentrationMeasurement:
        position, time_s = inputs.truth.position_world_m, inputs.time_s
        concentrations = (cloud.concentration(position, time_s) for cloud in self._clouds(inputs))
        return ConcentrationMeasurement(sum(concentrations, start=0.0))

    def _clouds(self, inputs: SensorInputs) -> list[AbstractCloud]:
        if self.plume is not None:
            return [inputs.processes[PLUME + self.plume]]
        return [cloud for name, cloud in inputs.processes.items() if name.startswith(PLUME)]

    @classmethod
    @override
    def examples(cls) -> dict[str, "PlumeSensor"]:
        return {"of all": cls(), "of one": cls("puffs")}
