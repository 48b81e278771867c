"""Battery of lithium-polymer cells.

The open-circuit voltage of a cell falls with the share s of its charge that is left (Chen and
Rincon-Mora 2006, "Accurate electrical battery model capable of predicting runtime and I-V
performance", equation 2)::

    U_0(s) = -1.031 exp(-35 s) + 3.685 + 0.2156 s - 0.1178 s^2 + 0.3201 s^3

With n cells in series, internal resistance R and capacity Q, a power P draws I at the voltage U::

    U = n U_0 - R I,    P = U I,    ds/dt = -I / Q,
    I = 2 P / (n U_0 + sqrt((n U_0)^2 - 4 R P))

While charging, the charger's current is subtracted from I, until the battery is full. The largest
power is (n U_0)^2 / (4 R), at half the voltage. P is the mechanical power of the motors divided by
their efficiency, plus that of the electronics. The top speed of a motor is proportional to U; an
empty battery drives no motor. Neglected: the slow components of the sag, temperature, aging.
"""

from typing import Annotated

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.interfaces.parts import AbstractBattery
from kittiwake.pytree import Module, field

SHARE = Bounds(0.0, 1.0, open_below=True)


class LithiumPolymerState(Module):
    """Charge as a fraction of the capacity, and voltage and current of the last step.

    ``rounding`` is the rounding error of the charge, carried to the next step (Kahan summation).
    """

    charge: Real
    voltage_v: Real
    current_a: Real
    rounding: Real


class LithiumPolymer(AbstractBattery[LithiumPolymerState]):
    """Lithium-polymer cells in series.

    Attributes:
        cells: the number of cells.
        capacity_c: the capacity.
        resistance_ohm: the internal resistance of all cells.
        motor_efficiency: mechanical power of the motors over electrical power.
        electronics_w: the power of the electronics.
        charge: the initial charge, as a fraction of the capacity.
        charging_a: the current of the charger, while the vehicle stands on a deck.
    """

    cells: Annotated[Integer, POSITIVE] = field(static=True)
    capacity_c: Annotated[Real, POSITIVE]
    resistance_ohm: Annotated[Real, POSITIVE]
    motor_efficiency: Annotated[Real, SHARE] = 0.7
    electronics_w: Annotated[Real, NOT_NEGATIVE] = 0.0
    charge: Annotated[Real, FRACTION] = 1.0
    charging_a: Annotated[Real, NOT_NEGATIVE] = 0.0

    @override
    def init(self) -> LithiumPolymerState:
        return LithiumPolymerState(self.charge, self._at_rest_v(self.charge), 0.0, 0.0)

    @override
    def step(
        self, state: LithiumPolymerState, power_w: Real, dt_s: Real, *, charged: Flag = False
    ) -> LithiumPolymerState:
        at_rest_v = self._at_rest_v(state.charge)
        drawn_w = power_w / self.motor_efficiency + self.electronics_w
        # at the largest power the root is not differentiable
        strongest_w = (1.0 - 1e-6) * at_rest_v * at_rest_v / (4.0 * self.resistance_ohm)
        given_w = jnp.minimum(drawn_w, strongest_w)
        root_v = jnp.sqrt(at_rest_v * at_rest_v - 4.0 * self.resistance_ohm * given_w)
        current_a = jnp.where(state.charge > 0.0, 2.0 * given_w / (at_rest_v + root_v), 0.0)
        charging_a = jnp.where(charged & (state.charge < 1.0), self.charging_a, 0.0)
        current_a = current_a - charging_a
        # Kahan summation: in single precision a small current would otherwise be rounded away
        spent = current_a * dt_s / self.capacity_c + state.rounding
        charge = state.charge - spent
        rounding = spent - (state.charge - charge)
        voltage_v = at_rest_v - self.resistance_ohm * current_a
        full = (charge >= 1.0) & (current_a < 0.0)
        return LithiumPolymerState(
            jnp.clip(charge, 0.0, 1.0), voltage_v, current_a, jnp.where(full, 0.0, rounding)
        )

    @override
    def speed_ratio(self, state: LithiumPolymerState) -> Real:
        # a charger raises the voltage above this, but not the top speed
        ratio = jnp.minimum(state.voltage_v / self._at_rest_v(1.0), 1.0)
        return jnp.where(state.charge > 0.0, ratio, 0.0)

    @override
    def readings(self, state: LithiumPolymerState) -> dict[str, Real]:
        return {
            "battery_charge": state.charge,
            "battery_v": state.voltage_v,
            "battery_a": state.current_a,
            "battery_empty": jnp.where(state.charge > 0.0, 0.0, 1.0),
        }

    def _at_rest_v(self, charge: Real) -> Real:
        cell_v = -1.031 * jnp.exp(-35.0 * charge) + 3.685
        cell_v = cell_v + charge * (0.2156 + charge * (-0.1178 + charge * 0.3201))
        return float(self.cells) * cell_v

    @classmethod
    @override
    def examples(cls) -> dict[str, "LithiumPolymer"]:
        return {
            "full": cls(3, 3600.0, 0.06, 0.7, 3.0),
            "nearly empty": cls(1, 900.0, 0.1, charge=1e-6),
        }
